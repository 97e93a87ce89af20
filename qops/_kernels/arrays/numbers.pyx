"""Checks of the numbers, flags and names that users pass."""

cimport numpy as cnp
from cpython.long cimport PyLong_AsLongLongAndOverflow
from libc.math cimport isfinite
from libc.stdint cimport INT32_MAX, INT32_MIN

from operator import index

import numpy as np

cnp.import_array()

cdef tuple BOOLS = (bool, np.bool_)
cdef tuple NO_NUMBERS = (bool, np.bool_, str, bytes, complex, np.complexfloating, np.timedelta64, np.ma.MaskedArray)


cpdef str shown(value):
    """Give `value` as an error text shows it, at most 80 characters."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    try:
        return f"{value!r:.80}"
    except Exception:  # a fraction of more digits than Python writes, or a user's class, may raise
        return f"a {type(value).__name__}"


cpdef object integer(value, str name, low=None, high=None):
    """Give `value` as a Python int; TypeError if it is no integer, ValueError if it is not in low..high, if given."""
    if type(value) is not int:
        try:
            if isinstance(value, BOOLS):
                raise TypeError
            value = index(value)
        except TypeError:
            raise TypeError(f"{name}: expected an integer, got {shown(value)}") from None
    if low is not None and not low <= value <= high:
        raise ValueError(f"{name}: expected an integer in [{low}, {high}], got {shown(value)}")
    return value


cpdef int int32(value, str name, int low=INT32_MIN, int high=INT32_MAX) except? -1:
    """Give `integer` of a value that int32 holds; this is faster for a Python int."""
    cdef int overflows = 0
    cdef long long found
    if type(value) is int:
        found = PyLong_AsLongLongAndOverflow(value, &overflows)
        if not overflows and low <= found <= high:
            return <int>found
    return integer(value, name, low, high)


cpdef tuple integers(values, str name, low, high):
    """Give the members of a tuple or list, as `integer` gives each."""
    if type(values) is tuple:
        for value in <tuple>values:
            if type(value) is not int or not low <= value <= high:
                break
        else:
            return values
    return tuple([integer(value, name, low, high) for value in values])


cpdef bint flag(value, str name) except -1:
    """Give `value` as a truth value; TypeError if it is no bool."""
    if value is True or value is False:
        return value is True
    if not isinstance(value, BOOLS):
        raise TypeError(f"{name}: expected a bool, got {shown(value)}")
    return bool(value)


cpdef str choice(value, str name, allowed):
    """Give `value` if it is one of the strings `allowed`; ValueError if not."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}: expected one of {', '.join(allowed)}, got {shown(value)}")
    return str(value)


def are_plain(tuple values):
    """Whether all values are Python's own floats and integers, which are immutable."""
    for value in values:
        if type(value) is not float and type(value) is not int:
            return False
    return True


cdef bint has_axes(value):
    """Whether `value` is an array of at least one dimension, as the ends of ranges per channel are."""
    return cnp.PyArray_Check(value) and (<cnp.ndarray>value).ndim > 0


cpdef double number(value, str name) except? -1:
    """Give `value` as a float; TypeError if it is no number, ValueError if it is not finite."""
    cdef double result
    try:
        if type(value) is not float and (isinstance(value, NO_NUMBERS) or cnp.PyArray_Check(value) and (
                value.ndim or value.dtype.kind not in "fiu")):
            raise TypeError
        result = value
    except OverflowError:
        raise ValueError(f"{name}: {shown(value)} is beyond every float") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {shown(value)}") from None
    if not isfinite(result):
        raise ValueError(f"{name}: {value} is not finite")
    return result


cpdef double real(value, str name) except? -1:
    """Give `value` rounded to float32, as a double; TypeError if it is no number, ValueError if it is not finite."""
    cdef double wide = value if type(value) is float else number(value, name)
    if not isfinite(<float>wide):
        raise ValueError(f"{name}: {wide} is not a finite float32")
    return <float>wide
