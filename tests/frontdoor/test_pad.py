"""pad: the shape and the codes of every form of widths, values next to ties within the bound, and what it refuses."""

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.frontdoor.pad import BOUND_PAD

CODES = {"uint8": np.uint8([[[1, 255, 7], [0, 128, 9]]]), "int8": np.int8([[[1, -128, 7], [0, 127, -9]]])}
U8 = CODES["uint8"]


def check(codes, ends, pairs, value, widths=None):
    t = on_every_tier(qops.pad, (codes, *ends), pairs if widths is None else widths, value)
    wanted = reference.pad(codes, pairs, value, *ends)
    assert (t.min, t.max, t.data.dtype, t.shape) == (*ends, codes.dtype, wanted.shape)
    assert reference.farthest(t.data, wanted) <= BOUND_PAD


FORMS = {
    "one number": (2, ((2, 2),) * 3),
    "one number in a list": ([2], ((2, 2),) * 3),
    "a pair": ((0, 3), ((0, 3),) * 3),
    "a pair each": (((1, 2), (0, 0), (3, 1)), ((1, 2), (0, 0), (3, 1))),
    "a number each": ([[1], [0], [2]], ((1, 1), (0, 0), (2, 2))),
    "an array": (np.int16([[1, 2], [0, 0], [3, 1]]), ((1, 2), (0, 0), (3, 1))),
}


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize(("widths", "pairs"), FORMS.values(), ids=FORMS)
def test_pad_takes_widths_as_numpy_does(widths, pairs, dtype):
    codes = CODES[dtype]
    check(codes, (-1.0, 1.5), pairs, 0.25, widths)
    t = qops.pad((codes, -128.0, 127.0), widths)
    zero = 0 if dtype == "int8" else 128
    np.testing.assert_array_equal(t.data, np.pad(codes, widths, constant_values=zero))


RANGES = {f"{name} {which}": rounded(*pair[which]) for name, pair in RANGE_PAIRS.items() for which in (0, 1)}


@pytest.mark.parametrize("ends", RANGES.values(), ids=RANGES)
def test_pad_of_any_range_within_bound(ends):
    for codes in CODES.values():
        for share in (0.0, 0.5, 0.001, 0.7, 1.0):
            check(
                codes, ends, ((1, 0), (0, 1), (2, 0)), min(max(ends[0] + share * (ends[1] - ends[0]), ends[0]), ends[1])
            )


@given(ends=spans(), share=st.floats(0, 1), dtype=st.sampled_from([*CODES]))
def test_pad_with_any_value_within_bound(ends, share, dtype):
    value = min(max(ends[0] * (1 - share) + share * ends[1], ends[0]), ends[1])
    check(CODES[dtype], ends, ((0, 1), (0, 0), (1, 0)), value)


def test_pad_rounds_ties_to_even():
    for value, code in ((0.5, 0), (1.5, 2), (2.5, 2), (254.5, 254)):
        assert qops.pad((U8, 0.0, 255.0), 1, value).data[0, 0, 0] == code
        assert qops.pad((U8.view(np.int8), 0.0, 255.0), 1, value).data[0, 0, 0] == code - 128


def test_pad_of_zeros_is_exact_after_quantize():
    t = qops.quantize(np.random.default_rng(2).normal(size=(3, 4)))
    np.testing.assert_array_equal(qops.pad(t, 2).dequantize(), np.pad(t.dequantize(), 2))


def test_pad_of_a_single_element_and_of_none():
    assert qops.pad((np.uint8(7), 0.0, 1.0), 3).data == 7
    assert qops.pad((np.uint8([]), 0.0, 255.0), (1, 2), 9.0).data.tolist() == [9, 9, 9]


T = U8, -1.0, 1.0


@pytest.mark.parametrize(
    ("t", "widths", "words", "text"),
    [
        ((U8.astype(np.int32), -1.0, 1.0), 1, {}, "t: expected uint8 or int8 data, got int32"),
        (qops.quantize(np.eye(3), axis=0), 1, {}, "t: has a range per channel"),
        (T, None, {}, "widths: expected an array, got None"),
        (T, 1.0, {}, "widths: expected integers, got float64"),
        (T, True, {}, "widths: expected integers, got bool"),
        (T, -1, {}, "widths: expected at least 0, got -1"),
        (T, ((1, 2), (3, 4)), {}, r"widths: expected what broadcasts to shape \(3, 2\), got shape \(2, 2\)"),
        (T, [[1, 2], [3]], {}, "widths: expected an array, got list"),
        (T, 2**61, {}, "widths: a result of shape .* is too large"),
        (T, 1, {"value": 1.5}, r"value: 1.5 is outside the range \(-1.0, 1.0\) of t"),
        ((U8, 1.0, 2.0), 1, {}, r"value: 0.0 is outside the range \(1.0, 2.0\) of t"),
        (T, 1, {"value": np.nan}, "value: nan is not finite"),
        (T, 1, {"value": "0"}, "value: expected a number"),
        (T, 0, {"out": U8}, "out: shares memory"),
        (T, 1, {"out": np.empty((3, 4, 4), np.uint8)}, "out: shape"),
        (T, 1, {"out": np.empty((3, 4, 5), np.int8)}, "out: expected native uint8"),
    ],
)
def test_pad_refuses(t, widths, words, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.pad(t, widths, **words)
