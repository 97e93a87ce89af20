"""Checks of the numbers, flags, names and dtypes that users pass."""

cimport numpy as cnp
from cpython.long cimport PyLong_AsLongLongAndOverflow
from libc.math cimport isfinite
from libc.stdint cimport INT32_MAX, INT32_MIN

from qops._kernels.machine.host cimport check_rounding

from operator import index

import numpy as np

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.arrays.nearest import did_you_mean, expected_one_of

cnp.import_array()

cdef object UINT8 = np.uint8, INT8 = np.int8, INT32 = np.int32
cdef str UINT8_NAME = "uint8", INT8_NAME = "int8", INT32_NAME = "int32"
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
            raise bad_type(name, f"expected an integer, got {shown(value)}") from None
    if low is not None and not low <= value <= high:
        raise bad_value(name, f"expected an integer in [{low}, {high}], got {shown(value)}")
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


cpdef tuple integers(values, str name, Py_ssize_t count, low, high=INT32_MAX):
    """Give the members of a tuple, list or 1-D array of `count` integers, as `integer` gives each."""
    if not isinstance(values, (tuple, list)) and not (cnp.PyArray_Check(values) and (<cnp.ndarray>values).ndim == 1):
        raise bad_type(name, f"expected {count} integers, got {shown(values)}")
    if len(values) != count:
        raise bad_value(name, f"expected {count} integers, got {shown(values)}")
    return tuple([integer(value, name, low, high) for value in values])


cpdef bint flag(value, str name) except -1:
    """Give `value` as a truth value; TypeError if it is no bool."""
    if value is True or value is False:
        return value is True
    if not isinstance(value, BOOLS):
        raise bad_type(name, f"expected a bool, got {shown(value)}")
    return bool(value)


cpdef str choice(value, str name, allowed):
    """Give `value` if it is one of the strings `allowed`; ValueError if not."""
    if not isinstance(value, str) or value not in allowed:
        raise expected_one_of(name, allowed, value, shown(value))
    return str(value)


cdef int code_typenum(dtype, bint or_int32) except -1:
    """Give numpy's number of the dtype of results: uint8, int8 or, if `or_int32`, int32; TypeError for any other."""
    if dtype is UINT8_NAME or dtype is UINT8:
        return cnp.NPY_UINT8
    if dtype is INT8_NAME or dtype is INT8:
        return cnp.NPY_INT8
    if or_int32 and (dtype is INT32_NAME or dtype is INT32):
        return cnp.NPY_INT32
    try:
        wanted = np.dtype(dtype)
    except (TypeError, ValueError):
        wanted = None
    if wanted == INT8:
        return cnp.NPY_INT8
    if wanted == INT32 and or_int32:
        return cnp.NPY_INT32
    if wanted != UINT8:
        expected = "uint8, int8 or int32" if or_int32 else "uint8 or int8"
        near = did_you_mean(dtype, (UINT8_NAME, INT8_NAME, INT32_NAME) if or_int32 else (UINT8_NAME, INT8_NAME))
        raise bad_type("dtype", f"expected {expected}, got {shown(dtype)}{near}")
    return cnp.NPY_UINT8


cdef bint has_axes(value):
    """Whether `value` is a list or an array of at least one dimension, as the ends of ranges per channel are."""
    return isinstance(value, (list, tuple)) or cnp.PyArray_Check(value) and (<cnp.ndarray>value).ndim > 0


cpdef tuple two_ends(value, str name):
    """Give the two members of (min, max), which are not checked; TypeError if there are not two."""
    try:
        lo, hi = value
    except (TypeError, ValueError):
        raise bad_type(name, f"expected (min, max), got {shown(value)}") from None
    return lo, hi


cdef tuple open_ends(lo, hi, both):
    """Give both ends, None for an open one: the range `both`, or lo and hi. A pair that is given as lo is a range."""
    if both is None:
        if not (isinstance(lo, tuple) and len(lo) == 2 and hi is None):
            return lo, hi
        both, lo = lo, None
    if not (lo is None and hi is None):
        raise bad_value("range", f"give range, or min and max, not both; got {shown(both)}, {shown(lo)}, {shown(hi)}")
    return two_ends(both, "range")


cpdef double number(value, str name) except? -1:
    """Give `value` as a float; TypeError if it is no number, ValueError if it is not finite."""
    cdef double result
    check_rounding()
    if type(value) is float and isfinite(<double>value):
        return value
    try:
        if isinstance(value, NO_NUMBERS) or cnp.PyArray_Check(value) and (
                value.ndim or value.dtype.kind not in "fiu"):
            raise TypeError
        result = value
    except OverflowError:
        raise bad_value(name, f"{shown(value)} is beyond every float") from None
    except (TypeError, ValueError):
        raise bad_type(name, f"expected a number, got {shown(value)}") from None
    if not isfinite(result):
        raise bad_value(name, f"{value} is not finite")
    return result


cpdef double real(value, str name) except? -1:
    """Give `value` rounded to float32, as a double; TypeError if it is no number, ValueError if it is not finite."""
    check_rounding()
    cdef double wide = value if type(value) is float else number(value, name)
    if not isfinite(<float>wide):
        raise bad_value(name, f"{wide} is not a finite float32")
    return <float>wide


cpdef double float32(double value) noexcept:
    """Give a number rounded to float32: infinity beyond it.

    A product or a quotient of two float32, computed in double, is rounded so as float32 rounds it.
    """
    return <float>value
