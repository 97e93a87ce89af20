"""Multiply and shift: int32 times a multiplier, rounded once by a rule of `ROUNDINGS`; the integer stage alone."""

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, INT32_MIN

from qops._kernels.stage.integer_stage cimport IntegerParams, integer_params, shift_by
from qops._kernels.stage.rounding cimport HALF_AWAY, HALF_UP, Rounding
from qops._kernels.stage.stage cimport Stage, integer_stage, stage_over

cnp.import_array()

ROUNDINGS = ("floor", "truncate", "half_up", "half_away", "half_even", "gemmlowp", "hvx")


cpdef object multiply_shift(cnp.ndarray x, int multiplier, int right_shift, rounding, cnp.ndarray out):
    """out = x * multiplier / 2**right_shift on int32, rounded by the rule; |multiplier| < 2**31, shift 0..62."""
    cdef int rule = ROUNDINGS.index(rounding)
    cdef IntegerParams p
    cdef Stage s
    if rounding == "gemmlowp":
        p = integer_params(multiplier, shift_by(31, HALF_UP), INT32_MIN, INT32_MAX)
        p.left_shift = max(0, 31 - right_shift)
        p.second = shift_by(max(0, right_shift - 31), HALF_AWAY)
    elif rounding == "hvx":
        p = integer_params(multiplier, shift_by(15, HALF_UP), -32768, 32767)
    else:
        p = integer_params(multiplier, shift_by(right_shift, <Rounding>rule), INT32_MIN, INT32_MAX)
    s = integer_stage(&p)
    stage_over(&s, x, out)
