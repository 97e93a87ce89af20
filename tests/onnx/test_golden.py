"""onnxruntime's and the reference's own results, recorded: requantize, quantize and dynamic quantize, bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import case
from npz import read_npz

from qops import onnx

FOLDER = Path(__file__).parents[1] / "golden/rules"
SETS = ("ort_quantizelinear", "ort_dynamicquantizelinear", "ort_qlinearconv", "ort_qlinearmatmul")
CODES = {"u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16}


def quantize(attrs, runtime, x):
    zero = CODES[attrs["dtype"]](attrs["zero_point"])
    return {"y": onnx.quantize_linear(x, attrs["scale"], zero, runtime=runtime)}


def dynamic_quantize(attrs, runtime, x):
    return dict(zip(("y", "scale", "zero_point"), onnx.dynamic_quantize_linear(x, runtime=runtime), strict=True))


def conv(attrs, runtime, acc, w_scale=None):
    """Accumulators reach the operator as the bias of a 1 x 1 convolution of an input that is its zero point."""
    x, w = CODES[attrs["dtype"]]([[[[7]]]]), np.full((acc.size, 1, 1, 1), 3, CODES[attrs["w_dtype"]])
    zero, scale = x.dtype.type(attrs["zero_point"]), attrs.get("w_scale") if w_scale is None else w_scale
    y = onnx.qlinear_conv(x, attrs["in_scale"], 7, w, scale, 0, attrs["out_scale"], zero, acc, runtime=runtime)
    return {"y": y.ravel()}


def matmul(attrs, runtime, acc, a=None, b=None):
    """Where the operands were not recorded, others of the same product: 63 steps of 100 and one of 1."""
    a_type, b_type = CODES[attrs["dtype"]], CODES[attrs["w_dtype"]]
    if a is None:
        a = a_type([[attrs["a_zp"] + 100] * 63 + [attrs["a_zp"] + 1]])
        hundreds, ones = np.divmod(acc, 100)
        above = 127 * np.arange(63)[:, np.newaxis]
        steps = np.sign(hundreds) * np.clip(np.abs(hundreds) - above, 0, 127)
        b = (np.vstack([steps, ones]) + attrs["b_zp"]).astype(b_type)
    zeros = a_type(attrs["a_zp"]), b_type(attrs["b_zp"]), a_type(attrs["zero_point"])
    np.testing.assert_array_equal(onnx.matmul_integer(a, b, *zeros[:2])[0], acc)
    scales = attrs["in_scale"], attrs["w_scale"], attrs["out_scale"]
    y = onnx.qlinear_matmul(a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2], runtime=runtime)
    return {"y": y[0]}


CALLS = dict(zip(SETS, (quantize, dynamic_quantize, conv, matmul), strict=True))
CASES = {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in SETS}


@pytest.fixture(scope="module")
def arrays():
    return {name: read_npz(FOLDER / f"{name}.npz") for name in SETS}


def test_both_runtimes_are_in_every_set():
    assert sum(map(len, CASES.values())) == 240
    for recorded in CASES.values():
        systems = {one["system"].split()[0] for one in recorded}
        assert systems == {"onnxruntime", "onnx"}


@pytest.mark.parametrize("name", SETS)
def test_golden(name, arrays):
    for recorded in CASES[name]:
        with case(recorded["id"]):
            runtime = "ort" if recorded["system"].startswith("onnxruntime") else "onnx"
            inputs = {key: arrays[name][value] for key, value in recorded["inputs"].items()}
            got = CALLS[name](recorded["attrs"], runtime, **inputs)
            assert set(got) == set(recorded["outputs"])
            for key, value in recorded["outputs"].items():
                want = arrays[name][value]
                assert got[key].dtype == want.dtype
                assert got[key].shape == want.shape
                assert got[key].tobytes() == want.tobytes()


@pytest.mark.parametrize("name", ["ort_qlinearconv", "ort_qlinearmatmul"])
def test_runtimes_differ_on_the_golden_data(name, arrays):
    """Else a test of one would be a test of the other."""
    found = 0
    for recorded in CASES[name]:
        inputs = {key: arrays[name][value] for key, value in recorded["inputs"].items()}
        one, other = (CALLS[name](recorded["attrs"], runtime, **inputs)["y"] for runtime in ("onnx", "ort"))
        found += np.count_nonzero(one != other)
    assert found > 100
