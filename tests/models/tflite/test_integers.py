"""Operators that give or move integers, as files of one operator that real systems ran.

``integers.npz`` holds 93 files, what they were given (seeded), and what LiteRT 2.3.0 (reference, optimised and with
XNNPACK) and TFLite Micro 0.dev20261023 gave, each that has the operator for its types. All that ran a file gave one
result, but for BATCH_MATMUL with a scale for each channel, which stands twice.
"""

from pathlib import Path

import numpy as np
import pytest
from tflite_models import SYSTEMS

from qops import models
from qops.models import Operator, Tensor, tflite_bytes

HELD = np.load(Path(__file__).with_name("integers.npz"))
NAMES = sorted({key.split("/")[0] for key in HELD.files})


@pytest.mark.parametrize("name", NAMES)
def test_files_give_the_results_of_each_system(tmp_path, name):
    path = tmp_path / "m.tflite"
    path.write_bytes(HELD[f"{name}/file"].tobytes())
    given = {key.split("/")[2]: HELD[key] for key in HELD.files if key.startswith(f"{name}/in/")}
    wanted, systems = HELD[f"{name}/out"], HELD[f"{name}/systems"].tolist()
    assert systems
    for system in systems:
        got = models.load(path, runtime=SYSTEMS[system]).run(given)["y"]
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert got.tobytes() == wanted.tobytes()


def one(path, kind, inputs, y, **options):
    path.write_bytes(tflite_bytes([*inputs, y], [Operator(kind, inputs, [y], options, [])], inputs[:1], [y]))
    return models.load(path)


def ints(name, values):
    return Tensor(name, np.shape(values), "int32", data=np.int32(values))


def test_what_they_refuse(tmp_path):
    path, x = tmp_path / "m.tflite", Tensor("x", (2, 2), "float32")
    graph = one(path, "ARG_MAX", [x, ints("axis", 1)], Tensor("y", (2,), "int32"), OutputType=2)
    with pytest.raises(ValueError, match="its data hold a NaN"):
        graph.run(np.float32([[1, np.nan], [0, 0]]))
    graph = one(path, "CAST", [x], Tensor("y", (2, 2), "uint8"), InDataType=0, OutDataType=3)
    for bad in (-1.0, 256.0, np.nan):
        with pytest.raises(ValueError, match="its data hold what uint8 does not"):
            graph.run(np.float32([[1, bad], [0, 0]]))
    assert graph.run(np.float32([[255.9, -0.9], [0, 1.5]]))["y"].tolist() == [[255, 0], [0, 1]]
    graph = one(path, "GATHER_ND", [x, ints("places", [[0, 2]])], Tensor("y", (1,), "float32"))
    with pytest.raises(ValueError, match="indices outside of data"):
        graph.run(np.zeros((2, 2), np.float32))
    graph = one(path, "TILE", [x, ints("times", [2**20, 2**20])], Tensor("y", (1,), "float32"))
    with pytest.raises(ValueError, match="has multiples"):
        graph.run(np.zeros((2, 2), np.float32))
    graph = one(path, "FLOOR_DIV", [Tensor("x", (2,), "int32"), ints("b", [2, 0])], Tensor("y", (2,), "int32"))
    with pytest.raises(ValueError, match="it divides by 0"):
        graph.run(np.int32([1, 2]))
    with pytest.raises(ValueError, match="its result 'y' is float32, where places are int32 or int64"):
        one(path, "ARG_MAX", [x, ints("axis", 1)], Tensor("y", (2,), "float32"), OutputType=2)
    graph = one(path, "FLOOR_DIV", [Tensor("x", (1,), "int32"), ints("b", [-1])], Tensor("y", (1,), "int32"))
    with pytest.raises(ValueError, match=r"it divides -2\*\*31 by -1"):
        graph.run(np.int32([-(2**31)]))


def test_codes_are_cast_and_divided_as_the_numbers_that_they_are(tmp_path):
    """What LiteRT 2.3.0 gives, reference and optimised: it does not look at scales."""

    def scaled(name, dtype, scale=0.5, zero_point=3):
        return Tensor(name, (4,), dtype, np.float32(scale), np.int64(zero_point))

    path, codes = tmp_path / "m.tflite", np.int8([-5, 3, 100, -128])
    found = one(path, "CAST", [scaled("x", "int8")], Tensor("y", (4,), "float32")).run(codes)["y"]
    assert (found.dtype, found.tolist()) == (np.float32, [-5, 3, 100, -128])
    graph = one(path, "CAST", [scaled("x", "int8")], scaled("y", "int8", 0.25, 1))
    assert graph.run(codes)["y"].tolist() == codes.tolist()
    graph = one(path, "CAST", [Tensor("x", (4,), "int32")], scaled("y", "int8"))
    assert graph.run(np.int32([1, -2, 300, -4]))["y"].tolist() == [1, -2, 44, -4]
    for dtype in ("int8", "int16"):
        low, by = np.iinfo(dtype).min, Tensor("b", (4,), dtype, data=np.array([2, 7, 3, -1], dtype))
        graph = one(path, "FLOOR_DIV", [scaled("x", dtype), by], scaled("y", dtype))
        assert graph.run(np.array([-5, 100, -7, low], dtype))["y"].tolist() == [-3, 14, -3, low]


def test_logarithms_are_rounded_once(tmp_path):
    graph = one(tmp_path / "m.tflite", "LOG", [Tensor("x", (3,), "float32")], Tensor("y", (3,), "float32"))
    x = np.float32([0.3, 1, 7e30])
    np.testing.assert_array_equal(graph.run(x)["y"], np.log(x.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("runtime", SYSTEMS.values())
def test_a_transposed_convolution_whose_shape_is_computed(tmp_path, runtime):
    """PACK makes the shape; the file announces the same, and another is refused."""
    path, draw = tmp_path / "m.tflite", np.random.default_rng(2)

    def codes(name, shape, scale, data=None):
        return Tensor(name, shape, "int8", np.float32(scale), np.int64(0), None, data)

    x, y = codes("x", (1, 2, 2, 3), 0.1), codes("y", (1, 4, 4, 2), 0.2)
    w = codes("w", (2, 2, 2, 3), 0.05, draw.integers(-127, 128, (2, 2, 2, 3)).astype(np.int8))
    height, shape = Tensor("height", (), "int32"), Tensor("shape", (4,), "int32")
    bias = Tensor("b", (2,), "int32", np.float32(0.1 * 0.05), np.int64(0), None, np.int32([50, -70]))
    fixed = ints("fixed", [1, 4, 4, 2])
    options = {"Padding": 0, "StrideH": 2, "StrideW": 2}
    parts = [ints("one", 1), height, ints("width", 4), ints("channels", 2)]
    pack = Operator("PACK", parts, [shape], {"ValuesCount": 4, "Axis": 0}, [])
    computed = [pack, Operator("TRANSPOSE_CONV", [shape, w, x, bias], [y], options, [])]
    path.write_bytes(tflite_bytes([x, height, *parts[::2], parts[3], shape, w, bias, y], computed, [x, height], [y]))
    graph = models.load(path, runtime=runtime)
    plain = tmp_path / "plain.tflite"
    told = Operator("TRANSPOSE_CONV", [fixed, w, x, bias], [y], options, [])
    plain.write_bytes(tflite_bytes([x, fixed, w, bias, y], [told], [x], [y]))
    data = draw.integers(-128, 128, (1, 2, 2, 3)).astype(np.int8)
    wanted = models.load(plain, runtime=runtime).run(data)["y"]
    np.testing.assert_array_equal(graph.run({"x": data, "height": np.int32(4)})["y"], wanted)
    with pytest.raises(ValueError, match=r"tells a result of shape \[1, 5, 4, 2\], the file one of \[1, 4, 4, 2\]"):
        graph.run({"x": data, "height": np.int32(5)})


def test_quotients_that_are_refused(tmp_path):
    path = tmp_path / "m.tflite"
    codes = [Tensor(name, (2,), "int8", np.float32(s), np.int64(3)) for name, s in (("x", 0.5), ("b", 0.25), ("y", 1))]
    path.write_bytes(tflite_bytes(codes, [Operator("DIV", codes[:2], codes[2:], {}, [])], codes[:2], codes[2:]))
    graph = models.load(path)
    found = graph.run({"x": np.int8([43, 3]), "b": np.int8([8, -5])})["y"]
    assert found.tolist() == [19, 4]  # 0 / -2 is one step too large on x86, in LiteRT and TFLM
    with pytest.raises(ValueError, match="it divides by 0"):
        graph.run({"x": np.int8([43, 3]), "b": np.int8([8, 3])})
    graph = one(path, "DIV", [Tensor("x", (2,), "int32"), ints("b", [2, -1])], Tensor("y", (2,), "int32"))
    assert graph.run(np.int32([-7, 5]))["y"].tolist() == [-3, -5]
    with pytest.raises(ValueError, match="which int32 does not hold"):
        graph.run(np.int32([1, -(2**31)]))
    with pytest.raises(ValueError, match="its types are int32, int32, int64"):
        one(path, "DIV", [Tensor("x", (2,), "int32"), ints("b", [2, 1])], Tensor("y", (2,), "int64"))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(
    ("kind", "activation", "wanted"),
    [
        ("ADD", 0, [[4, -7, 9]]),
        ("SUB", 0, [[10, -11, 7]]),
        ("MUL", 0, [[-21, 18, 8]]),
        ("ADD", 1, [[4, 0, 9]]),
        ("SUB", 2, [[1, -1, 1]]),
        ("MUL", 3, [[0, 6, 6]]),
    ],
)
def test_integers_without_a_scale_are_added_and_multiplied(tmp_path, dtype, kind, activation, wanted):
    a, b, y = (Tensor(name, (1, 3), dtype) for name in "aby")
    operator = Operator(kind, [a, b], [y], {"FusedActivationFunction": activation}, [])
    path = tmp_path / "counts.tflite"
    path.write_bytes(tflite_bytes([a, b, y], [operator], [a, b], [y]))
    x = {"a": np.array([[7, -9, 8]], dtype), "b": np.array([[-3, 2, 1]], dtype)}
    if kind == "MUL":
        x["b"][0, 1] = -2
    found = models.load(path).run(x)["y"]
    assert found.dtype == dtype
    assert found.tolist() == wanted
    x["a"][...] = np.iinfo(dtype).max
    x["b"][...] = -2 if kind == "SUB" else 2
    with pytest.raises(ValueError, match=f"its result is beyond {dtype}"):
        models.load(path).run(x)


@pytest.mark.parametrize(
    ("axes", "keep", "wanted"),
    [
        ([2], False, [[-1073741824, 5242880], [0, -4685824]]),
        ([-1, 1], True, [[[0]], [[0]]]),
        ([1], False, [[1073741824, 3145728, -7], [-22, 0, 294912]]),
    ],
)
def test_products_of_int32_wrap(tmp_path, axes, keep, wanted):
    """What LiteRT 2.3.0 gives, reference and optimised."""
    data = np.int32([[[2**30, 3, -7], [5, 2**20, 1]], [[-2, 0, 9], [11, -13, 2**15]]])
    x = Tensor("x", data.shape, "int32")
    graph = one(tmp_path / "m.tflite", "REDUCE_PROD", [x, ints("a", axes)], Tensor("y", (2,), "int32"), KeepDims=keep)
    assert graph.run(data)["y"].tolist() == wanted
