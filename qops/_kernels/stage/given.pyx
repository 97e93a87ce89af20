"""Checks of the arguments of rules: the name of a rule, integers, and scales."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from qops._kernels.arrays.checks cimport as_array
from qops._kernels.arrays.numbers cimport choice, number, shown

import numpy as np
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)


def rule_named(rule, table):
    """Give the name of a rule of a table; a ValueError tells the right name if the op stands before it."""
    if isinstance(rule, str) and rule not in table:
        alone = rule.rpartition("/")[2]
        if alone in table:
            raise bad_value("rule", f"{rule!r} is spelt {alone!r}, without its op")
    return choice(rule, "rule", table)


cpdef object row_named(rule, table):
    """Give the row of a rule of a table; ValueError as `rule_named`."""
    try:
        return table[rule]
    except (KeyError, TypeError):
        return table[rule_named(rule, table)]


cdef bint fit(multiplier, right_shift):
    return -(1 << 31) <= multiplier < <int64_t>1 << 31 and 0 <= right_shift <= 62


cdef cnp.ndarray copied(cnp.ndarray values, int typenum):
    """A copy of one of numpy's types, which nobody else can write to."""
    cdef cnp.ndarray copy = cnp.PyArray_EMPTY(values.ndim, values.shape, typenum, 0)
    if cnp.PyArray_TYPE(values) == typenum and PyArray_ISCARRAY_RO(values):
        memcpy(cnp.PyArray_DATA(copy), cnp.PyArray_DATA(values), cnp.PyArray_NBYTES(copy))
    else:
        cnp.PyArray_CopyInto(copy, values)
    cnp.PyArray_CLEARFLAGS(copy, cnp.NPY_ARRAY_WRITEABLE)
    return copy


cdef bint all_above_0(values):
    """Whether a float is finite and above 0, or all float64 of an array are."""
    cdef double* each
    cdef Py_ssize_t i
    if isinstance(values, float):
        return 0 < <double>values < INFINITY
    each = <double*>cnp.PyArray_DATA(<cnp.ndarray>values)
    for i in range(cnp.PyArray_SIZE(<cnp.ndarray>values)):
        if not 0 < each[i] < INFINITY:
            return False
    return True


cpdef object given_integers(integers):
    """The multiplier and right shift of a caller, checked: numbers, or int64 arrays with one for each channel."""
    if isinstance(integers, tuple) and [type(x) for x in integers] == [int, int] and fit(integers[0], integers[1]):
        return integers
    try:
        multiplier, right_shift = [np.asarray(x) for x in integers]
        if multiplier.shape != right_shift.shape:
            multiplier, right_shift = np.broadcast_arrays(multiplier, right_shift)
    except (TypeError, ValueError):
        raise bad_type("integers", f"expected (multiplier, right_shift), got {shown(integers)}") from None
    if multiplier.dtype.kind not in "iu" or right_shift.dtype.kind not in "iu" or multiplier.ndim > 1:
        raise bad_type("integers", f"expected integers, one of each or one for each channel, got {shown(integers)}")
    for m, n in zip(multiplier.ravel().tolist(), right_shift.ravel().tolist()):
        if not fit(m, n):
            raise bad_value("integers", f"expected a multiplier of 32 bits and a right shift in 0..62, got ({m}, {n})")
    if multiplier.size == 1:
        return int(multiplier.reshape(())), int(right_shift.reshape(()))
    return copied(multiplier, cnp.NPY_INT64), copied(right_shift, cnp.NPY_INT64)


cpdef object given_scales(scale):
    """The scales of a caller, checked: a number, or an array with one for each channel; 0.0 in place of -0.0."""
    if type(scale) is float and 0 <= scale < INFINITY:
        return scale + 0.0
    cdef cnp.ndarray values = as_array(scale, "scale"), own
    cdef double* each
    cdef Py_ssize_t i
    if values.descr.kind not in (c"f", c"i", c"u"):
        raise bad_type("scale", f"expected numbers, got {(<object>values).dtype}")
    if values.ndim > 1:
        raise bad_value("scale", f"expected one number or one for each channel, got shape {(<object>values).shape}")
    own = copied(values, cnp.NPY_FLOAT64)
    each = <double*>cnp.PyArray_DATA(own)
    for i in range(cnp.PyArray_SIZE(own)):
        if not 0 <= each[i] < INFINITY:
            raise bad_value("scale", f"expected finite numbers, not negative, got {shown(scale)}")
        each[i] += 0.0
    if cnp.PyArray_SIZE(own) == 1:
        return each[0]
    return own


cdef double above_0(value, str name) except? -1:
    """One of the three scales of a sum or a product, checked."""
    cdef double scale
    if value is None:
        raise bad_value(name, "missing, expected all three scales, or integers")
    scale = number(value, name)
    if not scale > 0:
        raise bad_value(name, f"expected a number above 0, got {scale}")
    return scale


cpdef tuple three_scales(scales):
    """The scales of an input, of weights and of a result, checked; weights may have one for each channel."""
    cdef object w, own
    names = "scales: in_scale", "scales: w_scale", "scales: out_scale"
    if not isinstance(scales, (tuple, list)) or len(scales) != 3:
        raise bad_type("scales", f"expected (in_scale, w_scale, out_scale), got {shown(scales)}")
    w = as_array(scales[1], names[1])
    if w.dtype.kind not in "fiu" or w.ndim > 1:
        raise bad_type("scales", f"w_scale: expected one number or one for each channel, got "
                                 f"{w.dtype}, shape {w.shape}")
    own = float(w.reshape(())) if w.size == 1 else copied(w, cnp.NPY_FLOAT64)
    values = number(scales[0], names[0]), own, number(scales[2], names[2])
    for value, name in zip(values, names):
        if not all_above_0(value):
            raise bad_value(name, f"expected finite numbers above 0, got {value}")
    return values
