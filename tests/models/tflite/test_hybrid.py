"""Layers of float data and int8 weights, as files of one operator that LiteRT 2.3.0 ran.

``hybrid.npz`` holds files of FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D, what they were given (seeded), and what
each set of LiteRT's kernels gave on x86. XNNPACK leaves DEPTHWISE_CONV_2D to the optimised kernels.

``hybrid_groups.npz`` holds CONV_2D with several groups likewise, its first weight -128; where a system has no result,
it refused the file.
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
GROUPS = np.load(Path(__file__).with_name("hybrid_groups.npz"))
NAMES_OF_GROUPS = sorted({key.split("/")[0] for key in GROUPS.files})
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


@pytest.mark.parametrize("system", ["ref", "opt", "xnn"])
@pytest.mark.parametrize("name", NAMES_OF_GROUPS)
def test_groups_give_the_floats_of_each_system(tmp_path, name, system):
    path, key = tmp_path / "m.tflite", f"{name}/out/{system}"
    path.write_bytes(GROUPS[f"{name}/file"].tobytes())
    if key not in GROUPS:
        with pytest.raises(ValueError, match=r"layer of \d groups with one scale of weights, which LiteRT refuses"):
            models.load(path, runtime=SYSTEMS[system])
        return
    got = models.load(path, runtime=SYSTEMS[system]).run(GROUPS[f"{name}/in/x"])["y"]
    assert (got.dtype, got.shape) == (np.float32, GROUPS[key].shape)
    assert got.tobytes() == GROUPS[key].tobytes()


def test_channels_that_make_no_groups(tmp_path):
    w = np.ones((4, 1, 1, 2), np.int8)
    for channels, weights in ((3, w), (1, w), (4, w[:3])):
        with pytest.raises(ValueError, match=f"whose {channels} channels make no groups for weights of shape"):
            convolution(tmp_path / "m.tflite", channels, weights)
    x = F32([[[[1, -2, 3, 0.5]]]])
    assert convolution(tmp_path / "m.tflite", 4, w).run(x)["y"].ravel() == pytest.approx([-1, -1, 3.5, 3.5], abs=0.03)


def convolution(path, channels, w):
    x, y = Tensor("x", (1, 1, 1, channels), "float32"), Tensor("y", (1, 1, 1, len(w)), "float32")
    scales = np.ones(len(w), F32)
    tensor = Tensor("w", w.shape, "int8", scales, np.zeros(len(w), np.int64), 0, w)
    bias = Tensor("b", (len(w),), "float32", data=np.zeros(len(w), F32))
    options = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    operator = Operator("CONV_2D", [x, tensor, bias], [y], options, [])
    path.write_bytes(tflite_bytes([x, tensor, bias, y], [operator], [x], [y]))
    return models.load(path)


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
