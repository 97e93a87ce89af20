"""onnxruntime on kinds of CPU: what is not in the golden sets of products. Sums against Python's integers."""

import json
from pathlib import Path

import numpy as np
import pytest
from npz import read_npz

from qops import onnx
from qops.onnx.runtimes import COLUMNS, ORT

GOLDEN = Path(__file__).parents[1] / "golden/rules_arm"
S16 = np.iinfo(np.int16)


def lost_by_lowest(a, b):
    """What pairs (k, k + 8) of each 16 lose, of one row and one column."""
    low, w_low = np.iinfo(a.dtype).min, np.iinfo(b.dtype).min
    places = [k for k in range(len(a) - 8) if k % 16 < 8]
    return sum(65536 for k in places if a[k] == a[k + 8] == low and b[k] == b[k + 8] == w_low)


def saturated(a, b):
    """The sum of pairs of one row and one column."""
    terms = [int(x) * int(w) for x, w in zip(a, b, strict=True)] + [0]
    return sum(min(max(terms[k] + terms[k + 1], S16.min), S16.max) for k in range(0, len(a), 2))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("k", [1, 8, 9, 16, 23, 24, 25, 33, 48])
def test_pairs_of_lowest_codes_lose_65536_on_arm_without_dot_products(rng, dtype, k):
    a = np.where(rng.random((3, k)) < 0.7, np.iinfo(dtype).min, 5).astype(dtype)
    b = np.where(rng.random((k, 4)) < 0.7, -128, 5).astype(np.int8)
    exact = a.astype(int) @ b.astype(int)
    want = exact - np.array([[lost_by_lowest(row, column) for column in b.T] for row in a])
    assert np.array_equal(onnx.matmul_integer(a, b, runtime="ort_neon"), want)
    assert np.array_equal(onnx.MatMulInteger(b, runtime="ort_neon")(a), want)
    assert np.array_equal(onnx.matmul_integer(a, b, runtime="ort_arm"), exact)
    assert (want != exact).any() == (k > 8)


@pytest.mark.parametrize("k", [1, 2, 7, 64, 259])
@pytest.mark.parametrize("rows", [1, 5, 1025])
def test_neighbours_saturate_without_vnni(rng, rows, k):
    a, b = rng.integers(0, 256, (rows, k), np.uint8), rng.integers(-128, 128, (k, 3), np.int8)
    got = onnx.matmul_integer(a, b, 3, 4, runtime="ort_avx2")
    rest = -3 * b.sum(0, dtype=int) - 4 * a.sum(1, dtype=int)[:, None] + 12 * k
    want = np.array([[saturated(row, column) for column in b.T] for row in a[:5]]) + rest[:5]
    assert np.array_equal(got[:5], want)
    assert np.array_equal(onnx.MatMulInteger(b, 3, 4, runtime="ort_avx2")(a), got)


@pytest.mark.parametrize(("a", "b"), [(np.uint8, np.uint8), (np.int8, np.int8), (np.int8, np.uint8)])
def test_other_types_are_exact_without_vnni(rng, a, b):
    a, b = (
        rng.integers(np.iinfo(t).min, np.iinfo(t).max, s, t, endpoint=True) for t, s in ((a, (5, 64)), (b, (64, 3)))
    )
    assert np.array_equal(onnx.matmul_integer(a, b, runtime="ort_avx2"), onnx.matmul_integer(a, b))


def test_a_prepared_op_of_both_types_of_data_packs_weights_for_each():
    op = onnx.MatMulInteger(np.full((2, 1), 127, np.int8), runtime="ort_avx2")
    assert op(np.uint8([[255, 255]])).item() == S16.max
    assert op(np.int8([[127, 127]])).item() == 2 * 127**2


@pytest.mark.parametrize("op", ["add", "mul"])
def test_sums_and_products_of_codes_choose_the_rule_that_onnxruntime_has_on_arm(op):
    arrays, rules = read_npz(GOLDEN / f"ort_arm_{op}.npz"), set()
    made, function = {"add": (onnx.QLinearAdd, onnx.qlinear_add), "mul": (onnx.QLinearMul, onnx.qlinear_mul)}[op]
    for case in json.loads((GOLDEN / f"ort_arm_{op}.json").read_text()):
        attrs, (a, b) = case["attrs"], (arrays[case["inputs"][x]] for x in "ab")
        numbers = [attrs[f"{x}_{what}"] for x in "aby" for what in ("scale", "zp")]
        prepared = made(*numbers, runtime="ort_arm")
        rules.add(prepared.rule)
        assert np.array_equal(prepared(a, b), arrays[case["outputs"]["y"]]), case["id"]
        assert np.array_equal(function(a, *numbers[:2], b, *numbers[2:], runtime="ort_neon"), prepared(a, b))
    assert rules == {"qnnpack", "ort-arm-float"} if op == "add" else {"ort-arm"}


def test_a_float_result_with_a_bias_is_one_fused_step_on_arm():
    a, b, scale = np.uint8([[255]]), np.uint8([[255]]), np.float32(1.1)
    product = np.float32(65025) * scale
    bias = np.float32([-product])
    got = [onnx.matmul_integer_to_float(a, b, 1.0, scale, bias=bias, runtime=r).item() for r in ORT]
    fused = 65025 * float(scale) - float(product)
    assert got == [fused if COLUMNS[r].fuses else 0.0 for r in ORT]
    assert fused != 0


@pytest.mark.parametrize(
    ("dtype", "group", "w_zero", "is_exact"),
    [(np.uint8, 1, 0, False), (np.uint8, 24, 0, True), (np.int8, 1, 0, True), (np.int8, 1, 5, False)],
)
def test_layers_with_kernels_of_their_own_are_exact(dtype, group, w_zero, is_exact):
    x = np.full((1, 24, 3, 3), np.iinfo(dtype).min, dtype)
    w = np.full((24, 24 // group, 3, 3), -128, np.int8)
    how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "w_zero_point": w_zero, "y_scale": 2.0**17}
    zero = 128 if dtype is np.uint8 else 0
    made = [
        onnx.qlinear_conv(x, w=w, y_zero_point=zero, group=group, runtime=r, **how) for r in ("ort_arm", "ort_neon")
    ]
    assert np.array_equal(*made) == is_exact


def test_own_operators_have_no_standard():
    with pytest.raises(ValueError, match="runtime: expected one of ort, ort_avx2, ort_arm, ort_neon, got 'onnx'"):
        onnx.qgemm(np.uint8([[1]]), 1.0, 0, np.int8([[1]]), 1.0, 0, runtime="onnx")
