"""Operators of numbers without scales, and those that choose or turn, as files of one operator that real systems ran.

``choices.npz`` holds files, what they were given (seeded), and what LiteRT 2.3.0 (reference, optimised and with
XNNPACK) and TFLite Micro 0.dev20261023 gave on x86, each that has the operator for its types; all gave one result.
Powers of floats that are no products come from the host's library there: of the cases here none differs in a last bit.
"""

from pathlib import Path

import numpy as np
import pytest
from tflite_models import SYSTEMS

from qops import models
from qops.models import Operator, Tensor, tflite_bytes

HELD = np.load(Path(__file__).with_name("choices.npz"))
NAMES = sorted({key.split("/")[0] for key in HELD.files})
F32, I32 = np.float32, np.int32


@pytest.mark.parametrize("name", NAMES)
def test_files_give_the_results_of_each_system(tmp_path, name):
    path, wanted = tmp_path / "m.tflite", HELD[f"{name}/out"]
    path.write_bytes(HELD[f"{name}/file"].tobytes())
    given = {key.split("/")[2]: HELD[key] for key in HELD.files if key.startswith(f"{name}/in/")}
    systems = HELD[f"{name}/systems"].tolist()
    assert {"opt", "xnn"} <= set(systems)
    for system in systems:
        got = models.load(path, runtime=SYSTEMS[system]).run(given)["y"]
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        numbers = ~np.isnan(wanted) if wanted.dtype == F32 else np.True_  # a NaN has no one sign
        assert got[numbers].tobytes() == wanted[numbers].tobytes()
        np.testing.assert_array_equal(got, wanted)


def one(path, kind, inputs, y, **options):
    fed = [t for t in inputs if t.data is None]
    path.write_bytes(tflite_bytes([*inputs, y], [Operator(kind, inputs, [y], options, [])], fed, [y]))
    return models.load(path)


def tensor(name, dtype="float32", shape=(2, 3), scale=None, data=None):
    zero = None if scale is None else np.int64(0)
    return Tensor(name, shape, dtype, None if scale is None else F32(scale), zero, None, data)


def test_what_they_refuse_as_files(tmp_path):
    path = tmp_path / "m.tflite"
    a, b, truth = tensor("a"), tensor("b"), tensor("y", "bool")
    with pytest.raises(ValueError, match="'a' is int8, where float32 or int32 or int64 is expected"):
        one(path, "LESS", [tensor("a", "int8", scale=0.5), tensor("b", "int8", scale=0.5)], truth)
    with pytest.raises(ValueError, match="'b' is int32, where float32 is expected"):
        one(path, "EQUAL", [a, tensor("b", "int32")], truth)
    with pytest.raises(ValueError, match="'y' is int32, where bool is expected"):
        one(path, "GREATER", [a, b], tensor("y", "int32"))
    with pytest.raises(ValueError, match="'a' is float32, where bool is expected"):
        one(path, "LOGICAL_AND", [a, b], truth)
    with pytest.raises(ValueError, match="'a' is int64, where float32 or int32 is expected"):
        one(path, "POW", [tensor("a", "int64"), tensor("b", "int64")], tensor("y", "int64"))
    codes = [tensor(name, "int8", scale=scale) for name, scale in (("a", 0.5), ("b", 0.25), ("y", 0.5))]
    with pytest.raises(ValueError, match="'b' has another scale or zero point than 'a'"):
        one(path, "SELECT_V2", [tensor("c", "bool"), *codes[:2]], codes[2])
    with pytest.raises(ValueError, match="'c' is int32, where bool is expected"):
        one(path, "SELECT_V2", [tensor("c", "int32"), a, b], tensor("y"))
    with pytest.raises(ValueError, match="'c' is float32, where bool is expected"):
        one(path, "SELECT_V2", [tensor("c"), a, b], tensor("y")).run(dict.fromkeys("cab", np.zeros((2, 3), F32)))


def test_what_they_refuse_as_data(tmp_path):
    path, shape = tmp_path / "m.tflite", (1,)
    pair = [tensor("a", "int32", shape), tensor("b", "int32", shape)]
    graph = one(path, "POW", pair, tensor("y", "int32", shape))
    with pytest.raises(ValueError, match="it has the exponent -1, and LiteRT refuses negative ones of int32"):
        graph.run({"a": I32([2]), "b": I32([-1])})
    for base, exponent in ((2, 31), (-2, 33), (70000, 3), (3, 2**31 - 1)):
        with pytest.raises(ValueError, match="its powers are larger than int32 holds"):
            graph.run({"a": I32([base]), "b": I32([exponent])})
    assert graph.run({"a": I32([-2]), "b": I32([31])})["y"].tolist() == [-(2**31)]
    for axes in ([0, 2], [1, 1], [3], [-4]):
        fixed = tensor("axes", "int32", (len(axes),), data=I32(axes))
        graph = one(path, "REVERSE_V2", [tensor("x", shape=(2, 3, 4)), fixed], tensor("y", shape=(2, 3, 4)))
        with pytest.raises(ValueError, match=r"REVERSE_V2 of data of shape \(2, 3, 4\) has axes"):
            graph.run(np.zeros((2, 3, 4), F32))
    three = [tensor("c", "bool", (2, 1)), tensor("a"), tensor("b")]
    graph = one(path, "SELECT", three, tensor("y"))
    with pytest.raises(ValueError, match=r"SELECT has shapes \(2, 1\), \(2, 3\), \(2, 3\)"):
        graph.run({"c": np.ones((2, 1), np.bool_), "a": np.zeros((2, 3), F32), "b": np.zeros((2, 3), F32)})


def test_what_ranges_refuse(tmp_path):
    path, three = tmp_path / "m.tflite", [tensor(name, "int32", ()) for name in "abc"]
    graph = one(path, "RANGE", three, tensor("y", "int32", (1,)))
    for start, limit, step in ((0, 5, 0), (0, 5, -1), (5, 0, 1)):
        with pytest.raises(ValueError, match=rf"RANGE goes from {start} to {limit} in steps of {step}"):
            graph.run({"a": I32(start), "b": I32(limit), "c": I32(step)})
    with pytest.raises(ValueError, match=r"RANGE from 0 to 2147483647 in steps of 1 has more than"):
        graph.run({"a": I32(0), "b": I32(2**31 - 1), "c": I32(1)})
    with pytest.raises(ValueError, match="'y' is float32, where places are int32 or int64"):
        one(path, "RANGE", three, tensor("y", shape=(1,)))


def test_waves_are_rounded_once(tmp_path):
    x = np.linspace(-9, 9, 100, dtype=F32)
    for kind, function in (("SIN", np.sin), ("COS", np.cos)):
        ends = tensor("x", shape=(100,)), tensor("y", shape=(100,))
        graph = one(tmp_path / "m.tflite", kind, ends[:1], ends[1])
        np.testing.assert_array_equal(graph.run(x)["y"], function(x.astype(np.float64)).astype(F32))


def test_a_result_without_elements_is_no_constant(tmp_path):
    """Converters give each tensor a buffer of its own, which is empty for results, also for one of shape 0."""
    path = tmp_path / "m.tflite"
    x, sizes = tensor("x", shape=(3,)), tensor("s", "int32", (3,), data=I32([2, 0, 1]))
    axis = tensor("a", "int32", (), data=I32(0))
    parts = [tensor("p", shape=(2,)), tensor("q", shape=(0,), data=np.zeros(0, F32)), tensor("r", shape=(1,))]
    split = Operator("SPLIT_V", [x, sizes, axis], parts, {"NumSplits": 3}, [])
    path.write_bytes(tflite_bytes([x, sizes, axis, *parts], [split], [x], parts))
    found = models.load(path).run(F32([1, 2, 3]))
    assert [found[name].tolist() for name in "pqr"] == [[1, 2], [], [3]]


def test_a_choice_in_real_numbers(tmp_path):
    """Codes where values are above 1, and 0 else: integers and real numbers say the same."""
    path, shape = tmp_path / "m.tflite", (2, 3)
    x, y = tensor("x", "int8", scale=0.5), tensor("y", "int8", scale=0.5)
    real, limit, holds = tensor("r"), tensor("l", shape=(1,), data=F32([1])), tensor("h", "bool")
    zero = tensor("z", "int8", (1,), 0.5, np.int8([0]))
    operators = [
        Operator("DEQUANTIZE", [x], [real], {}, []),
        Operator("GREATER", [real, limit], [holds], {}, []),
        Operator("SELECT_V2", [holds, x, zero], [y], {}, []),
    ]
    path.write_bytes(tflite_bytes([x, real, limit, holds, zero, y], operators, [x], [y]))
    graph, codes = models.load(path), np.arange(-1, 5, dtype=np.int8).reshape(shape)
    assert graph.run(codes)["y"].tolist() == [[0, 0, 0], [0, 3, 4]]
    assert graph.real(codes * F32(0.5))["y"].tolist() == [[0, 0, 0], [0, 1.5, 2]]
