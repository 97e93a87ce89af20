"""Every op of `qops.nnlib` that takes arrays, of no element, one and two, against its twin."""

import numpy as np
import pytest
import reference_nnlib as twin
import reference_nnlib_add as twin_add
import reference_nnlib_ops as twin_ops
from reference_nnlib_bias_add import quantized_bias_add_8p8to32

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


@pytest.mark.parametrize("n", [0, 1, 2])
def test_one_operand(rng, n):
    q, x = rng.integers(0, 256, n, np.uint8), rng.normal(size=n).astype(np.float32)
    assert nnlib.quantized_relu_8((q, *A)).data.tolist() == twin_ops.clamped(q.tolist(), *A, 0.0)
    assert nnlib.quantized_relux_8((q, *A), 1.0).data.tolist() == twin_ops.clamped(q.tolist(), *A, 0.0, 1.0)
    assert nnlib.quantized_clamp_8((q, *A), -1.0, 1.0).data.tolist() == twin_ops.clamped(q.tolist(), *A, -1.0, 1.0)
    assert nnlib.quantized_neg_8((q, *A)).data.tolist() == [255 - v for v in q.tolist()]
    assert nnlib.quantize_int32(x, *A).data.tolist() == twin_ops.quantize_int32(x, *A)[0]
    limit = max(0.0, *x.tolist(), 0.0), min(0.0, *x.tolist(), 0.0)
    for op, slow, least in (
        (nnlib.auto_quantize, twin.quantize_mantissa, 0.0),
        (nnlib.auto_quantize_ref, twin.quantize_rounded, 1e-4),
    ):
        hi = max(limit[0], float(np.float32(np.float32(limit[1]) + np.float32(least))))
        assert op(x).data.tolist() == [int(c) for c in slow(x, limit[1], hi)[0]]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_wide_codes(rng, n):
    q = rng.integers(-(2**31) + 1, 2**31, n, np.int32)
    gain = np.float32(LEVEL) / (np.float32(2.0) * np.float32(2.0**-15))
    assert nnlib.requantize_32to16((q, *C), *A).data.tolist() == twin_ops.requantize_16(q.tolist(), gain)
    adjusted = list(twin.adjust_range(*A).values())[:2]
    assert nnlib.requantize_32to8((q, *C), *A).data.tolist() == twin.requantize_s32(q.tolist(), LEVEL, *adjusted)
    ends = tuple(float(np.float32(LEVEL) * np.float32(pick(0, *q.tolist(), 0))) for pick in (min, max))
    assert nnlib.requantization_range_32((q, *C)) == ends
    assert nnlib.quantize_down_and_shrink_range_32to16((q, *C)).data.shape == (n,)
    if n:
        found = nnlib.quantize_down_and_shrink_range_32to8((q, *C))
        assert found.data.tolist() == nnlib.requantize_32to8((q, *C), *ends).data.tolist()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_two_operands(rng, n):
    a, b = rng.integers(1, 256, (2, n), np.uint8)
    for op, slow in (
        (nnlib.quantized_sub_8p8to32, twin_ops.sub_8p8to32),
        (nnlib.quantized_mul_8x8to32, twin_ops.mul_8x8to32),
    ):
        t, (codes, c_max) = op((a, *A), (b, *B)), slow(a, *A, b, *B)
        assert (t.data.tolist(), t.max) == (codes.tolist(), c_max)
    if n != 1:  # a single element only scales the range, as its own tests show
        t, (codes, lo, hi) = nnlib.quantized_mul_8x8to8((a, *A), (b, *B)), twin_ops.mul_8x8to8(a, *A, b, *B)
        assert (t.data.tolist(), t.min, t.max) == (codes.tolist(), lo, hi)
    ends = (A[0], B[1])
    x, y = (twin_ops.into_range(codes.tolist(), r, ends) for codes, r in ((a, A), (b, B)))
    assert nnlib.quantized_minimum_8((a, *A), (b, *B)).data.tolist() == [min(pair) for pair in zip(x, y, strict=True)]
    assert nnlib.quantized_maximum_8((a, *A), (b, *B)).data.tolist() == [max(pair) for pair in zip(x, y, strict=True)]
    for op, vector in ((nnlib.quantized_concat_8, True), (nnlib.quantized_concat_8_ref, False)):
        t, (codes, lo, hi) = op([(a, *A), (b, *B)]), twin_ops.concat([(a, *A), (b, *B)], vector)
        assert (t.data.tolist(), t.min, t.max) == (codes.tolist(), lo, hi)
    want = quantized_bias_add_8p8to32((a, *A), (b, *B))
    assert nnlib.quantized_bias_add_8p8to32((a, *A), (b, *B)).data.tolist() == want[0].tolist()
    wide, bias = rng.integers(-(2**31), 2**31, (2, 1, n), np.int32)
    want = twin_ops.bias_add_32p32to32(wide, C[1], bias[0], A[1])
    assert (nnlib.quantized_bias_add_32p32to32((wide, *C), (bias, -A[1], A[1])).data == want).all()
