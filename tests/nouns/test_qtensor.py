"""QTensor: still a plain triple, with its scale and zero point."""

import copy
import pickle

import numpy as np
import pytest
from cases import spans
from hypothesis import given

import qops
from qops import QTensor


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
