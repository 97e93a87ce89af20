"""Every op of `qops.nnlib` that takes arrays, of no element, one and two, against its twin."""

import numpy as np
import pytest
import reference_nnlib as twin
import reference_nnlib_add as twin_add

from qops import nnlib

A, B, C = (-1.5, 2.0), (-0.25, 3.0), (-2.0, 2.0)
LEVEL = 4.0 / 2**32
RULES = {
    "i32": lambda q: (nnlib.requantize_i32(q, 1e-9, *A), twin.requantize_s32(q.tolist(), 1e-9, *A)),
    "scalar": lambda q: (nnlib.requantize_i32_scalar(q, 1e-9, *A), twin.requantize_s32(q.tolist(), 1e-9, *A, True)),
    "multiply": lambda q: (
        nnlib.mul_by_quantized_multiplier(q, 2**30 + 7, -3),
        [twin.mul_by_quantized_multiplier(v, 2**30 + 7, -3) for v in q.tolist()],
    ),
    "divide": lambda q: (nnlib.rounding_divide_by_pot(q, 5), [twin.rounding_divide_by_pot(v, 5) for v in q.tolist()]),
    "dequantize": lambda q: (
        nnlib.dequantize_qint32_f((q, *C)),
        [np.float32(v) * np.float32(LEVEL) for v in q.tolist()],
    ),
}


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("rule", RULES)
def test_int32_codes(rng, rule, n):
    got, want = RULES[rule](rng.integers(-(2**31), 2**31, n, np.int32))
    assert got.tolist() == list(want)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_uint8_codes(rng, n):
    q = rng.integers(0, 256, n, np.uint8)
    assert nnlib.requantize_u8(q, 0.7, 80, 90).tolist() == twin.requantize_u8(q.tolist(), 0.7, 80, 90)
    assert nnlib.dequantize((q, *A)).tolist() == twin.dequantize(q.tolist(), *A)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_reals(rng, n):
    x = rng.normal(size=n).astype(np.float32)
    for op, slow in ((nnlib.quantize, twin.quantize_mantissa), (nnlib.quantize_ref, twin.quantize_rounded)):
        codes, *ends = slow(x, *A)
        t = op(x, *A)
        assert (t.data.tolist(), t.min, t.max) == ([int(c) for c in codes], *ends)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize(
    ("form", "slow"),
    [("spec", twin_add.Spec), ("flat", twin_add.Flat), ("d32", twin_add.D32), ("sub", twin_add.D32Sub)],
)
def test_adds(rng, form, slow, n):
    a, b = rng.integers(0, 256, (2, n), np.uint8)
    node, want = nnlib.QuantizedSub8p8to8D32() if form == "sub" else nnlib.QuantizedAdd8p8to8(form=form), slow()
    for _ in range(2):
        if form == "spec" and n == 0:
            with pytest.raises(ValueError, match="a, b: no elements"):
                node((a, *A), (b, *B))
            continue
        found, t = want(a.tolist(), *A, b.tolist(), *B), node((a, *A), (b, *B))
        assert (t.data.tolist(), t.min, t.max) == (found["out"], found["out_min"], found["out_max"])
        assert node.passes == found["passes"]
    codes, c_max = twin_add.add_8p8to32(a.tolist(), *A, b.tolist(), *B)
    t = nnlib.quantized_add_8p8to32((a, *A), (b, *B))
    assert (t.data.tolist(), t.max) == (codes, c_max)
