"""`qops.nnlib` pad, strided slice and split beside numpy, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qops import nnlib

X = np.arange(120, dtype=np.uint8).reshape(2, 3, 4, 5)


def test_pads_are_those_of_numpy():
    for pads in ([], [[1, 2]], [[0, 1], [2, 0], [1, 1], [3, 0]]):
        every = [[0, 0]] * (4 - len(pads)) + pads
        t = nnlib.quantized_pad_8((X, -1.0, 2.0), np.reshape(pads, (-1, 2)).astype(int), 0.5)
        np.testing.assert_array_equal(t.data, np.pad(X, every, constant_values=128))
        assert (t.min, t.max) == (-1.0, 2.0)


@pytest.mark.parametrize(("value", "code"), [(0.0, 85), (2.02, 255), (-1.02, 0), (np.inf, 255), (-np.inf, 0), (1, 170)])
def test_what_stands_around(value, code):
    assert nnlib.quantized_pad_8((X, -1.0, 2.0), [[0, 1]], value).data[0, 0, 0, -1] == code


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": 2.1}, r"value: 2\.09.* is code 264 of the range"),
        ({"value": -1.1}, "value: -1.10.* is code -9 of the range"),
        ({"value": np.nan}, "value: nan is not"),
        ({"pads": [[1, -1]]}, "pads: expected an integer in"),
        ({"pads": [[1, 1]] * 5}, "pads: expected"),
        ({"pads": [1, 1]}, "pads: expected"),
        ({"pads": [[1.0, 1.0]]}, "pads: expected"),
        ({"t": (X[:0], 0.0, 1.0)}, "t, pads: a result of shape"),
    ],
)
def test_refusals_of_pad_are_named(change, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        nnlib.quantized_pad_8(**{"t": (X, -1.0, 2.0), "pads": [[1, 1]]} | change)


places = st.tuples(*[st.integers(-6, 6)] * 4)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    start=places,
    stop=places,
    step=st.tuples(*[st.sampled_from([-2, -1, 1, 2])] * 4),
    masks=st.tuples(*[st.integers(0, 15)] * 3),
)
def test_slices_are_those_of_python_where_they_are_within(start, stop, step, masks):
    """What is refused has an axis without codes, or one that Python would have to cut."""
    chosen, shape, is_within = [], [], True
    for axis, size in enumerate(X.shape):
        begins, ends, shrinks = (bool(mask >> axis & 1) for mask in masks)
        first, last, by = start[axis], stop[axis], step[axis]
        first = first if first >= 0 else max(0, first + size)
        last = last if last >= 0 else max(-1, last + size)
        if begins and not shrinks:
            first = 0 if by > 0 else size - 1
        if ends:
            last = size if by > 0 else -1
        found = [first] if shrinks else [*range(first, last, by)]
        is_within &= bool(found) and all(0 <= i < size for i in found)
        chosen.append(found)
        shape += [] if shrinks else [len(found)]
    if not is_within:
        with pytest.raises(ValueError, match=r"^start, stop: .*, which the original refuses$"):
            nnlib.quantized_strided_slice_8((X, 0.0, 1.0), start, stop, step, *masks)
        return
    t = nnlib.quantized_strided_slice_8((X, 0.0, 1.0), start, stop, step, *masks)
    np.testing.assert_array_equal(t.data, X[np.ix_(*chosen)].reshape([1] * (4 - len(shape)) + shape))


def test_axes_that_are_not_named_are_taken_whole():
    np.testing.assert_array_equal(nnlib.quantized_strided_slice_8((X, 0.0, 1.0), [1], [4], [2]).data, X[..., 1:4:2])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"step": [0]}, ValueError, "step: expected integers other than 0"),
        ({"stop": [1, 2]}, ValueError, "stop: expected 1 integers"),
        ({"start": [0] * 5}, ValueError, "start: expected up to four"),
        ({"start": 0}, TypeError, "start: expected"),
        ({"end_mask": 16}, ValueError, "end_mask: expected an integer in"),
        ({"t": (X[0], 0.0, 1.0)}, ValueError, "t: expected four axes"),
    ],
)
def test_refusals_of_slices_are_named(change, error, message):
    with pytest.raises(error, match=f"^{message}"):
        nnlib.quantized_strided_slice_8(**{"t": (X, 0.0, 1.0), "start": [0], "stop": [2], "step": [1]} | change)


def test_parts_are_those_of_numpy_and_own_their_codes():
    for axis, parts in ((0, 2), (1, 3), (-1, 5), (2, 1)):
        found = nnlib.quantized_split_8((X, -1.0, 2.0), axis, parts)
        for t, want in zip(found, np.split(X, parts, axis), strict=True):
            np.testing.assert_array_equal(t.data, want)
            assert (t.min, t.max) == (-1.0, 2.0)
            assert not np.shares_memory(t.data, X)


@pytest.mark.parametrize(
    ("axis", "parts", "message"),
    [(4, 1, "axis: expected"), (1, 0, "parts: expected"), (1, 2, "parts: 2 do not divide")],
)
def test_refusals_of_split_are_named(axis, parts, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.quantized_split_8((X, 0.0, 1.0), axis, parts)
