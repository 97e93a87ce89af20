"""nnlib's requantizers from int32 to int16 codes."""

cimport numpy as cnp
from libc.stdint cimport INT16_MAX, INT16_MIN, int64_t

from qops._kernels.stage.integer_stage cimport IntegerParams, Shift, integer_params, shift_by
from qops._kernels.stage.rounding cimport FLOOR
from qops._kernels.stage.stage cimport Stage, integer_stage, stage_over
from qops._kernels.nnlib.ranges cimport exponent, power2

cnp.import_array()


cdef Shift shifts(int n) noexcept nogil:
    """One shift that equals two, by 31 and by n, each half up, because a floor of a floor is one floor."""
    return Shift((1 << 30) + ((<int64_t>1 << 30 + n) if n else 0), 0, 0, 31 + n)


cdef IntegerParams params_16(float gain, bint shrinks) noexcept nogil:
    """The parameters. From a gain of 1 on, x is clamped: the product fits int32. With `shrinks`, x is the code."""
    cdef int right_shift = min(-exponent(gain), 15)
    cdef IntegerParams p
    if shrinks and gain >= 1:
        return integer_params(1, shift_by(0, FLOOR), INT16_MIN, INT16_MAX)
    p = integer_params(<int>(gain * power2(31 + right_shift) + 0.5), shifts(4 if right_shift < 0 else right_shift),
                       INT16_MIN, INT16_MAX)
    if right_shift < 0:
        p.highest = (1 << (27 + right_shift)) - 1
        p.lowest, p.left_shift = -p.highest - 1, 4 - right_shift
    return p


def requantize_32to16(cnp.ndarray x, float gain, bint shrinks, cnp.ndarray out):
    """Requantize int32 codes to int16 codes. An input step is `gain` output steps."""
    cdef IntegerParams p = params_16(gain, shrinks)
    cdef Stage s = integer_stage(&p)
    stage_over(&s, x, out)
