"""QTensor: codes, their range and their code type, with scale and zero point."""

import copy
import itertools
import operator
import pickle

import numpy as np
import pytest
from cases import spans
from hypothesis import given

import qops
from qops import QTensor, codes, nnlib, tensorflow

T = QTensor(np.uint8([1, 2, 255]), -1.0, 1.0)


def test_qtensor_unpacks_and_does_not_change():
    data = np.zeros(3, np.uint8)
    t = QTensor(data, -1, np.float64(1))
    found, lo, hi = t
    assert found is t.data is data
    assert (lo, hi) == (t.min, t.max) == (-1.0, 1.0)
    assert type(lo) is type(hi) is float
    assert (t.shape, t.dtype, t.code_type) == ((3,), np.uint8, codes.TABLE["u8"])
    for name in ("data", "min", "max", "code_type", "_own", "scale", "more"):
        with pytest.raises(AttributeError):
            setattr(t, name, 0)
    assert t == QTensor(*t)


@pytest.mark.parametrize("t", [qops.quantize([1.0, 2.0]), qops.quantize(np.eye(3), axis=0)], ids=["one", "channels"])
def test_qtensor_can_be_copied_and_pickled(t):
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(other) is QTensor
        assert other == t
    assert copy.deepcopy(t).data is not t.data


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


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda t: t + t, r"unsupported operand type\(s\) for \+: 'QTensor' and 'QTensor'"),
        (lambda t: t + 1, r"unsupported operand type\(s\) for \+"),
        (lambda t: sum([t, t]), r"unsupported operand type\(s\) for \+"),
        (lambda t: 2 * t, r"unsupported operand type\(s\) for \*"),
        (lambda t: t @ t, "unsupported operand type"),
        (lambda t: -t, "bad operand type"),
        (len, "has no len"),
        (float, "float.. argument must be"),
        (lambda t: t[0], "not subscriptable"),
        (lambda t: 0 in t, "not a container"),
        (lambda t: t < t, "'<' not supported"),
        (lambda t: max(t, t), "'>' not supported"),
        (np.asarray, "a QTensor is no array: take .data"),
        (np.array, "a QTensor is no array: take .data"),
        (np.exp, "np.exp: a QTensor is no array"),
        (np.max, "np.max: a QTensor is no array"),
        (np.sum, "np.sum: a QTensor is no array"),
        (lambda t: np.add(t, 1), "np.add: a QTensor is no array"),
        (lambda t: np.ones(3) * t, "np.multiply: a QTensor is no array"),
        (lambda t: np.float32(2) * t, r"np.multiply: a QTensor is no array"),
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
    others = [
        tuple(T),
        QTensor(T.data + np.uint8(1), -1.0, 1.0),
        QTensor(T.data, -1.0, 2.0),
        QTensor(T.data[:2], -1.0, 1.0),
        QTensor(T.data.astype(np.int16), -1.0, 1.0),
        QTensor(*T, "u8_narrow"),
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
        ((T.data, 2.0, 1.0), "min, max: min 2.0 > max 1.0"),
        ((T.data, float("nan"), 1.0), r"min, max: the range \(nan, 1.0\) is not finite in float32"),
        ((T.data, 0.0, 1e39), r"min, max: the range \(0.0, 1e\+39\) is not finite in float32"),
        ((T.data, "0", 1.0), "min: expected a number, got '0'"),
        ((T.data, np.ma.masked, 1.0), "min: expected a number, got masked"),
        ((T.data, 0.0, 10**10_000), "max: an integer of 33220 bits is beyond every float"),
        ((np.int32([1]), -1.0, 2.0), "min, max: .* of int32 codes is not symmetric, min == -max"),
        ((np.int32([1]), -1.0, 2.0, "s32"), "min, max: .* of int32 codes is not symmetric, min == -max"),
        ((np.float32([1]), -1.0, 2.0), "data: expected uint8, int8, uint16, int16, int32 codes, got float32"),
        ((None, -1.0, 2.0), "data: expected an array, got None"),
        (
            (T.data, np.zeros(2), np.ones(2)),
            r"min, max: shapes \(2,\) and \(2,\) of min and max do not fit the data's \(3,\)",
        ),
        ((T.data, np.zeros(3), -np.ones(3)), "min, max: has a range with min > max"),
        ((T.data, -1.0, 1.0, "u4"), "code_type: expected one of u8, s8, .*, got 'u4'"),
        ((T.data, -1.0, 1.0, None, 1), "QTensor.__new__.. takes from 4 to 5 positional arguments"),
        ((T.data, -1.0, 1.0, 3), "code_type: expected one of u8, s8, .*, got 3"),
        ((T.data, -1.0, 1.0, "s8_narrow"), "code_type: s8_narrow is of int8 codes, got uint8 data"),
    ],
)
def test_a_tensor_that_is_wrong_is_refused_when_it_is_made(parts, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        QTensor(*parts)


@pytest.mark.parametrize(
    "t",
    [
        T,
        QTensor(np.int16([[1, -2], [3, 4]]), [[0.1], [0.0]], [[0.3], [7.0]]),
        QTensor(np.int8([-127]), -1.0, 1.0, "s8_narrow"),
        QTensor(np.uint16(7), 0.1, 0.3),
        QTensor(np.uint8([]), 0.0, 0.3),
        QTensor(np.array([1, 2], ">i2"), 0.0, 0.3),
    ],
    ids=lambda t: t.code_type.name,
)
def test_repr_is_what_makes_it(t):
    again = eval(repr(t), {"np": np, "QTensor": QTensor})
    assert again == t
    assert again.shape == t.shape


def test_repr_of_many_codes_tells_their_shape():
    assert repr(T) == "QTensor(np.uint8([1, 2, 255]), -1.0, 1.0)"
    assert repr(QTensor(T.data, -1.0, 1.0, "u8_narrow")) == "QTensor(np.uint8([1, 2, 255]), -1.0, 1.0, 'u8_narrow')"
    assert repr(QTensor(np.zeros((5, 4), np.int8), 0.0, 1.0)) == "QTensor(<int8 (5, 4)>, 0.0, 1.0)"
    assert repr(QTensor(np.zeros((0, 4), np.int8), 0.0, 1.0)) == "QTensor(<int8 (0, 4)>, 0.0, 1.0)"


def test_a_row_of_its_own_is_kept_and_minded():
    t = QTensor(np.uint8([1, 255]), 0.0, 254.0, "u8_narrow")
    assert t.scale == 1.0
    assert qops.dequantize(t).tolist() == [0.0, 254.0]
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert other == t
        assert other.code_type is t.code_type
    with pytest.raises(TypeError, match=r"^a: code type u8_narrow is not supported here; dequantize first"):
        qops.quantized_add_8p8to8(t, T)
    for unpack in (lambda: QTensor(*t), lambda: tuple(t)):
        with pytest.raises(TypeError, match=r"^data, min and max do not tell that its codes are u8_narrow: take .data"):
            unpack()
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
        report = qops.error(QTensor(t.data[inside], t.min, t.max, kind), x[inside])
        assert report.max <= (0.51 if "8" in T_ else 0.6 if "16" in T_ else 2**9), (T_, mode, narrow)
    narrow = tensorflow.quantize_v2(np.float32([0]), -1, 1, T="qint8", narrow_range=True, mode="SCALED")
    assert repr(narrow) == "QTensor(np.int8([0]), -1.0, 1.0, 's8_narrow')"
    wide = nnlib.requantize_32to16((np.int32([0]), -1.0, 1.0), -1.0, 1.0)
    assert repr(wide) == "QTensor(np.int16([0]), -1.0, 1.0, 's16_balanced')"
    for t in (narrow, wide):
        assert t.dequantize().tolist() == [0.0]
        with pytest.raises(TypeError, match=r"^data, min and max do not tell"):
            QTensor(*t)
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
    t = qops.quantize([1.0, 2.0])
    _, info = qops.quantized_add_8p8to8(t, t, return_info=True)
    assert hash(info) == hash(tuple(info)) == hash(info)


@pytest.mark.parametrize("lo", [0.0, 0, np.float32(0), np.zeros(()), np.zeros(1, np.float32)])
def test_data_that_stand_last_are_told(lo):
    codes = np.uint8([1, 2])
    with pytest.raises(TypeError, match=r"^t: expected \(data, min, max\), got \(min, max, data\)$"):
        qops.dequantize((lo, 1.0, codes))
    with pytest.raises(TypeError, match=r"^b: expected \(data, min, max\), got \(min, max, data\)$"):
        qops.add((codes, 0.0, 1.0), [lo, 1.0, codes])
    with pytest.raises(TypeError, match=r"^data: expected \(data, min, max\), got \(min, max, data\)$"):
        QTensor(lo, 1.0, codes)
    assert qops.dequantize((codes, 0, np.array([255]))).tolist() == [1.0, 2.0]
