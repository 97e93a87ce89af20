"""MatMulInteger and QLinearMatMul beside their slow twins, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest
import reference_onnx as twin
from equal import equal
from ops import same

from qops import onnx

PAIRS = [(a, b) for a in (np.uint8, np.int8) for b in (np.uint8, np.int8)]
SIZES = [(1, 1, 1), (3, 7, 5), (5, 70, 33), (0, 3, 2), (2, 0, 3), (2, 3, 0)]


def codes(rng, shape, dtype):
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True), dtype)


@pytest.mark.parametrize(("m", "k", "n"), SIZES)
@pytest.mark.parametrize(("a_type", "b_type"), PAIRS)
def test_matmul_integer_is_its_twin(rng, m, k, n, a_type, b_type):
    a, b = codes(rng, (m, k), a_type), codes(rng, (k, n), b_type)
    same(onnx.matmul_integer(a, b), twin.matmul(a, b, 0, 0))
    for rows, columns in (((), ()), ((m,), ()), ((m, 1), (n,)), ((1,), (1, n))):
        zeros = codes(rng, rows, a_type), codes(rng, columns, b_type)
        if all(zero.size for zero in zeros):
            same(onnx.matmul_integer(a, b, *zeros), twin.matmul(a, b, *zeros))


def test_rows_of_a_square_are_rows(rng):
    """The reference of the package takes such zero points along the columns."""
    a, b, zero = codes(rng, (4, 4), np.uint8), codes(rng, (4, 4), np.int8), np.uint8([1, 2, 3, 4])
    wide = a.astype(np.int32) - zero[:, np.newaxis]
    same(onnx.matmul_integer(a, b, zero), wide @ b.astype(np.int32))


@pytest.mark.parametrize(("a_shape", "b_shape"), [((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((5, 2, 4), (4,))])
def test_vectors_are_those_of_numpy(rng, a_shape, b_shape):
    a, b = codes(rng, a_shape, np.uint8), codes(rng, b_shape, np.uint8)
    want = (a.astype(np.int32) - 9) @ (b.astype(np.int32) - 200)
    same(np.asarray(onnx.matmul_integer(a, b, 9, 200)), np.asarray(want))
    same(onnx.matmul_integer(a, b, None, 200), onnx.matmul_integer(a, b, 0, 200))  # an input that is left out
    y = onnx.qlinear_matmul(a, 1.0, 9, b, 1.0, 200, 2.0**10, 128)
    assert y.shape == want.shape


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_rows_is_a_matrix(rng, kind):
    a, b = codes(rng, (4, 5), np.uint8), codes(rng, (5, 3), np.int8)
    for _ in range(3):
        same(onnx.matmul_integer(a, kind(b)), onnx.matmul_integer(a, b))
        same(onnx.qlinear_matmul(a, 0.5, 3, kind(b), 1.0, 0, 9.0, 7), onnx.qlinear_matmul(a, 0.5, 3, b, 1.0, 0, 9.0, 7))


@pytest.mark.parametrize(("a_batch", "b_batch"), [((2,), ()), ((), (3,)), ((2, 1), (3,)), ((2, 3), (2, 3)), ((0,), ())])
def test_batches_broadcast(rng, a_batch, b_batch):
    a, b = codes(rng, (*a_batch, 2, 9), np.uint8), codes(rng, (*b_batch, 9, 4), np.uint8)
    za, zb = codes(rng, (*a_batch, 2, 1), np.uint8), codes(rng, (*b_batch, 1, 4), np.uint8)
    want = (a.astype(np.int32) - za) @ (b.astype(np.int32) - zb)
    same(onnx.matmul_integer(a, b, za, zb), want)


def test_sums_wrap():
    k = 140_000
    a, b = np.full((1, k), 255, np.uint8), np.full((k, 1), 0, np.uint8)
    assert onnx.matmul_integer(a, b, 0, 255).item() == twin.wrapped(-k * 255 * 255)
    assert onnx.matmul_integer(a, b, 255, 255).item() == 0


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("b_type", [np.uint8, np.int8])
@pytest.mark.parametrize("a_type", [np.uint8, np.int8])
@pytest.mark.parametrize("per", ["tensor", "column"])
def test_qlinear_matmul_is_its_twin(rng, a_type, b_type, per, runtime):
    if runtime == "ort" and (a_type, b_type) == (np.int8, np.uint8):
        b_type = np.int8
    a, b = codes(rng, (6, 5), a_type), codes(rng, (5, 11), b_type)
    shape = (11,) if per == "column" else ()
    za, zb, zy = codes(rng, (), a_type), codes(rng, shape, b_type), codes(rng, (), a_type)
    scales = [2.0 ** rng.integers(-9, -3, s) * rng.choice([1, 1.1]) for s in ((), shape, ())]
    sa, sb, sy = (np.float32(s) for s in scales)
    acc = twin.matmul(a, b, za, zb)
    want = np.empty_like(acc, a_type)
    for i, j in np.ndindex(acc.shape):
        column = sb if per == "tensor" else sb[j]
        want[i, j] = twin.requantized(int(acc[i, j]), sa, column, sy, int(zy), a_type, runtime)
    same(onnx.qlinear_matmul(a, sa, za, b, sb, zb, sy, zy, runtime=runtime), want)


def test_scales_of_each_row(rng):
    a, b, scale = codes(rng, (3, 4), np.uint8), codes(rng, (4, 3), np.int8), np.float32([0.5, 1, 2])
    whole = onnx.qlinear_matmul(a, scale, np.uint8([1, 2, 3]), b, 0.25, 0, 99.0, 128)
    for i in range(3):
        same(whole[i], onnx.qlinear_matmul(a[i], scale[i], i + 1, b, 0.25, 0, 99.0, 128))
    both = np.stack([scale, scale[::-1]])
    made = onnx.qlinear_matmul(
        np.stack([a, a])[:, None], both.reshape(2, 1, 3, 1), np.uint8([1, 2, 3]), np.stack([b, b]), 0.25, 0, 99.0, 128
    )
    for each, own in zip(made, both, strict=True):
        want = onnx.qlinear_matmul(a, own, np.uint8([1, 2, 3]), b, 0.25, 0, 99.0, 128)
        same(each, np.stack([want, want]))


def test_the_factor_has_the_type_of_the_scales():
    scales = [np.float16(value) for value in (0.1, 0.6, 24)]
    half, single = scales[0] * scales[1] / scales[2], np.prod(np.float32(scales[:2])) / np.float32(scales[2])
    a, b = np.uint8([[200]]), np.int8([[127]])
    got = [onnx.qlinear_matmul(a, s[0], 0, b, s[1], 0, s[2], 0).item() for s in (scales, np.float32(scales))]
    assert got == [round(25400 * float(half)), round(25400 * float(single))]
    assert got[0] != got[1]


def test_threads_and_layouts_change_nothing(rng):
    a, b = codes(rng, (200, 65), np.uint8), codes(rng, (65, 130), np.uint8)
    want = onnx.matmul_integer(a, b, 3, 5)
    same(onnx.matmul_integer(np.asfortranarray(a), b[::-1][::-1], 3, 5, num_threads=4), want)


def test_an_out_within_b_is_refused_by_the_function_and_taken_by_the_op(rng):
    """The function reads the matrix of the caller, the op has a copy."""
    a, b = codes(rng, (4, 16), np.uint8), codes(rng, (16, 16), np.int8)
    out, want = b.reshape(-1).view(np.int32)[:64].reshape(4, 16), onnx.matmul_integer(a, b)
    for call in (onnx.matmul_integer, lambda a, b, out: onnx.qlinear_matmul(a, 1.0, 0, b, 1.0, 0, 1.0, 0, out=out)):
        with pytest.raises(ValueError, match=r"^out: "):
            call(a, b, out=out if call is onnx.matmul_integer else b[:4].view(np.uint8))
    same(onnx.MatMulInteger(b)(a, out), want)


@pytest.mark.parametrize("m", [1024, 1025])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_functions_give_the_bits_of_their_ops_for_few_rows_and_for_many(rng, m, dtype):
    a, b, zeros = codes(rng, (m, 9), np.uint8), codes(rng, (9, 5), dtype), codes(rng, 5, dtype)
    same(onnx.matmul_integer(a, b, 3, zeros), onnx.MatMulInteger(b, 3, zeros)(a))
    given = (0.5, 3, b, 0.5, zeros, 99.0, 100)
    same(onnx.qlinear_matmul(a, *given), onnx.QLinearMatMul(*given)(a))


@pytest.mark.parametrize("name", ["a_zero_point", "b_zero_point"])
def test_zero_points_of_a_qlinear_matmul_are_not_optional(name):
    with pytest.raises(TypeError, match=f"^{name}: expected"):
        onnx.qlinear_matmul(**(GOOD | {name: None}))


GOOD = {"a": np.uint8([[1, 2]]), "a_scale": 0.5, "a_zero_point": 0, "b": np.int8([[1], [2]]), "b_scale": 0.5}
GOOD |= {"b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
REFUSED = [
    ({"a": np.int16([[1, 2]])}, TypeError, "a: expected uint8, int8, got int16"),
    ({"b": [[1], [2]]}, TypeError, "b: expected uint8, int8, got int64"),
    ({"a": np.uint8(1)}, ValueError, "a: expected at least 1 dimension"),
    ({"b": np.int8([[1, 2]])}, ValueError, r"a, b: shapes \(1, 2\) and \(1, 2\) do not fit"),
    (
        {"a": np.zeros((2, 1, 2), np.uint8), "b": np.zeros((3, 2, 1), np.int8)},
        ValueError,
        r"a, b: shapes \(2, 1, 2\) and \(3, 2, 1\) do not fit",
    ),
    ({"a_zero_point": 256}, ValueError, "a_zero_point: expected an integer in"),
    ({"a_zero_point": np.int8(0)}, TypeError, "a_zero_point: expected uint8, got int8"),
    (
        {"a_zero_point": np.uint8([1, 2])},
        ValueError,
        r"a_zero_point: expected 1 value, or 1, one for each row, of \(1, 2\)",
    ),
    ({"b_zero_point": np.int8([1, 2])}, ValueError, "b_zero_point: expected 1 value, or 1, one for each column"),
    ({"a_scale": np.float32([1, 2])}, ValueError, "a_scale: expected 1 value, or 1, one for each row"),
    ({"b_scale": ["1", "2"]}, TypeError, "b_scale: expected float32"),
    ({"a_scale": np.nan}, ValueError, "a_scale: nan is not a finite float32"),
    ({"y_scale": 0}, ValueError, "y_scale: expected finite numbers other than 0, got 0"),
    ({"y_scale": np.float32([1, 2])}, ValueError, r"y_scale: expected 1 value, got shape \(2,\)"),
    (
        {"a_scale": 1e38, "b_scale": 1e38, "y_scale": 1e38},
        ValueError,
        "a_scale, b_scale, y_scale: .* is beyond float32",
    ),
    ({"y_zero_point": np.int16(0)}, TypeError, "y_zero_point: expected uint8, int8, got int16"),
    ({"y_zero_point": np.uint8([0, 0])}, ValueError, r"y_zero_point: expected 1 value, got shape \(2,\)"),
    ({"num_threads": 0}, ValueError, "num_threads: expected an integer in"),
    ({"runtime": None}, ValueError, "runtime: expected one of onnx, ort, ort_avx2, ort_arm, ort_neon, got None"),
    (
        {"a": np.int8([[1, 2]]), "b": np.uint8([[1], [2]]), "runtime": "ort"},
        TypeError,
        "a, b, .* no kernel for int8 by",
    ),
    ({"y_zero_point": np.int8(0), "runtime": "ort"}, TypeError, "a, b, y_zero_point: .* uint8 by int8 to int8"),
    (
        {"a_scale": ml_dtypes.bfloat16(1), "runtime": "ort"},
        TypeError,
        "a_scale: expected float32, float16, got bfloat16",
    ),
    (
        {"a": np.ones((2, 2), np.uint8), "a_scale": np.float32([1, 2]), "runtime": "ort"},
        ValueError,
        "a_scale: expected 1 value, got shape",
    ),
    (
        {"a": np.ones((2, 2), np.uint8), "a_zero_point": np.uint8([1, 2]), "runtime": "ort"},
        ValueError,
        "a_zero_point: expected 1 value, got shape",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_qlinear_matmul_refuses(changes, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        onnx.qlinear_matmul(**(GOOD | changes))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"A": GOOD["b"].astype(float)}, "A: expected uint8, int8, got float64"),
        ({"B": GOOD["a"]}, "A, B: shapes .* do not fit a matrix product"),
        ({"a_zero_point": np.uint8([[1, 2]])}, "a_zero_point: expected 1 value, or 1, one for each row"),
        ({"b_zero_point": 128}, "b_zero_point: expected an integer in"),
        ({"num_threads": 1.0}, "num_threads: expected an integer, got 1.0"),
    ],
)
def test_matmul_integer_refuses(changes, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        onnx.matmul_integer(**({"A": GOOD["a"], "B": GOOD["b"]} | changes))


class Refusing(np.ndarray):
    def __array_function__(self, *arguments):
        raise RuntimeError


@pytest.mark.parametrize("batch", [(), (3,)])
def test_an_out_that_refuses_functions_of_numpy_is_written(batch):
    a, b = np.full((*batch, 2, 3), 5, np.uint8), np.arange(6, dtype=np.uint8).reshape(3, 2)
    out = np.zeros((*batch, 2, 2), np.int32).view(Refusing)
    assert onnx.matmul_integer(a, b, out=out) is out
    equal(np.asarray(out), onnx.matmul_integer(a, b))


def test_batches_beyond_counting_are_refused():
    """Matrices without elements may be 2**40; a loop over them would not end."""
    one, many = np.ones((2, 3), np.uint8), np.empty((2**20, 2**20, 3, 0), np.uint8)
    with pytest.raises(
        ValueError, match=r"^B: expected at most 16777216 matrices, got a batch of \(1048576, 1048576\)"
    ):
        onnx.matmul_integer(one, many)
    with pytest.raises(ValueError, match=r"^A, B: expected at most 16777216 matrices"):
        onnx.matmul_integer(many.transpose(0, 1, 3, 2), one.T[None])
