"""QTensor: still a plain triple, with its scale and zero point."""

import copy
import itertools
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest
from cases import spans
from hypothesis import given
from qops._kernels.arrays.codes import code_type_of_dtype

import qops
from qops import QTensor, codes, tensorflow
from qops.qtensor import read_as


def test_qtensor_is_a_plain_triple():
    data = np.zeros(3, np.uint8)
    t = QTensor(data, -1.0, 1.0)
    assert isinstance(t, tuple)
    assert len(t) == 3
    assert t == (data, -1.0, 1.0)
    found, lo, hi = t
    assert found is data
    assert (lo, hi) == (-1.0, 1.0)
    assert QTensor._fields == ("data", "min", "max")


def test_qtensor_can_be_copied_and_pickled():
    t = qops.quantize([1.0, 2.0])
    for other in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert isinstance(other, QTensor)
        np.testing.assert_array_equal(other.data, t.data)
        assert other[1:] == t[1:]


@given(ends=spans(1e38))
def test_qtensor_scale_is_one_step(ends):
    t = QTensor(np.zeros(1, np.uint8), *ends)
    assert t.scale == (ends[1] - ends[0]) / 255
    top = max(map(abs, ends))
    assert QTensor(np.zeros(1, np.int32), -top, top).scale == 2 * top / 2**32


@pytest.mark.parametrize(
    ("lo", "hi", "zero_point"),
    [
        (-128.0, 127.0, 128),
        (0.0, 1.0, 0),
        (-1.0, 0.0, 255),
        (1.0, 2.0, 0),
        (-2.0, -1.0, 255),
        (3.0, 3.0, 0),
        (-3.0, 1.0, 191),
    ],
)
def test_qtensor_zero_point_is_the_code_nearest_to_zero(lo, hi, zero_point):
    assert QTensor(np.zeros(1, np.uint8), lo, hi).zero_point == zero_point
    assert QTensor(np.zeros(1, np.int32), -abs(hi), abs(hi)).zero_point == 0


@given(ends=spans(1e38))
def test_qtensor_zero_point_of_quantize_is_exact(ends):
    t = qops.quantize([0.0], *ends)
    assert t.zero_point == t.data[0]
    assert -t.zero_point * t.scale == pytest.approx(t.min, rel=2**-21)


def test_ops_take_any_triple_and_give_a_qtensor():
    codes = np.uint8([1, 2])
    for triple in (QTensor(codes, 0.0, 1.0), (codes, 0.0, 1.0), [codes, 0, 1], (codes, np.float32(0), np.float64(1))):
        for op in (qops.quantized_add_8p8to8, qops.quantized_add_8p8to32):
            t = op(triple, triple)
            assert isinstance(t, QTensor)
            assert isinstance(t.min, float)
            assert isinstance(t.max, float)
            np.testing.assert_array_equal(t.data, op((codes, 0.0, 1.0), (codes, 0.0, 1.0)).data)


# --- what it is not --------------------------------------------------------------------------------------------------

T = QTensor(np.uint8([1, 2, 255]), -1.0, 1.0)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda t: t + t, r"\+: use qops.quantized_add_8p8to8"),
        (lambda t: t + 1, r"\+: use qops.quantized_add_8p8to8"),
        (lambda t: t.__radd__([1]), r"\+: use qops.quantized_add_8p8to8"),
        (lambda t: sum([t, t]), r"\+: use qops.quantized_add_8p8to8"),
        (lambda t: t * 2, r"\*: use qops.quantized_mul_8x8to8"),
        (lambda t: 2 * t, r"\*: use qops.quantized_mul_8x8to8"),
        (lambda t: t - t, "-: use qops.quantized_sub_8p8to8"),
        (lambda t: 1.0 - t, "-: use qops.quantized_sub_8p8to8"),
        (lambda t: t / 2, "a QTensor is no array: take .data for its codes or .dequantize"),
        (lambda t: t // 2, "^/: a QTensor is no array"),
        (lambda t: t % 2, "^%: a QTensor is no array"),
        (lambda t: divmod(2, t), "^%: a QTensor is no array"),
        (lambda t: t**2, r"^\*\*: use qops.quantized_mul_8x8to8"),
        (lambda t: -t, r"^-, \+, abs: a QTensor is no array"),
        (abs, r"^-, \+, abs: a QTensor is no array"),
        (lambda t: 0 in t, "^in: a QTensor is no array"),
        (lambda t: t.count(0), "^count, index: a QTensor is no array"),
        (lambda t: t.index(0), "^count, index: a QTensor is no array"),
        (lambda t: t @ t, "@: use qops.matmul"),
        (lambda t: t < t, "<, >: compare the codes, t.data, or the real values, t.dequantize"),
        (lambda t: t >= 1.0, "<, >: compare the codes"),
        (lambda t: max(t, t), "<, >: compare the codes"),
        (np.asarray, "a QTensor is no array: take .data"),
        (np.array, "a QTensor is no array: take .data"),
        (np.exp, "np.exp: a QTensor is no array"),
        (np.max, "np.max: a QTensor is no array"),
        (np.sum, "np.sum: a QTensor is no array"),
        (lambda t: np.add(t, 1), "np.add: a QTensor is no array"),
        (lambda t: np.ones(3) * t, "np.multiply: a QTensor is no array"),
        (lambda t: np.float32(2) * t, r"(np.multiply: a QTensor is no array|\*: use)"),
        (lambda t: np.concatenate([t, t]), "np.concatenate: a QTensor is no array"),
        (qops.quantize, "x: expected an array, got QTensor: a QTensor is no array"),
        (lambda t: qops.multiply_shift(t, 0.5), "x: expected an array, got QTensor"),
        (lambda t: qops.error(t, t), "reference: expected an array, got QTensor"),
        (hash, "unhashable type"),
    ],
)
def test_what_an_array_would_do_is_refused(wrong, text):
    with pytest.raises(TypeError, match=text):
        wrong(T)


def test_equality_is_one_answer():
    same = QTensor(T.data.copy(), -1.0, 1.0)
    assert same == T
    assert not operator.ne(same, T)
    assert tuple(same) == T
    others = [
        QTensor(T.data + np.uint8(1), -1.0, 1.0),
        QTensor(T.data, -1.0, 2.0),
        QTensor(T.data[:2], -1.0, 1.0),
        QTensor(T.data.astype(np.int16), -1.0, 1.0),
        read_as("u8_narrow")(*T),
        (T.data.tolist(), -1.0, 1.0),
        (1, 2),
        None,
    ]
    for other in others:
        assert other != T
        assert not operator.eq(other, T)
    channels = qops.quantize(np.eye(3), axis=0)
    assert channels == qops.quantize(np.eye(3), axis=0)
    assert channels != qops.quantize(np.eye(3) * 2, axis=0)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((T.data, 2.0, 1.0), "QTensor: min 2.0 > max 1.0"),
        ((T.data, float("nan"), 1.0), "QTensor: .*nan.* is not finite"),
        ((T.data, 0.0, float("inf")), "QTensor: .*inf.* is not finite"),
        ((T.data, "0", 1.0), "QTensor min: expected a number, got '0'"),
        ((T.data, np.ma.masked, 1.0), "QTensor min: expected a number, got masked"),
        ((T.data, 0.0, 10**10_000), "QTensor max: an integer of 33220 bits is beyond every float"),
        ((np.int32([1]), -1.0, 2.0), "QTensor: .* of int32 codes is not symmetric, min == -max"),
        ((np.float32([1]), -1.0, 2.0), "QTensor: expected uint8, int8, uint16, int16 or int32 data, got float32"),
        ((None, -1.0, 2.0), "QTensor: expected an array, got None"),
        (
            (T.data, np.zeros(2), np.ones(2)),
            r"QTensor: min and max, shapes \(2,\) and \(2,\), do not fit the data's \(3,\)",
        ),
        ((T.data, np.zeros(3), -np.ones(3)), "QTensor: has a range with min > max"),
    ],
)
def test_a_tensor_that_is_wrong_is_refused_when_it_is_made(parts, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        QTensor(*parts)
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        T._replace(**dict(zip(("data", "min", "max"), parts, strict=True)))
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        QTensor._make(parts)


def test_shape_values_and_rows():
    assert T.shape == (3,)
    np.testing.assert_array_equal(T.dequantize(), qops.dequantize(T))
    assert T.code_type is codes.TABLE["u8"]
    assert repr(T) == "QTensor(data=array([  1,   2, 255], dtype=uint8), min=-1.0, max=1.0)"


@pytest.mark.parametrize("row", codes.TABLE.values(), ids=lambda row: row.name)
def test_every_row_reads_its_codes_as_its_formula_says(row):
    """Min + (q - lowest) * step, or q * step: the values, the scale and the error, all of one step."""
    ends = (-3.0, 3.0) if row.symmetric else (-3.0, 2.1)
    wide = np.linspace(row.lowest, row.highest, 300).round().astype(row.dtype)
    t = read_as(row.name)(wide, *ends)
    step = Fraction(float(np.float32(ends[1]))) - Fraction(float(np.float32(ends[0])))
    step /= row.steps
    base = 0 if row.symmetric else Fraction(float(np.float32(ends[0]))) - row.lowest * step
    exact = [float(int(q) * step + base) for q in wide]
    assert t.scale == pytest.approx(float(step), rel=1e-15)
    np.testing.assert_allclose(t.dequantize(), exact, rtol=0, atol=3 * 2.0**-20)
    report = qops.error(t, exact)
    assert report.lsb == t.scale
    assert report.max <= min(0.5, (row.steps + 1) * 2.0**-23)
    assert row.lowest <= t.zero_point <= row.highest
    assert abs(t.zero_point * step + base) <= step / 2


def test_a_row_of_its_own_is_kept_and_minded():
    t = read_as("u8_narrow")(np.uint8([1, 255]), 0.0, 254.0)
    assert isinstance(t, QTensor)
    assert t.scale == 1.0
    assert qops.dequantize(t).tolist() == [0.0, 254.0]
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert other == t
        assert other.code_type is t.code_type
    with pytest.raises(TypeError, match=r"^a: code type u8_narrow is not supported here; dequantize first"):
        qops.quantized_add_8p8to8(t, T)
    with pytest.raises(TypeError, match=r"^a: has a range per channel, this op takes one "):
        qops.quantized_add_8p8to8(qops.quantize(np.eye(3), axis=0), T)


def test_quantize_v2_returns_tensors_that_know_their_step():
    x = np.linspace(-1, 1, 1001, dtype=np.float32)
    for T_, mode, narrow in itertools.product(
        ("quint8", "qint8", "quint16", "qint16", "qint32"), ("MIN_COMBINED", "SCALED"), (False, True)
    ):
        t = tensorflow.quantize_v2(x, -1.0, 1.0, T_, mode, narrow_range=narrow and mode == "SCALED")
        inside = (x >= max(0.0, t.min)) & (x < 0.99)
        kind = codes.TABLE[t.code_type.name]
        report = qops.error(read_as(kind.name)(t.data[inside], t.min, t.max), x[inside])
        assert report.max <= (0.51 if "8" in T_ else 0.6 if "16" in T_ else 2**9), (T_, mode, narrow)
    t = tensorflow.quantize_v2(x, -1.0, 1.0, "qint8", "SCALED", "HALF_TO_EVEN", onednn=True)
    assert t.scale == 2 / 255
    assert qops.error(t, x).max <= 0.51


def test_triples_are_tuples_or_lists():
    for wrong in (itertools.count(), iter(T), {1: 2, 3: 4, 5: 6}, "abc", range(3)):
        with pytest.raises(TypeError, match=r"^t: expected a \(data, min, max\) triple, got "):
            qops.dequantize(wrong)


def test_what_another_library_refuses_is_refused_by_name():
    class Foreign:
        def __array__(self, *_, **__):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    with pytest.raises(TypeError, match=r"^x: expected an array, got Foreign: Can't call numpy"):
        qops.quantize(Foreign())


def test_out_of_a_subclass_runs_no_code_of_its_own():
    """Not even where it must be compared with an input between whose elements it lies."""

    class Spy(np.ndarray):
        def __array_function__(self, *_):
            raise AssertionError

    memory = np.zeros((8, 8), np.uint8)
    codes, out = memory[:, 4], memory.view(np.float32)[:, 0].view(Spy)
    assert qops.dequantize((codes, 1.0, 2.0), out=out) is out
    assert (out == 1).all()
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        qops.dequantize((memory[:, 3], 1.0, 2.0), out=out)


def test_named_tuples_made_quickly_hash_as_tuples():
    """They are made past tuple's own constructor, which from Python 3.14 on keeps a hash in the tuple."""
    t = qops.quantize([1.0, 2.0])
    _, info = qops.quantized_add_8p8to8(t, t, return_info=True)
    assert hash(info) == hash(tuple(info)) == hash(info)


def test_kernels_know_the_rows_that_a_dtype_means_by_itself():
    """They have a table of their own, which they read without Python."""
    for dtype in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?":
        got = code_type_of_dtype(np.zeros(1, dtype))
        try:
            row = codes.of_dtype(dtype)
        except TypeError:
            assert got["steps"] == 0, dtype
        else:
            assert got == {name: getattr(row, name) for name in ("lowest", "highest", "steps", "symmetric")}
