"""multiply_shift: an integer or a real factor in fixed point, applied with one multiplication and one shift."""

cimport numpy as cnp
from libc.math cimport ldexp, rint
from libc.stdint cimport INT32_MAX, INT32_MIN

from qops._kernels.arrays.checks cimport as_array, int32s, integer, number, output
from qops._kernels.arrays.numbers cimport choice, shown
from qops._kernels.stage.integer_stage cimport IntegerParams, integer_params, shift_by
from qops._kernels.stage.rounding cimport HALF_AWAY, HALF_UP, Rounding
from qops._kernels.stage.stage cimport Stage, integer_stage, stage_over
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef tuple SINGLE = ("floor", "truncate", "half_up", "half_away", "half_even")  # in the order of `Rounding`
cdef tuple ALL = (*SINGLE, "gemmlowp", "hvx")  # these two do more than a shift


cpdef str known(rounding, tuple rules):
    """The rounding that a name means, which may be spelt with hyphens."""
    cdef str rule
    for rule in rules:
        if rounding is rule:
            return rule
    if isinstance(rounding, str) and rounding.replace("-", "_") in rules:
        rounding = rounding.replace("-", "_")
    return rules[rules.index(choice(rounding, "rounding", rules))]


cdef object run(cnp.ndarray x, int multiplier, int right_shift, str rule, cnp.ndarray out):
    """out = x * multiplier / 2**right_shift on int32, rounded by the rule; |multiplier| < 2**31, shift 0..62."""
    cdef IntegerParams p
    cdef Stage s
    if rule == "gemmlowp":
        p = integer_params(multiplier, shift_by(31, HALF_UP), INT32_MIN, INT32_MAX)
        p.left_shift = max(0, 31 - right_shift)
        p.second = shift_by(max(0, right_shift - 31), HALF_AWAY)
    elif rule == "hvx":
        p = integer_params(multiplier, shift_by(15, HALF_UP), -32768, 32767)
    else:
        p = integer_params(multiplier, shift_by(right_shift, <Rounding>SINGLE.index(rule)), INT32_MIN, INT32_MAX)
    s = integer_stage(&p)
    stage_over(&s, x, out)


def multiply_shift(x, factor, bits, rounding, out):
    """y = x * round(factor * 2**bits) / 2**bits."""
    cdef cnp.ndarray source, codes, result
    cdef str rule = known(rounding, SINGLE)
    cdef double scaled, real_factor = number(factor, "factor")
    bits = integer(bits, "bits", 0, 30)
    scaled = ldexp(real_factor, bits)
    if not -2147483647.5 < scaled < 2147483647.5:
        raise bad_value("factor", f"{factor} in {bits} bits is 2**31 or more")
    source = as_array(x, "x")
    codes = int32s(source, "x")
    result = output(out, cnp.NPY_INT32, source)
    run(codes, <int>rint(scaled), bits, rule, result)
    return result


def apply_multiplier(x, multiplier, right_shift, rounding, out):
    """y = x * multiplier / 2**right_shift."""
    cdef cnp.ndarray source, codes, result
    cdef str rule = known(rounding, ALL)
    multiplier, right_shift = integer(multiplier, "multiplier"), integer(right_shift, "right_shift")
    source = as_array(x, "x")
    codes = int32s(source, "x")
    if not -(1LL << 31) < multiplier < 1LL << 31:
        raise bad_value("multiplier", f"{shown(multiplier)} is not within 31 bits and a sign")
    if not 0 <= right_shift <= 62:
        raise bad_value("right_shift", f"{shown(right_shift)} is not in 0..62")
    if rule == "hvx":
        check_hvx(codes, multiplier, right_shift)
    result = output(out, cnp.NPY_INT32, source)
    run(codes, multiplier, right_shift, rule, result)
    return result


cdef int check_hvx(codes, int multiplier, int right_shift) except -1:
    """Raise ValueError for operands that the HVX instruction does not take."""
    if right_shift != 15:
        raise bad_value("right_shift", f"{right_shift}, hvx shifts by 15")
    if not -(1 << 15) <= multiplier < 1 << 15:
        raise bad_value("multiplier", f"{multiplier}, hvx takes 16 bits")
    if codes.size and not (codes.min() >= -(1 << 15) and codes.max() < 1 << 15):
        raise bad_value("x", f"{codes.min()} to {codes.max()}, hvx takes 16 bits")
    return 0
