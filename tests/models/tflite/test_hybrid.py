"""Layers of float data and int8 weights, as files of one operator that LiteRT 2.3.0 ran.

``hybrid.npz`` holds files of FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D, what they were given (seeded), and what
each set of LiteRT's kernels gave on x86. XNNPACK leaves DEPTHWISE_CONV_2D to the optimised kernels.
"""

from pathlib import Path

import numpy as np
import pytest
from tflite_models import SYSTEMS

from qops import models
from qops.models import Operator, Tensor, tflite_bytes
from qops.tflite.hybrid import quantized_row

HELD = np.load(Path(__file__).with_name("hybrid.npz"))
NAMES = sorted({key.split("/")[0] for key in HELD.files})
F32 = np.float32


@pytest.mark.parametrize("system", ["ref", "opt", "xnn"])
@pytest.mark.parametrize("name", NAMES)
def test_files_give_the_floats_of_each_system(tmp_path, name, system):
    path = tmp_path / "m.tflite"
    path.write_bytes(HELD[f"{name}/file"].tobytes())
    got, wanted = (
        models.load(path, runtime=SYSTEMS[system]).run(HELD[f"{name}/in/x"])["y"],
        HELD[f"{name}/out/{system}"],
    )
    assert (got.dtype, got.shape) == (np.float32, wanted.shape)
    assert got.tobytes() == wanted.tobytes()


def test_each_image_has_codes_of_its_own(tmp_path):
    """A batch gives what its images give, whatever their ranges are; real numbers are near."""
    name = next(name for name in NAMES if "CONV_2D" in name and len(HELD[f"{name}/in/x"]) > 1)
    path = tmp_path / "m.tflite"
    path.write_bytes(HELD[f"{name}/file"].tobytes())
    graph, x = models.load(path), HELD[f"{name}/in/x"]
    whole = graph.run(x)["y"]
    assert np.array_equal(whole, np.concatenate([graph.run(one[None])["y"] for one in x]))
    far = np.abs(whole - graph.real(x)["y"]).max(axis=(1, 2, 3))
    assert np.all(far <= 0.02 * np.abs(x).max(axis=(1, 2, 3)) * 127)


def test_codes_of_rows_by_hand():
    """127 of m and ties away from 0; a range that holds 0; zero points; rows of one value."""
    row = F32([1, -2, 0.5 / 127 * 2, 0])
    assert quantized_row(row, "symmetric").near.tolist() == [64, -127, 1, 0]
    assert quantized_row(F32([0, 255]), "asymmetric")[0].tolist() == [0, 255]
    near, scale = quantized_row(F32([-1, 254]), "asymmetric")
    assert (near.tolist(), scale) == ([-1, 254], 1)
    for how in ("symmetric", "asymmetric", "xnnpack"):
        near, scale = quantized_row(np.zeros(3, F32), how)
        assert (near.tolist(), scale) == ([0, 0, 0], 1)
    assert quantized_row(F32([-1, 2.5, 254]), "xnnpack").near.tolist() == [-1, 2, 254]
    assert quantized_row(F32([-1, 2.5, 254]), "asymmetric").near.tolist() == [-1, 3, 254]


def layer(path, w, kind="FULLY_CONNECTED", scale=0.5, runtime="reference", **options):
    x, y = (Tensor(name, shape, "float32") for name, shape in (("x", (1, w.shape[-1])), ("y", (1, len(w)))))
    scale = np.asarray(scale, F32)
    tensor = Tensor("w", w.shape, w.dtype.name, scale, np.zeros(scale.shape, np.int64), 0 if scale.ndim else None, w)
    path.write_bytes(tflite_bytes([x, tensor, y], [Operator(kind, [x, tensor, None], [y], options, [])], [x], [y]))
    return models.load(path, runtime=runtime)


def test_what_they_refuse(tmp_path):
    path, w = tmp_path / "m.tflite", np.int8([[1, 2], [3, 4]])
    for runtime in ("tflm", "xnnpack_arm", "optimized_arm"):
        with pytest.raises(ValueError, match=rf"hybrid layer .* whose arithmetic in {runtime} is not known"):
            layer(path, w, runtime=runtime)
    with pytest.raises(ValueError, match="whose weights 'w' are uint8, where int8 around 0 is modelled"):
        layer(path, w.astype(np.uint8))
    with pytest.raises(ValueError, match="whose weights 'w' hold -128, which x86 multiplies otherwise"):
        layer(path, np.int8([[1, -128]]))
    assert layer(path, np.int8([[1, -128]]), runtime="xnnpack").run(F32([[1, 0]]))["y"].shape == (1, 1)
    with pytest.raises(ValueError, match=r"a hybrid operator .* which qops does not model"):
        layer(path, w, "BATCH_MATMUL")
    with pytest.raises(ValueError, match="without a bias, which LiteRT refuses"):
        layer(path, w.reshape(2, 1, 1, 2), "CONV_2D")
    with pytest.raises(ValueError, match="whose weights have one scale: LiteRT reads one for each channel"):
        depthwise(path, F32(0.5))
    graph = layer(path, w)
    for bad in (np.nan, np.inf, 3e38, 1e-40):
        with pytest.raises(ValueError, match="too large or too small for codes, or hold a NaN"):
            graph.run(F32([[bad, 0]]))


def depthwise(path, scale):
    x, y = (Tensor(name, (1, 2, 2, 2), "float32") for name in "xy")
    w = Tensor("w", (1, 1, 1, 2), "int8", scale, np.int64(0), None, np.int8([[[[1, 2]]]]))
    bias = Tensor("b", (2,), "float32", data=np.zeros(2, F32))
    options = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1, "DepthMultiplier": 1}
    operator = Operator("DEPTHWISE_CONV_2D", [x, w, bias], [y], options, [])
    path.write_bytes(tflite_bytes([x, w, bias, y], [operator], [x], [y]))
    return models.load(path)
