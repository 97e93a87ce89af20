"""Calls that repeat the numbers of an earlier call find their loops at once.

A loop is kept by what it was made of: the name of a rule, Python's own floats and integers, the bytes of scales, types
of codes. None of these can change. The first call with some numbers, and calls with other objects, find nothing here.
What is made of larger arrays is kept with copies of them, which are compared.
"""

cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcmp

from qops._kernels.arrays.checks cimport output
from qops._kernels.stage.pair_stage cimport PairCodes
from qops._kernels.stage.rows cimport Codes
from qops._kernels.machine.tiers cimport tier

from weakref import ref

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISBEHAVED_RO(cnp.ndarray a)
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

cdef enum:
    MOST = 256  # how many loops are kept
    MOST_SCALES = 1024
cdef object DOUBLE = np.float64
cdef tuple CODES = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
CODES += (*map(np.dtype, CODES), "int8", "uint8", "int16", "uint16", "int32")  # the words that callers write


cdef object keep(dict known, key, made):
    if len(known) >= MOST:
        known.clear()
    known[key] = made


cdef inline bint is_code_type(dtype) noexcept:
    for known in CODES:
        if dtype is known:
            return True
    return False


cdef inline bint is_end(value) noexcept:
    return value is None or type(value) is int


cdef object steps_key(scale, integers):
    """A float or a pair of integers itself, or the bytes of an array of scales; None for everything else."""
    cdef cnp.ndarray s
    if integers is not None:
        is_pair = scale is None and type(integers) is tuple and len(<tuple>integers) == 2
        return integers if is_pair and type(integers[0]) is int and type(integers[1]) is int else None
    if type(scale) is float or type(scale) is DOUBLE:
        return scale
    if not cnp.PyArray_CheckExact(scale):
        return None
    s = scale
    if (cnp.PyArray_TYPE(s) == cnp.NPY_FLOAT64 and s.ndim == 1 and 1 < s.shape[0] <= MOST_SCALES
            and PyArray_ISCARRAY_RO(s)):
        return PyBytes_FromStringAndSize(cnp.PyArray_BYTES(s), cnp.PyArray_NBYTES(s))
    return None


cdef tuple codes_key(rule, scale, integers, zero_point, dtype, qmin, qmax):
    cdef object steps = steps_key(scale, integers)
    if (steps is None or type(rule) is not str or type(zero_point) is not int or not is_code_type(dtype)
            or not (is_end(qmin) and is_end(qmax))):
        return None
    return rule, steps, zero_point, dtype, qmin, qmax


cdef class KnownCodes:
    """The loops of `rules.requantize`, kept by the rule, the scale or scales of the last axis, and the codes."""

    cdef dict known

    def __init__(self):
        self.known = {}

    def keep(self, Codes run, rule, scale, integers, zero_point, dtype, qmin, qmax, int typenum):
        """Keep a loop for codes of the dtype number `typenum`."""
        cdef tuple key = codes_key(rule, scale, integers, zero_point, dtype, qmin, qmax)
        if key is not None:
            keep(self.known, key, (run, typenum))

    def __call__(self, acc, out, rule, scale, integers, zero_point, dtype, qmin, qmax, in_zero_point, axis):
        """The codes of int32 accumulators, if a call with the same numbers was kept; else None, and nothing is done."""
        cdef tuple key, kept
        cdef cnp.ndarray x, made
        cdef bint by_channel = cnp.PyArray_Check(scale)
        if not (cnp.PyArray_CheckExact(acc) and type(in_zero_point) is int and in_zero_point == 0
                and type(axis) is int and -64 <= axis <= 63):
            return None
        x = acc
        key = codes_key(rule, scale, integers, zero_point, dtype, qmin, qmax)
        kept = <tuple>self.known.get(key) if key is not None else None
        if kept is None or cnp.PyArray_TYPE(x) != cnp.NPY_INT32 or not PyArray_ISCARRAY_RO(x):
            return None
        if by_channel and not (axis == -1 and x.ndim and x.shape[x.ndim - 1] == cnp.PyArray_SIZE(scale)):
            return None
        made = output(out, kept[1], x)
        if by_channel and not PyArray_ISCARRAY_RO(made):
            return None
        if cnp.PyArray_SIZE(x):
            (<Codes>kept[0]).fill(x, made)
        return made


cdef class KnownQuantizers:
    """What makes codes of float32 values, by the rule, the scale and the codes."""

    cdef dict known

    def __init__(self):
        self.known = {}

    def keep(self, Codes run, rule, scale, zero_point, dtype, int typenum):
        """Keep what makes the codes, whose dtype has this number."""
        cdef tuple key = codes_key(rule, scale, None, zero_point, dtype, None, None)
        if key is not None:
            keep(self.known, key, (run, typenum))

    def __call__(self, x, out, rule, scale, zero_point, dtype):
        """The codes of float32 values without NaN, if a call with the same numbers was kept; else None."""
        cdef tuple key, kept
        if not cnp.PyArray_CheckExact(x) or cnp.PyArray_Check(scale) or not PyArray_ISBEHAVED_RO(x):
            return None
        if cnp.PyArray_TYPE(x) != cnp.NPY_FLOAT32:
            return None
        key = codes_key(rule, scale, None, zero_point, dtype, None, None)
        kept = <tuple>self.known.get(key) if key is not None else None
        return None if kept is None else kept[0].of_values(x, x, out, kept[1])


cdef class KnownPairs:
    """The loops of `rules.add` and `mul`, kept by the rule, the type of the codes, their scales and zero points."""

    cdef dict known

    def __init__(self):
        self.known = {}

    def keep(self, PairCodes run, cnp.ndarray a, rule, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero):
        """Keep a loop for arrays of the dtype of `a`."""
        cdef tuple key = pairs_key(a, rule, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero)
        if key is not None:
            keep(self.known, key, run)

    def __call__(self, a, b, out, rule, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero):
        """The codes of two arrays, if a call with the same numbers was kept; else None, and nothing is done."""
        cdef tuple key
        cdef cnp.ndarray x, y, made
        cdef PairCodes run
        if not (cnp.PyArray_CheckExact(a) and cnp.PyArray_CheckExact(b)):
            return None
        x, y = a, b
        if cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(y) or not PyArray_SAMESHAPE(x, y):
            return None
        key = pairs_key(x, rule, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero)
        run = <PairCodes>self.known.get(key) if key is not None else None
        if run is None:
            return None
        made = output(out, cnp.PyArray_TYPE(x), x, y)
        run.fill(x, y, made)
        return made


cdef enum:
    MOST_BYTES = 1 << 26  # of arrays whose copies are kept


cdef object copied(x):
    """What stands for an argument, whatever becomes of it; NotImplemented for what is no number, word or array."""
    if x is None or type(x) is int or type(x) is float or type(x) is str or isinstance(x, np.generic):
        return x
    if type(x) is list or type(x) is tuple:
        return type(x)(x) if all(type(value) is int for value in x) else NotImplemented
    if cnp.PyArray_CheckExact(x) and PyArray_ISCARRAY_RO(x) and cnp.PyArray_NBYTES(x) <= MOST_BYTES // 4:
        return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
    return NotImplemented


cdef Py_ssize_t bytes_of(tuple copies):
    return sum([cnp.PyArray_NBYTES(x) for x in copies if cnp.PyArray_Check(x)])


cdef bint is_copied(x, copy) except -1:
    """Whether an argument is what was copied: of the same type, and each bit the same."""
    cdef cnp.ndarray a, b
    if type(x) is not type(copy):
        return False
    if cnp.PyArray_CheckExact(x):
        a, b = x, copy
        return (cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(b) and PyArray_SAMESHAPE(a, b) and PyArray_ISCARRAY_RO(a)
                and memcmp(cnp.PyArray_BYTES(a), cnp.PyArray_BYTES(b), cnp.PyArray_NBYTES(a)) == 0)
    if type(x) is list or type(x) is tuple:
        return x == copy and all(type(value) is int for value in x)
    if type(x) is float:
        return x == copy and x != 0  # of 0 there are two
    if isinstance(x, np.generic):
        return x is copy or x.tobytes() == copy.tobytes()
    return x == copy


cdef class KnownCalls:
    """What was made of the arguments of calls, kept by an array among them.

    The array, and all that may have changed since, is compared with copies. No more than MOST_BYTES are copied. What is
    made on one tier, such as weights packed for its loops, is not for another.
    """

    cdef dict known, seen
    cdef Py_ssize_t copied  # bytes

    def __init__(self):
        self.known, self.seen, self.copied = {}, {}, 0

    def is_second(self, array):
        """Whether this very array is asked for the second time: one that changes is not worth keeping each time. A list
        never is: no weak reference tells that it lives."""
        if not cnp.PyArray_CheckExact(array):
            return False
        cdef tuple seen = <tuple>self.seen.get(id(array), (None, 0))
        cdef Py_ssize_t times = seen[1] + 1 if seen[0] is not None and seen[0]() is array else 1
        keep(self.seen, id(array), (ref(array), times))
        return times == 2

    def keep(self, made, array, tuple arguments):
        """Keep `made`, which holds none of the arguments, and return it; only if all are numbers, words or arrays."""
        cdef tuple copies = tuple([copied(x) for x in arguments])
        if any(x is NotImplemented for x in copies):
            return made
        before = self.known.pop(id(array), None)
        self.copied += bytes_of(copies) - (0 if before is None else bytes_of(before[1]))
        if self.copied > MOST_BYTES or len(self.known) >= MOST:
            self.known.clear()
            self.copied = bytes_of(copies)
        self.known[id(array)] = tier(), copies, made
        return made

    def __call__(self, array, tuple arguments not None):
        """What was made of the same arguments; None if nothing is known."""
        cdef tuple kept = <tuple>self.known.get(id(array)), copies
        cdef Py_ssize_t i
        if kept is None or kept[0] != tier():
            return None
        copies = kept[1]
        if len(arguments) != len(copies):
            return None
        for i in range(len(copies)):
            if not is_copied(arguments[i], copies[i]):
                return None
        return kept[2]


cdef tuple pairs_key(cnp.ndarray a, rule, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero):
    if (type(rule) is str and type(a_scale) is float and type(b_scale) is float and type(y_scale) is float
            and type(a_zero) is int and type(b_zero) is int and type(y_zero) is int):
        return cnp.PyArray_TYPE(a), rule, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero
    return None
