"""One axis of a window against loops over places and taps."""

import copy
import itertools
import sys

import pytest
from qops._kernels.arrays.axis import Axis

MOVES = [*itertools.product((1, 2, 5), (1, 2, 3), (1, 3), (0, 2), (0, 3), (0, 1, 4, 7))]
"""kernel, stride, dilation, before, after, size."""


def taps_of(axis):
    """The taps of each place, by their pixels, which may lie on the padding."""
    kernel, stride, dilation = axis.kernel, axis.stride, axis.dilation
    firsts = range(-axis.before, axis.size + axis.after, stride)
    found = [[first + t * dilation for t in range(kernel)] for first in firsts]
    return [taps for taps in found if taps[-1] < axis.size + axis.after]


@pytest.mark.parametrize("numbers", MOVES, ids=str)
def test_places_and_taps(numbers):
    axis = Axis(*numbers)
    assert (axis.kernel, axis.stride, axis.dilation, axis.before, axis.after, axis.size) == numbers
    every = taps_of(axis)
    assert axis.positions == len(every)
    assert axis.slack == axis.padded - axis.span
    for tap in range(axis.kernel):
        places, pixels = axis.seen(tap)
        inside = [(i, taps[tap]) for i, taps in enumerate(every) if 0 <= taps[tap] < axis.size]
        assert [*zip(range(1000)[places], range(1000)[pixels], strict=True)] == inside


@pytest.mark.parametrize("numbers", [*itertools.product((1, 2, 4), (1, 2, 3), (1, 2), (0, 1, 5, 8))], ids=str)
def test_same_makes_a_place_for_each_stride(numbers):
    kernel, stride, dilation, size = numbers
    axis, count = Axis(kernel, stride, dilation, 9, 9), -(-size // stride)
    total = (count - 1) * stride + (kernel - 1) * dilation + 1 - size
    for odd_first, cuts in itertools.product((False, True), (False, True)):
        same = axis.same(size, odd_first, cuts)
        padding = total if cuts else max(0, total)
        assert same.positions == count, "though its padding is not that of `axis`"
        assert (same.before, same.after) == (int((padding + odd_first) / 2), padding - int((padding + odd_first) / 2))
        assert (same.size, same.kernel, same.stride, same.dilation) == (size, kernel, stride, dilation)


def test_an_axis_of_more_pixels_than_memory_has_no_place():
    most = sys.maxsize
    far = Axis(9, 1, most).same(5)
    assert (far.before + far.after, far.positions) == (most - 6, 0)
    assert Axis(3, 1, most // 2).over(5).positions == 0


def test_an_axis_is_copied_with_its_places():
    axis = Axis(3, 2, 1, 1, 0, 7)
    assert (axis.positions, axis.over(3).positions, axis.placed(5).positions) == (3, 1, 5)
    twin = copy.copy(axis.placed(5))
    assert (twin.kernel, twin.stride, twin.before, twin.size, twin.positions) == (3, 2, 1, 7, 5)
