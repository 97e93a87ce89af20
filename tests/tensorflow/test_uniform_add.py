"""`uniform_quantized_add`, `uniform_quantized_clip_by_value`: twins, broadcasting, slices, bad input."""

import tracemalloc

import numpy as np
import pytest
import reference_tensorflow_uniform as twin

from qops.tensorflow import uniform_quantized_add, uniform_quantized_clip_by_value

EDGES = [0, 1, -1, 2**24 + 1, 2**31 - 1, 2**31 - 64, 2**31 - 65, -(2**31), -(2**31) + 64]
ENDS = (-(2**31), 2**31 - 1)
SCALES = [(1.0, 1.0, 1.0), (0.5, 0.25, 0.5), (0.125, 0.375, 0.0625), (1e-3, 10.0, 1.0), (1e4, 1.0, 1e-6)]


def some_codes(rng, count):
    wide = rng.integers(-(2**31), 2**31, count) >> rng.integers(0, 31, count)
    return np.concatenate([wide, EDGES]).astype(np.int32)


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("zeros", [(0, 0, 0), (1, -2, 4), (2**31 - 1, 5, -(2**31))], ids=str)
def test_add_matches_twin(rng, scales, zeros):
    one, other, last = (float(np.float32(scale)) for scale in scales)
    a, b = some_codes(rng, 60), rng.permutation(some_codes(rng, 60))
    ends = (-1_000_000, 2**31 - 1)
    want = [twin.add(*pair, (one / last, other / last), zeros[:2], zeros[2], *ends) for pair in zip(a, b, strict=True)]
    got = uniform_quantized_add(a, b, one, zeros[0], other, zeros[1], last, zeros[2], *ends)
    np.testing.assert_array_equal(got, np.array(want, np.int32), strict=True)


@pytest.mark.parametrize("shapes", [((3, 1), (1, 4)), ((2, 3), ()), ((4,), (2, 3, 4)), ((0, 3), (1,))], ids=str)
def test_add_broadcasts(rng, shapes):
    a, b = (rng.integers(-900, 900, shape).astype(np.int32) for shape in shapes)
    got = uniform_quantized_add(a, b, 1.0, 3, 2.0, 5, 1.0, 7)
    np.testing.assert_array_equal(got, a - 3 + 2 * (b - 5) + 7)


@pytest.mark.parametrize(("axes", "shapes"), [((2, 0, 2), ((2, 3, 4), (4,))), ((1, -1, 1), ((2, 3, 4), (1, 3, 1)))])
def test_add_of_slices(rng, axes, shapes):
    a, b = (rng.integers(-900, 900, shape).astype(np.int32) for shape in shapes)
    n = a.shape[axes[2]]
    scales = [rng.integers(1, 9, n if axis >= 0 else ()) / 4 for axis in axes]
    zeros = [rng.integers(-9, 9, n if axis >= 0 else ()) for axis in axes]
    named = {}
    for name, axis, scale, zero in zip(("lhs", "rhs", "output"), axes, scales, zeros, strict=True):
        named |= {f"{name}_scales": scale, f"{name}_zero_points": zero, f"{name}_quantization_axis": axis}
    got = uniform_quantized_add(a, b, **named)
    wide = np.broadcast_to(b, a.shape)
    for i in range(n):
        at = [np.ravel(v)[i if np.ndim(v) else 0].item() for pair in zip(scales, zeros, strict=True) for v in pair]
        part = uniform_quantized_add(a.take(i, axes[2]), wide.take(i, axes[2]), *at)
        np.testing.assert_array_equal(got.take(i, axes[2]), part)


def test_add_of_operands_with_slices_and_an_output_without(rng):
    a, b = rng.integers(-900, 900, (2, 3, 4)).astype(np.int32), rng.integers(-900, 900, (3, 1)).astype(np.int32)
    options = {"lhs_quantization_axis": 0, "rhs_quantization_axis": 0}
    got = uniform_quantized_add(a, b, [1.0, 2.0], [3, 4], [1.0, 2.0, 4.0], [0, 1, 2], 1.0, 5, **options)
    left = (a - np.int32([3, 4])[:, None, None]) * np.int32([1, 2])[:, None, None]
    right = (b - np.int32([[0], [1], [2]])) * np.int32([[1], [2], [4]])
    np.testing.assert_array_equal(got, left + right + 5)


def test_add_of_slices_subtracts_zero_points_in_64_bits(rng):
    a, b = some_codes(rng, 20), some_codes(rng, 20)
    zeros, scales = (2**31 - 1, -(2**31)), [float(np.float32(0.3)), float(np.float32(0.01))]
    arguments = [[scales[0]], [zeros[0]], [scales[1]], [zeros[1]], [1.0], [5]]
    axes = {f"{name}_quantization_axis": 0 for name in ("lhs", "rhs", "output")}
    got = uniform_quantized_add(a[None], b[None], *arguments, **axes)
    want = [twin.add(*pair, scales, zeros, 5, *ENDS, is_slice=True) for pair in zip(a, b, strict=True)]
    assert got[0].tolist() == want


def test_the_only_slice_of_an_operand_goes_to_the_first_scale_of_the_output():
    axes = {f"{name}_quantization_axis": 0 for name in ("lhs", "rhs", "output")}
    two, one = np.int32([0, 0]), np.int32([8])
    got = uniform_quantized_add(two, one, [1.0] * 2, [0] * 2, [1.0], [0], [1.0, 4.0], [0, 0], **axes)
    assert got.tolist() == [8, 8]


def test_terms_are_read_as_float32():
    assert uniform_quantized_add(np.int32([2**23 + 1]), np.int32([1]), 4.0, 0, 1.0, 0, 1.0, 0).item() == 2**25 + 5
    assert (
        uniform_quantized_add(np.int32([2**23 + 1]), np.int32([1]), 4.5, 0, 1.0, 0, 1.0, 0).item() == 2**25 + 2**22 + 5
    )


def test_crossed_ends():
    codes = np.int32([3, 4, 5, 6, 7])
    assert uniform_quantized_add(codes, np.int32(0), *ONE, 6, 4).tolist() == [6, 6, 6, 4, 4]


A = np.int32([[1, 2, 3], [4, 5, 6]])
ONE = [1.0, 0, 1.0, 0, 1.0, 0]
ROWS = [[1.0] * 2, [0] * 2]
BAD = [
    ((A, A[0, :2], *ONE), {}, "lhs, rhs: Cannot Add tensors of shapes"),
    ((A, A, 0.0, *ONE[1:]), {}, "lhs_scales: lhs/rhs/output scales elements must be all positive"),
    ((A, A, *ONE[:4], 0.0, 0), {}, "output_scales: lhs/rhs/output scales elements must be all positive"),
    ((A.astype(np.int8), A, *ONE), {}, "lhs: expected int32 data, got int8"),
    ((A, A, *ONE), {"lhs_quantization_axis": -2}, "lhs_quantization_axis: must be -1 or in range"),
    (
        (A, A, *ONE[:4], *ROWS),
        {"output_quantization_axis": 0},
        "lhs_quantization_axis: per-axis output of a per-tensor",
    ),
    (
        (A, A, *ROWS, *ONE[:2], *[[1.0] * 3, [0] * 3]),
        {"lhs_quantization_axis": 0, "output_quantization_axis": 1},
        "lhs_quantization_axis: If lhs and output is both",
    ),
    (
        (A, A, *ROWS, *[[1.0] * 3, [0] * 3], *ROWS),
        {"lhs_quantization_axis": 0, "rhs_quantization_axis": 1, "output_quantization_axis": 0},
        "rhs_quantization_axis: If rhs and output is both",
    ),
    (
        (A, A[:1], *ROWS, *ONE[:2], *ROWS),
        {"lhs_quantization_axis": 0, "output_quantization_axis": 0},
        "rhs_quantization_axis: is -1, and axis 0 of rhs",
    ),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD)
def test_add_rejects(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        uniform_quantized_add(*arguments, **options)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_clip_matches_python(rng, axis):
    x = some_codes(rng, 51).reshape(3, 20)
    count = () if axis < 0 else x.shape[axis]
    low, high = rng.integers(-(2**31), 2**31, (2, *np.shape(np.empty(count))))
    got = uniform_quantized_clip_by_value(x, low, high, np.ones(count), np.zeros(count, int), axis)
    for at in np.ndindex(x.shape):
        i = at[axis] if axis >= 0 else ()
        assert got[at] == min(max(int(x[at]), int(low[i])), int(high[i]))


BAD_CLIPS = [
    ((A, [1], 2, 1.0, 0), {}, "min: Input min shape must be same"),
    ((A, 1, [2], 1.0, 0), {}, "max: Input max shape must be same"),
    ((A, 1, 2**31, 1.0, 0), {}, "max: expected an integer"),
    ((A, np.array([2**31]), [2], [1.0], [0]), {}, "min: expected an integer in .*, got "),
    ((A, [True], [2], [1.0], [0]), {}, "min: expected an integer, got True"),
    ((A, [[1], [1, 2]], 2, 1.0, 0), {}, "min: expected an array, got list: .*inhomogeneous"),
    ((A, 1, 2, [[1], [1, 2]], 0), {}, "scales: expected an array, got list: .*inhomogeneous"),
    ((A, 1, 2, np.array([1.0, np.inf]), [0, 0]), {}, "scales: inf is not finite"),
    ((A, 1, 2, 1.0, 0, 10**5000), {}, "quantization_axis: expected an integer in .*, got an integer of 16610 bits"),
    ((A, [1, 1], [2, 2], *ROWS), {"quantization_axis": 1}, "scales: .* size 3"),
    ((A.astype(np.int8), 1, 2, 1.0, 0), {}, "operand: expected int32 data"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD_CLIPS)
def test_clip_rejects(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        uniform_quantized_clip_by_value(*arguments, **options)


def test_scales_of_other_slices_are_refused_before_they_become_python_numbers():
    """Of 2**21 scales, lists would be 60 MB and more."""
    scales, zeros = np.ones(2**21, np.float32), np.zeros(2**21, np.int32)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"^scales: .* size 2 for axis 0, given shape \(2097152,\)"):
        uniform_quantized_clip_by_value(A, zeros, zeros, scales, zeros, 0)
    assert tracemalloc.get_traced_memory()[1] < 60 * 2**21
    tracemalloc.stop()
