"""Reading tensors that have one range (min, max), or a range per channel: float32 arrays that broadcast to the data."""

cimport numpy as cnp
from libc.math cimport isfinite

from qops._kernels.arrays.checks cimport (
    Ends, array_of, as_array, check_ends, end_names, float32s, has_axes, refuse_ends, span_of,
)
from qops._kernels.arrays.concat cimport plain
from qops._kernels.arrays.codes cimport (
    CodeType, Tensor, check_order, code_type, read_code_type, tensor, tensor_of, typenum_of,
)

import numpy as np

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.arrays.checks import broadcast_shape

cnp.import_array()


cdef enum:
    LONG = 4096  # elements of a loop of numpy, beside which the way to the next one costs little


cdef bint fits(tuple shape, tuple whole):
    """Whether an array of this shape broadcasts to the shape `whole`."""
    return len(shape) <= len(whole) and all([n == 1 or n == m for n, m in zip(shape[::-1], whole[::-1])])


cdef object of_shape(x, tuple shape):
    """`x` broadcast to the shape: numpy's function takes some microseconds even where there is nothing to do."""
    return x if x.shape == shape else np.broadcast_to(x, shape)


cdef tuple spans(cnp.ndarray data, lo, hi, str name):
    """Give the ends of ranges per channel, checked, as two float32 arrays of one shape that broadcasts to the data."""
    low_name, high_name = end_names(name)
    cdef object low = float32s(as_array(lo, low_name), low_name), high = float32s(as_array(hi, high_name), high_name)
    shape = (<object>data).shape
    if not (fits(low.shape, shape) and fits(high.shape, shape)):
        raise bad_value(name, f"shapes {low.shape} and {high.shape} of min and max do not fit the data's {shape}")
    if low.shape != high.shape:
        shape = broadcast_shape(low.shape, high.shape)
        low, high = of_shape(low, shape), of_shape(high, shape)
    check_spans(plain(low), plain(high), name)
    return low, high


cdef int check_spans(cnp.ndarray lows, cnp.ndarray highs, str name) except -1:
    """ValueError if a range is not finite or has min > max."""
    cdef const float* lo = <const float*>cnp.PyArray_DATA(lows)
    cdef const float* hi = <const float*>cnp.PyArray_DATA(highs)
    cdef bint is_finite = True, in_order = True
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(lows)):
        is_finite = is_finite and isfinite(lo[i]) and isfinite(hi[i])
        in_order = in_order and lo[i] <= hi[i]
    if not is_finite:
        raise bad_value(name, "has a range that is not finite in float32")
    if not in_order:
        raise bad_value(name, "has a range with min > max")
    return 0


cdef bint all_symmetric(cnp.ndarray lows, cnp.ndarray highs) noexcept:
    """Whether each range has min == -max."""
    cdef const float* lo = <const float*>cnp.PyArray_DATA(lows)
    cdef const float* hi = <const float*>cnp.PyArray_DATA(highs)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(lows)):
        if lo[i] != -hi[i]:
            return False
    return True


cdef object reading(t, str name, CodeType* found_type, Ends* ends, tuple typenums=None):
    """Give the codes of any tensor, checked, and set `found_type` to their code type.

    With one range it sets `ends` to that. With ranges per channel it gives (codes, mins, maxs) instead. With typenums,
    numpy's numbers of dtypes, it gives a TypeError for codes of another dtype, and of a type that the dtype does not
    tell.
    """
    cdef bint has_channels
    cdef Tensor read = tensor_of(t, name)
    data, lo, hi = read.data, read.min, read.max
    if typenums is not None and read._own is not None:
        raise bad_type(name, f"code type {read._own.name} is not supported here; dequantize first")
    has_channels = not (type(lo) is float and type(hi) is float) and (has_axes(lo) or has_axes(hi))
    if not has_channels:
        span_of(lo, hi, name, ends)
    data = array_of(data, name)
    if typenums is not None and typenum_of(data) not in typenums:
        names = [str(np.dtype(cnp.PyArray_DescrFromType(number))) for number in typenums]
        raise bad_type(name, f"expected {', '.join(names[:-1])}{' or ' * (len(names) > 1)}{names[-1]} data, "
                       f"got {data.dtype}")
    read_code_type(read, data, name, found_type)
    if not has_channels:
        check_ends(found_type, ends[0], data, name)
        return data
    lo, hi = spans(data, lo, hi, name)
    if found_type.symmetric and not all_symmetric(plain(lo), plain(hi)):
        refuse_ends(lo, hi, data, name)
    return data, lo, hi


cdef cnp.ndarray by_channel(cnp.ndarray codes, tuple ends, Py_ssize_t* inner):
    """Lay `ends`, which are arrays that broadcast against the codes, or numbers, out by channel.

    Gives a float64 matrix with a row for each of `ends` and a column for each channel. `inner` is set to how many
    neighbours in C order belong to one channel. The next neighbours belong to the next channel; after the last channel
    comes the first again.
    """
    cdef int first = codes.ndim, last = -1, axis
    shape = (<object>codes).shape
    for end in ends:
        if cnp.PyArray_Check(end):
            for axis, length in enumerate(end.shape, codes.ndim - end.ndim):
                if length != 1:
                    first, last = min(first, axis), max(last, axis)
    inner[0] = 1
    for axis in range(last + 1, codes.ndim):
        inner[0] *= codes.shape[axis]
    flat = ((1,) * first + shape[first:last + 1] + (1,) * (codes.ndim - last - 1))[:codes.ndim]
    each = np.empty((len(ends), *flat))
    for axis, end in enumerate(ends):
        each[axis] = end
    return each.reshape(len(ends), -1)


cdef object stretched(ends, cnp.ndarray codes):
    """`ends`, which broadcast against the codes, repeated along the last axes if they differ along the very last.

    numpy's loops over both are slow where the last axis alone is short, as channels may be.
    """
    cdef int axis = codes.ndim
    cdef Py_ssize_t length = 1
    if ends.shape[-1:] in ((), (1,)):
        return ends
    while axis > 0 and length * codes.shape[axis - 1] <= LONG:
        axis -= 1
        length *= codes.shape[axis]
    own = (1,) * (codes.ndim - ends.ndim) + ends.shape
    return np.ascontiguousarray(of_shape(ends, own[:axis] + (<object>codes).shape[axis:]))


def read(t, str name):
    """Give (codes, min, max) of any tensor, checked. min and max are floats, or arrays if the range is per channel."""
    cdef CodeType found_type
    cdef Ends ends
    found = reading(t, name, &found_type, &ends)
    return found if type(found) is tuple else (found, ends.min, ends.max)


def checked(type cls, data, lo, hi):
    """Make a tensor of the class `cls`, a subclass of `Tensor`, whose code type is that of the dtype."""
    cdef CodeType found_type
    cdef Ends ends
    cdef cnp.ndarray codes
    check_order(data, hi, "data")
    codes = array_of(data, "data")
    if code_type(codes).steps == 0:
        raise bad_type("data", f"expected uint8, int8, uint16, int16, int32 codes, got {(<object>codes).dtype}")
    found = reading(tensor(Tensor, codes, lo, hi), "min, max", &found_type, &ends)
    if type(found) is not tuple:
        return tensor(cls, codes, ends.min, ends.max)
    codes, lo, hi = found
    return tensor(cls, codes, lo, hi)
