"""Every check of what a user passes, with its error text, and the walk over arrays that do not lie alike.

Compiled because it runs on every call: in Python the checks of one add would take longer than the add of ten thousand
elements.
"""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport uintptr_t

from operator import index

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_EquivTypenums(int a, int b)
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)
    bint PyArray_ISNOTSWAPPED(cnp.ndarray a)
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

U8 = cnp.NPY_UINT8
S32 = cnp.NPY_INT32
F32 = cnp.NPY_FLOAT32
BLOCK = 1 << 15  # elements of a buffer: inputs and output of an op stay in the L2 cache together


def integer(value, str name):
    """`value` as a Python int; TypeError if it is none."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r:.80}") from None


def number(value, str name):
    """`value` as a float; TypeError if it is no number, ValueError if it is not finite."""
    cdef double result
    try:
        if isinstance(value, (str, bytes, bool)) or getattr(value, "ndim", 0):
            raise TypeError
        result = value
    except OverflowError:  # an integer
        raise ValueError(f"{name}: an integer of {value.bit_length()} bits is beyond every float") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {value!r:.80}") from None
    if not isfinite(result):
        raise ValueError(f"{name}: {value} is not finite")
    return result


def real(value, str name):
    """`value` as a float32 held in a Python float; TypeError if it is no number, ValueError if it is not finite."""
    cdef float result = value if type(value) is float else number(value, name)
    if not isfinite(result):
        raise ValueError(f"{name}: {value} is not a finite float32")
    return result


def span(lo, hi, str name):
    """The range (lo, hi) as float32 values; ValueError if lo > hi."""
    cdef double low = real(lo, name + " min") if type(lo) is not float else <float>lo
    cdef double high = real(hi, name + " max") if type(hi) is not float else <float>hi
    if not (isfinite(low) and isfinite(high)):
        raise ValueError(f"{name}: the range ({lo}, {hi}) is not finite in float32")
    if low > high:
        raise ValueError(f"{name}: min {lo} > max {hi}")
    return low, high


def array(x, str name, int typenum, int or_typenum=-1):
    """`x` as an ndarray of the dtype `typenum` (U8, S32 or F32), or the other one; TypeError for any other dtype."""
    cdef cnp.ndarray data
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    data = x
    if not (PyArray_EquivTypenums(cnp.PyArray_TYPE(data), typenum)
            or or_typenum >= 0 and PyArray_EquivTypenums(cnp.PyArray_TYPE(data), or_typenum)):
        wanted = " or ".join(str(np.dtype(cnp.PyArray_DescrFromType(t))) for t in (typenum, or_typenum) if t >= 0)
        raise TypeError(f"{name}: expected {wanted} data, got {data.dtype}")
    return data


def operand(t, str name, int typenum, int or_typenum=-1):
    """The triple `t` as (ndarray of dtype `typenum` or the other, min, max), checked; int32 ranges are symmetric."""
    try:
        data, lo, hi = t
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a (data, min, max) triple, got {type(t).__name__}") from None
    data = array(data, name, typenum, or_typenum)
    lo, hi = span(lo, hi, name)
    if cnp.PyArray_ITEMSIZE(data) == 4 and lo != -hi:
        raise ValueError(f"{name}: the range ({lo}, {hi}) of int32 codes is not symmetric, min == -max")
    return data, lo, hi


def output(out, int typenum, cnp.ndarray x, cnp.ndarray y=None):
    """`out`, checked, or a new array: of dtype `typenum` and the broadcast shape of `x` and `y`."""
    cdef cnp.ndarray result
    if y is None or PyArray_SAMESHAPE(x, y):
        if out is None:
            return cnp.PyArray_EMPTY(x.ndim, x.shape, typenum, 0)
        shape = None
    else:
        try:
            shape = np.broadcast_shapes((<object>x).shape, (<object>y).shape)
        except ValueError:
            raise ValueError(f"shapes {(<object>x).shape} and {(<object>y).shape} do not broadcast") from None
        if out is None:
            return np.empty(shape, cnp.PyArray_DescrFromType(typenum))
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out: expected an ndarray, got {type(out).__name__}")
    result = out
    if not PyArray_EquivTypenums(cnp.PyArray_TYPE(result), typenum) or not PyArray_ISNOTSWAPPED(result):
        raise TypeError(f"out: expected native {np.dtype(cnp.PyArray_DescrFromType(typenum))}, got {result.dtype!r}")
    if not (PyArray_SAMESHAPE(result, x) if shape is None else out.shape == shape):
        raise ValueError(f"out: shape {out.shape}, expected {shape or (<object>x).shape}")
    if not cnp.PyArray_ISWRITEABLE(result):
        raise ValueError("out: is read-only")
    if overlap(result, x) or (y is not None and overlap(result, y)):
        raise ValueError("out: shares memory with an input")
    return result


cdef bint overlap(cnp.ndarray a, cnp.ndarray b):
    cdef uintptr_t a_start = <uintptr_t>cnp.PyArray_DATA(a), b_start = <uintptr_t>cnp.PyArray_DATA(b)
    if PyArray_ISCARRAY_RO(a) and PyArray_ISCARRAY_RO(b):
        return a_start < b_start + cnp.PyArray_NBYTES(b) and b_start < a_start + cnp.PyArray_NBYTES(a)
    return np.shares_memory(a, b)


cdef object blocks(tuple arrays):
    """Tuples of contiguous, aligned, native stretches of `arrays`, broadcast together; the last of several is written.

    One stretch, the arrays themselves, when they lie alike; else numpy's iterator copies through small buffers.
    """
    cdef cnp.ndarray last = arrays[len(arrays) - 1], a
    for a in arrays:
        if not (PyArray_ISCARRAY_RO(a) and PyArray_SAMESHAPE(a, last)):
            return buffered(arrays)
    return (arrays,)


def buffered(tuple arrays):
    """`blocks` by way of numpy's buffered iterator."""
    read = ["readonly", "contig", "aligned", "nbo"]
    write = ["writeonly", *read[1:]]
    flags = ["external_loop", "buffered", "grow_inner", "zerosize_ok"]
    modes = [read] * (len(arrays) - 1) + [write] if len(arrays) > 1 else [read]
    with np.nditer(arrays, flags, modes, buffersize=BLOCK) as steps:
        for step in steps:
            yield step if isinstance(step, tuple) else (step,)
