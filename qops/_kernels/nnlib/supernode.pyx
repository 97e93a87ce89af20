"""The loops of nnlib's supernodes: what is added to sums, their extremes, and the fraction multiply that makes codes.

    c = sat_u8((wrap_s32(x << left_shift) * multiplier + 2**30) >> 31)

The multiply is vmpye and vmpyo:<<1:rnd:sat. These floor twice and then round, which together is one rounding, half up.
"""

cimport numpy as cnp
from libc.math cimport rintf
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.nnlib.ranges cimport steps
from qops._kernels.stage.integer_stage cimport IntegerParams, integer_params, shift_by
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.rounding cimport HALF_UP, wrap_s32
from qops._kernels.stage.stage cimport BLOCK, Stage, stage_run

import numpy as np

cnp.import_array()


def fraction_stage(const int32_t[::1] multipliers, int left_shift):
    """Make the stage of one multiplier, or of one for each channel."""
    cdef PreparedStage made = PreparedStage.__new__(PreparedStage)
    cdef Py_ssize_t i, count = len(multipliers)
    cdef IntegerParams* params = made.integers(count)
    for i in range(count):
        params[i] = integer_params(multipliers[i], shift_by(31, HALF_UP), 0, <int>steps())
        params[i].left_shift = left_shift
    made.ready()
    return made


cdef inline int64_t fraction(int64_t x, int32_t multiplier, int left_shift) noexcept nogil:
    """The result of a sum in output steps, before it saturates."""
    return (<int64_t>wrap_s32(wrap_s32(x) << left_shift) * multiplier + (1 << 30)) >> 31


def words_of(const float[::1] bias, float ratio, float lower, const float[::1] inverse or None,
             const int64_t[::1] added or None, int64_t factor, int zero, bint saturates):
    """Give the words of the channels, (bias * ratio + lower) * inverse - added * zero in float32, half even.

    Integers add factor * zero. The first word that int32 does not hold is given as (channel, word); without `added`
    words may saturate.
    """
    cdef Py_ssize_t i, n = len(bias)
    cdef cnp.npy_intp size = n
    cdef cnp.ndarray made = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT64, 0)
    cdef int64_t* words = <int64_t*>cnp.PyArray_DATA(made)
    cdef float value
    cdef double whole
    for i in range(n):
        value = bias[i] * ratio + lower
        value = value if inverse is None else value * inverse[i]
        value = value if added is None else value - <float>wrap_s32(added[i] * zero)
        whole = <double>rintf(value) + <double>(factor * zero)
        if saturates:
            whole = min(max(whole, <double>INT32_MIN), <double>INT32_MAX)
        if not INT32_MIN <= whole <= INT32_MAX:
            return i, whole
        words[i] = <int64_t>whole
    return made


cdef void add_words(const uint32_t* x, const uint32_t* words, Py_ssize_t channel, Py_ssize_t count, uint32_t* y,
                    Py_ssize_t n) noexcept nogil:
    """y = x plus the words of the channels, modulo 2**32; x begins with this channel."""
    cdef Py_ssize_t i, some
    while n > 0:
        some = min(n, count - channel)
        for i in range(some):
            y[i] = x[i] + words[channel + i]
        x, y, n, channel = x + some, y + some, n - some, 0


def codes_with_words(PreparedStage stage, const int32_t[::1] sums, const int32_t[::1] words, uint8_t[::1] codes):
    """Make the codes of sums whose channels are neighbours, and have these words; the sums with them wrap."""
    cdef Py_ssize_t first, n, size = len(sums), count = len(words)
    cdef uint32_t[BLOCK] block
    cdef Stage s = stage.stage
    for first from 0 <= first < size by BLOCK:
        n = min(size - first, <Py_ssize_t>BLOCK)
        add_words(<const uint32_t*>&sums[first], <const uint32_t*>&words[0], first % count, count, block, n)
        stage_run(&s, block, cnp.NPY_INT32, &codes[first], cnp.NPY_UINT8, first, n)


cdef void watch_row(const int32_t* x, int32_t* lowest, int32_t* highest, Py_ssize_t n) noexcept nogil:
    """Widen the extremes of each channel to hold its sum."""
    cdef Py_ssize_t i
    for i in range(n):
        lowest[i] = x[i] if x[i] < lowest[i] else lowest[i]
        highest[i] = x[i] if x[i] > highest[i] else highest[i]


def channel_extremes(const int32_t[:, ::1] sums):
    """Give the lowest and the highest sum of each column, as int64."""
    cdef Py_ssize_t i, n = sums.shape[1]
    cdef cnp.ndarray low = np.array(sums[0]), high = low.copy()
    for i in range(1, sums.shape[0]):
        watch_row(&sums[i, 0], <int32_t*>cnp.PyArray_DATA(low), <int32_t*>cnp.PyArray_DATA(high), n)
    return low.astype(np.int64), high.astype(np.int64)


def fraction_extremes(const int64_t[::1] lowest, const int64_t[::1] highest, const int32_t[::1] multipliers,
                      int left_shift):
    """Give the extremes of the results of sums, each channel's lowest and highest, in output steps."""
    cdef Py_ssize_t i, count = len(multipliers)
    cdef int64_t low = 0, high = 0
    for i in range(len(lowest)):
        low = min(low, fraction(lowest[i], multipliers[i % count], left_shift))
        high = max(high, fraction(highest[i], multipliers[i % count], left_shift))
    return low, high
