"""bound: every constant of the front door is found by the name of an op, and the name of every op finds a constant."""

import inspect

import numpy as np
import pytest

import qops
from qops import frontdoor
from qops.frontdoor.bound import _TABLE


def constants():
    for stem in frontdoor.__all__:
        module = getattr(frontdoor, stem)
        yield from (getattr(module, name) for name in module.__all__ if name.startswith("BOUND"))


def test_every_constant_is_the_bound_of_an_op():
    found = {qops.bound(op, dtype) for op, rows in _TABLE.items() for types in rows for dtype in types}
    assert found == set(constants())


@pytest.mark.parametrize("op", _TABLE)
def test_a_bound_is_that_of_an_op_which_gives_such_codes(op):
    """The default is the op's own, where it takes a dtype, and every type is a code type."""
    assert op in qops.__all__
    assert 0.5 <= qops.bound(op) <= 0.6
    types = [name for row in _TABLE[op] for name in row]
    assert {qops.codes.of_dtype(name).dtype.name for name in types} == set(types)
    default = inspect.signature(getattr(qops, op)).parameters.get("dtype")
    assert default is None or default.default == types[0]
    assert qops.bound(op) == qops.bound(op, types[0]) == qops.bound(op, np.dtype(types[0]).type)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("dequantize",), ValueError, "op: expected one of requantize, add, .*, got 'dequantize'"),
        ((None,), ValueError, "op: expected one of .*, got None"),
        ((["quantize"],), ValueError, "op: expected one of"),
        (("relu", "float32"), TypeError, "dtype: expected uint8, int8, uint16, int16, int32, got 'float32'"),
        (("quantize", np.int32), ValueError, "op: quantize gives uint8, int8, uint16, int16, not int32"),
    ],
)
def test_what_has_no_bound_is_refused(arguments, error, text):
    with pytest.raises(error, match=f"^{text}"):
        qops.bound(*arguments)


def test_a_report_has_the_bound_of_the_op():
    x = np.linspace(-1, 1, 99)
    for dtype in (np.uint8, np.int16):
        report = qops.error(qops.quantize(x, dtype=dtype), x, "quantize")
        assert report.max <= report.bound == qops.bound("quantize", dtype)
        assert f"LSB; the op itself adds at most {report.bound:.4f}" in str(report)
        assert (report + report).bound == report.bound
    assert (report + qops.error(qops.quantize(x), x)).bound is None
    with pytest.raises(ValueError, match=r"^op: matmul gives int32, uint8, int8, not int16"):
        qops.error(qops.quantize(x, dtype="int16"), x, "matmul")


def test_a_report_is_shown_with_all_its_figures():
    t = qops.quantize(np.eye(3) * [[1], [2], [4]], axis=0)
    report = qops.error(t, 0.5)
    lines = str(report).splitlines()
    assert [line.partition("  ")[0] for line in lines] == [
        *("elements", "LSB", "max error", "mean |error|", "rms error", "bias", "SQNR", "worst"),
    ]
    assert lines[1] == f"LSB           {1 / 255:.6g} to {4 / 255:.6g}"
    assert f"{report.sqnr:.1f} dB" in str(report)
    assert f"SQNR          {report.sqnr:.1f} dB" in repr(report)
    assert repr(report).startswith(f"<ErrorReport: at most {report.max:.4g} LSB off, at {report.worst.index}: ")
    assert "from the op" not in str(report)


def test_a_bound_does_not_count_what_rounding_the_inputs_did(rng):
    """Beside floats that were not quantized yet the error of a product is above it, beside those of its codes not."""
    x, w = rng.normal(0, 1, (20, 300)), rng.normal(0, 1, (300, 9))
    a, b = qops.quantize(x), qops.quantize(w)
    t = qops.matmul(a, b, dtype="uint8")
    assert qops.error(t, x @ w, "matmul").max > 2 * qops.bound("matmul", "uint8")
    assert qops.error(t, a.dequantize().astype(float) @ b.dequantize(), "matmul").max <= qops.bound("matmul", "uint8")
