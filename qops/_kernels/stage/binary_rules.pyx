"""The sum and the product of two tensors of codes by a rule: the integers that it makes of scales, and what runs.

A rule is a row of `qops.rules.ADD` or `MUL`, beside the row of `qops.rules.TABLE` that it requantizes by, if any.
"""

cimport numpy as cnp
from libc.math cimport fabs, isfinite, ldexp
from libc.stdint cimport INT32_MAX, INT32_MIN, int64_t

from qops._kernels.arrays.codes cimport CodeType, code_type_of
from qops._kernels.arrays.numbers cimport int32
from qops._kernels.stage.given cimport above_0, row_of
from qops._kernels.stage.float_stage cimport FloatParams, float_params
from qops._kernels.stage.multipliers cimport (
    MOST_SHIFT, Multiplier, SumMultipliers, derived_scale, ratio_multipliers, relative_multipliers,
)
from qops._kernels.stage.binary_stage cimport (
    CHAIN, FLOAT_SUM, PRODUCT, SUM, BinaryForm, BinaryStage, Operand, binary_stage, staged,
)
from qops._kernels.stage.prepared cimport (
    AT_31, BEYONDS, CODE, HIGH, NOTHING, ONCE, IntegerRule, PreparedStage, params_of, two_stages,
)
from qops._kernels.stage.rounding cimport FLOOR, HALF_AWAY, HALF_EVEN, HALF_UP, Rounding, fma_f32
from qops._kernels.stage.rules cimport Words, as_words

cdef enum:
    IN_16_BITS = (1 << 15) - 512  # what surely stays within 16 bits with any zero point


cdef class Operands:
    """Scales and zero points of two tensors and of the result, and the ends of the result's clamp.

    dtype: the type of all three. given: integers of a port, in place of the scales, or None. takes_any: whether the
    zero points of a and b may be any int32, and their scales any distance apart, as files say them to TFLite.
    is_difference: whether b is subtracted.
    """

    def __init__(self, cnp.dtype dtype, a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point, int qmin,
                 int qmax, given=None, *, bint takes_any=False, bint is_difference=False):
        self.takes_any, self.is_difference = takes_any, is_difference
        self.set(dtype, (a_scale, b_scale, y_scale), (a_zero_point, b_zero_point, y_zero_point), qmin, qmax, given)

    cdef int set(self, cnp.dtype dtype, tuple scales, tuple zero_points, int qmin, int qmax, given) except -1:
        """Check and keep what `__init__` takes, of a, b and y."""
        cdef const CodeType* codes = code_type_of(dtype.kind == c"i", dtype.itemsize)
        cdef bint is_wide = dtype.itemsize > 1
        cdef int low = 0 if is_wide else codes.lowest, high = 0 if is_wide else codes.highest
        self.typenum, self.lowest, self.highest = dtype.num, codes.lowest, codes.highest
        self.a_scale = self.b_scale = self.y_scale = 0
        if given is None:
            self.a_scale, self.b_scale = above_0(scales[0], "a_scale"), above_0(scales[1], "b_scale")
            self.y_scale = above_0(scales[2], "y_scale")
        cdef int least = INT32_MIN if self.takes_any else low, most = INT32_MAX if self.takes_any else high
        self.a_zero_point = int32(zero_points[0], "a_zero_point", least, most)
        self.b_zero_point = int32(zero_points[1], "b_zero_point", least, most)
        self.have_codes = (low <= self.a_zero_point <= high) and (low <= self.b_zero_point <= high)
        self.y_zero_point = int32(zero_points[2], "y_zero_point", low, high)
        self.qmin, self.qmax, self.given = qmin, qmax, given
        self.left_shift = 15 if is_wide else 20  # TFLite's add shifts codes to the left by so many bits
        return 0

    def integers(self, row not None, rule):
        """Give the integers of a port: (multiplier, right shift) of a, b and the result; of a product one."""
        cdef SumMultipliers p
        if row[SCALE]:
            p.y = factor_of(self, row_of(row), as_words(rule))
            return p.y.m, p.y.right_shift
        p = integers_of(self, row_of(row), as_words(rule))
        return (p.a.m, p.a.right_shift), (p.b.m, p.b.right_shift), (p.y.m, p.y.right_shift)

    def stage(self, row not None, rule):
        """Give the stage of two arrays by a rule's row; ValueError if these scales or integers are out of its range."""
        return self.make(row_of(row), None if rule is None else as_words(rule))

    cdef BinaryStage make(self, tuple row, Words rule):
        """Do what `stage` does, by the fields of a row."""
        cdef str made = row[MADE]
        cdef SumMultipliers p
        if made == "float product":
            return float_product(self, row, rule)
        if made == "product" or made == "product in 16 bits":
            return product(self, row, rule, made == "product in 16 bits")
        if made == "ort":
            return ort_sum(self, row)
        if made == "torch" or made == "torch tail" or made == "torch tail, outside":
            return torch_sum(self, row, made)
        p = integers_of(self, row, rule)
        if made == "ratios":
            if row[DERIVED] == "ratios of 22 bits, shift in C" and p.y.right_shift >= 32:
                raise ValueError(f"torch shifts int32 by {p.y.right_shift} bits for ratios to y_scale below 2**-10, "
                                 "which C does not define")
            return sum_of_ratios(self, rule, p)
        if made == "shifted":
            return shifted_sum(self, p, self.left_shift, self.left_shift, rule.integer_rule.second,
                               rule.integer_rule.split == ONCE, last_stage(self, rule, p.y))
        if made == "shifted, operands once":
            return shifted_sum(self, p, self.left_shift, self.left_shift, FLOOR, True, last_stage(self, rule, p.y))
        return optimised_sum(self, rule, p, made == "shifted, optimised s8")

    def shifted(self, int a_right, int b_right):
        """Give the stage of int16 whose scales are powers of two: one operand is shifted to the right, half away."""
        cdef Operand same = Operand(0, 0, 0, 0), one = Operand(0, 1, 0, 0)
        cdef IntegerRule away = IntegerRule(HALF_AWAY, FLOOR, ONCE, NOTHING, 0, 0, INT32_MIN, INT32_MAX)
        cdef IntegerRule clamped = IntegerRule(FLOOR, FLOOR, ONCE, NOTHING, 0, self.y_zero_point, self.qmin, self.qmax)
        cdef PreparedStage last = integer_stage(less_by(0), clamped)
        cdef PreparedStage part = integer_stage(less_by(max(a_right, b_right)), away)
        if a_right == b_right == 0:
            return binary_stage(SUM, one, Operand(0, -1 if self.is_difference else 1, 0, 0), last, self.typenum)
        return staged(same, same, last, self.typenum, None, part, a_right > 0, self.is_difference)

    def times_wrapping(self, row not None, rule):
        """Give the stage of TFLite's optimised product of uint8 by one number, which is not cut before it wraps."""
        cdef Multiplier p = factor_of(self, row_of(row), as_words(rule))
        return self.times(in_16_bits(self, p, INT32_MIN, INT32_MAX, CODE))

    cpdef BinaryStage times(self, PreparedStage last):
        """Give the stage that multiplies codes less their zero points; `last` takes the products to codes."""
        return binary_stage(PRODUCT, Operand(self.a_zero_point, 0, 0, 0), Operand(self.b_zero_point, 0, 0, 0), last,
                            self.typenum)


# numbers


cdef double real(Multiplier p) noexcept:
    """Give multiplier / 2**right_shift."""
    return ldexp(<double>p.m, -<int>p.right_shift)


cdef SumMultipliers integers_of(Operands o, tuple row, Words rule) except *:
    """The integers of a sum that were given, or that the rule makes of the scales."""
    cdef SumMultipliers p
    if o.given is not None:
        a, b, y = o.given
        p.a = Multiplier(a[0], a[1])
        p.b = Multiplier(b[0], b[1])
        p.y = Multiplier(y[0], y[1])
        return p
    if row[DERIVED] == "twice the larger scale":
        return relative_multipliers(o.a_scale, o.b_scale, o.y_scale, o.left_shift, rule.kind)
    return ratio_multipliers(o.a_scale, o.b_scale, o.y_scale, 20 if row[DERIVED] == "ratios of 21 bits" else 21)


cdef double real_scale(Operands o, tuple row) except? -1:
    """The real scale of a product as its systems form it."""
    cdef double scale = derived_scale(row[SCALE], o.a_scale, o.b_scale, o.y_scale)
    if not isfinite(scale):
        raise ValueError(f"{row[SCALE]} gives {scale}")
    return scale


cdef Multiplier factor_of(Operands o, tuple row, Words rule) except *:
    """The integers of a product that were given, or that the rule makes of the real scale."""
    cdef Multiplier p
    if o.given is not None:
        return Multiplier(o.given[0], o.given[1])
    rule.multiplier_of(real_scale(o, row), &p)
    return p


# the last stages: from values to codes


cdef Multiplier less_by(int right_shift) noexcept:
    """The factor of a right shift; from one by 30 bits on, all that is left of 16 bits is the same."""
    return Multiplier(1 << 15, 15 + min(right_shift, 30))


cdef PreparedStage integer_stage(Multiplier p, IntegerRule s):
    cdef PreparedStage made = PreparedStage.__new__(PreparedStage)
    made.integers(1)[0] = params_of(p.m, <int>p.right_shift, &s)
    return made


cdef PreparedStage last_stage(Operands o, Words rule, Multiplier p):
    """The stage that makes codes of values, by a rule of integers in one stage, none of whose sums wraps."""
    cdef IntegerRule s = rule.integer_rule
    s.zero_point, s.lowest, s.highest = o.y_zero_point, o.qmin, o.qmax
    return integer_stage(p, s)


cdef PreparedStage last_float(Operands o, tuple row, float scale, float plus, int shift):
    """The stage rint(value * scale + plus) + shift in float32."""
    cdef PreparedStage made = PreparedStage.__new__(PreparedStage)
    cdef FloatParams p = float_params(0, HALF_EVEN, o.qmin, o.qmax)
    p.plus, p.shift, p.beyond = plus, shift, BEYONDS[row[BEYOND]]
    made.reals(p, 1)[0] = scale
    return made


cdef PreparedStage in_16_bits(Operands o, Multiplier p, int64_t lo, int64_t hi, int wraps):
    """TFLite's optimised last stage: rounded twice, cut, with the zero point wrapped in 16 bits, clamped."""
    cdef IntegerRule near = IntegerRule(HALF_UP, HALF_AWAY, AT_31, wraps, 0, o.y_zero_point, lo, hi)
    cdef IntegerRule up_and_back = IntegerRule(HALF_UP, FLOOR, AT_31, NOTHING, 0, 0, o.qmin, o.qmax)
    return two_stages(integer_stage(p, near), integer_stage(less_by(0), up_and_back))


# sums


cdef BinaryStage shifted_sum(Operands o, SumMultipliers p, int a_left, int b_left, Rounding second, bint once,
                             PreparedStage last):
    """Shift each operand to the left, multiply and round it once or twice, first half up; `last` takes the sum.

    TFLite multiplies the operand with the larger scale by exactly 1/2. That is a left shift of one bit less, and
    needs no rounding. If both scales are equal, this holds for both operands, and the form is a plain sum.
    """
    cdef Operand a = Operand(o.a_zero_point, 0, 0, 0), b = Operand(o.b_zero_point, 0, 0, 0)
    cdef bint a_half = o.have_codes and p.a.m == 1 << 30 and p.a.right_shift == 31 and a_left > 0
    cdef bint b_half = o.have_codes and p.b.m == 1 << 30 and p.b.right_shift == 31 and b_left > 0
    cdef PreparedStage of_a = None, of_b = None
    if a_half and b_half:
        a.multiplier, b.multiplier = 1 << (a_left - 1), 1 << (b_left - 1)
        if o.is_difference:
            b.multiplier = -b.multiplier
        return binary_stage(SUM, a, b, last, o.typenum)
    a.multiplier, b.multiplier = a_left - 1, b_left - 1
    if not a_half:
        a.multiplier = max(a_left, 0) + spare_bits(o, p.a, a_left)
        of_a = rounded(o, p.a, a_left, second, once)
    if not b_half:
        b.multiplier = max(b_left, 0) + spare_bits(o, p.b, b_left)
        of_b = rounded(o, p.b, b_left, second, once)
    if b_half:
        return staged(b, a, last, o.typenum, None, of_a, True, o.is_difference)
    return staged(a, b, last, o.typenum, of_a, of_b, False, o.is_difference)


cdef int spare_bits(Operands o, Multiplier p, int left) noexcept:
    """By how many bits more an operand is shifted: of its int32 two are left, with which lanes need no low words.

    But a multiplier that shifts to the left may wrap, and so may a zero point that is no code.
    """
    cdef bint may_wrap = not o.have_codes or p.right_shift < 31
    return 0 if may_wrap or left < 0 or o.left_shift == 15 or p.right_shift > MOST_SHIFT - 2 else 2


cdef PreparedStage rounded(Operands o, Multiplier p, int left, Rounding second, bint once):
    """The stage of an operand that is multiplied and rounded; if its left shift is below 0, it goes to the right first.
    """
    cdef IntegerRule floor = IntegerRule(FLOOR, FLOOR, ONCE, NOTHING, 0, 0, INT32_MIN, INT32_MAX)
    cdef IntegerRule near = IntegerRule(HALF_UP, second, ONCE if once else AT_31, HIGH if once else NOTHING,
                                        spare_bits(o, p, left), 0, INT32_MIN, INT32_MAX)
    cdef PreparedStage made = integer_stage(p, near)
    return made if left >= 0 else two_stages(integer_stage(less_by(-left), floor), made)


cdef BinaryStage optimised_sum(Operands o, Words rule, SumMultipliers p, bint is_signed):
    """The part of a right shift beyond 31: for s8 the left shift of 20 is less by it; for u8 it floors at the end.
    """
    cdef int a_less = p.a.right_shift - 31, b_less = p.b.right_shift - 31
    cdef double width = o.highest - o.lowest
    cdef PreparedStage last
    if not o.takes_any and (max(a_less, b_less) > 20 or min(a_less, b_less) < 0):
        raise ValueError("a and b are more than 2**20 apart, or multiplied by 1 or more")
    if not o.have_codes or width * (1 << 20) * (fabs(real(p.a)) + fabs(real(p.b))) * fabs(real(p.y)) > IN_16_BITS:
        last = in_16_bits(o, p.y, INT32_MIN, INT32_MAX, CODE)
    else:
        last = last_stage(o, rule, p.y)
    if not is_signed:
        return shifted_sum(o, p, 20, 20, FLOOR, False, last)
    p.a.right_shift = p.b.right_shift = 31
    return shifted_sum(o, p, 20 - a_less, 20 - b_less, FLOOR, True, last)


cdef BinaryStage sum_of_ratios(Operands o, Words rule, SumMultipliers p):
    """Two multipliers and one shift."""
    # the same factor: lanes mostly need only the upper half of the product, and 64 bits hold every product
    cdef int wider = min(30, max(0, 34 - p.y.right_shift))
    if p.a.right_shift or p.b.right_shift or p.y.m != 1 or max(abs(p.a.m), abs(p.b.m)) >= 1 << 22:
        raise ValueError("a and b have multipliers of at most 22 bits and right shifts of 0, and y is (1, shift)")
    last = last_stage(o, rule, Multiplier(<int64_t>1 << wider, p.y.right_shift + wider))
    cdef int of_b = -p.b.m if o.is_difference else p.b.m
    return binary_stage(SUM, Operand(o.a_zero_point, p.a.m, 0, 0), Operand(o.b_zero_point, of_b, 0, 0), last, o.typenum)


cdef BinaryStage ort_sum(Operands o, tuple row):
    """A chain of two fused sums, whose constant has all zero points."""
    cdef float ra = <float>o.a_scale / <float>o.y_scale, rb = <float>o.b_scale / <float>o.y_scale
    cdef float constant = <float>o.y_zero_point - fma_f32(ra, o.a_zero_point, rb * <float>o.b_zero_point)
    return in_float32(o, CHAIN, Operand(0, 0, ra, 0), Operand(0, 0, rb, constant), last_float(o, row, 1, 0, 0))


cdef BinaryStage torch_sum(Operands o, tuple row, str made):
    """The sum of both values over the scale: whole vectors take the zero points apart, tails do not."""
    cdef float a = <float>o.a_scale, b = <float>o.b_scale, inverse = <float>1 / <float>o.y_scale
    cdef int inside = o.y_zero_point if made == "torch tail" else 0
    cdef PreparedStage last = last_float(o, row, inverse, inside, o.y_zero_point - inside)
    if made == "torch":
        return in_float32(o, FLOAT_SUM, Operand(0, 0, a, -<float>o.a_zero_point * a),
                          Operand(0, 0, b, -<float>o.b_zero_point * b), last)
    return in_float32(o, FLOAT_SUM, Operand(o.a_zero_point, 0, a, 0), Operand(o.b_zero_point, 0, b, 0), last)


cdef BinaryStage in_float32(Operands o, BinaryForm form, Operand a, Operand b, PreparedStage last):
    """Give the stage of a form in float32; ValueError if the lowest or highest codes lead beyond float32."""
    cdef double step = <float>o.y_scale
    cdef double of_a, of_b
    cdef bint fits = step > 0 and isfinite(step) and isfinite(<float>(1 / step))
    cdef int x, y, width = o.highest - o.lowest
    for x in range(o.lowest, o.highest + 1, width):
        for y in range(o.lowest, o.highest + 1, width):
            of_a = <double>(x - a.zero) * a.scale + a.plus
            of_b = <double>(y - b.zero) * b.scale + b.plus
            fits = fits and isfinite(<float>of_a) and isfinite(<float>of_b) and isfinite(<float>(of_a + of_b))
    if not fits:
        raise ValueError("float32 does not hold a value of the lowest or highest codes")
    return binary_stage(form, a, b, last, o.typenum)


# products


cdef BinaryStage product(Operands o, tuple row, Words rule, bint is_cut):
    """In integers. TFLite's optimised products are cut to 16 bits, and wrap where the zero point is added."""
    cdef Multiplier p = factor_of(o, row, rule)
    cdef double width = o.highest - o.lowest
    cdef int zero = o.y_zero_point
    if is_cut and (not o.have_codes or width * width * fabs(real(p)) > IN_16_BITS):
        return o.times(in_16_bits(o, p, zero - (1 << 15), zero + (1 << 15) - 1, NOTHING))
    return o.times(last_stage(o, rule, p))


cdef BinaryStage float_product(Operands o, tuple row, Words rule):
    """In float32, with the zero point inside of the rounding or after it, as the rule has it."""
    cdef float scale = real_scale(o, row)
    cdef int zero = o.y_zero_point
    return o.times(
        last_float(o, row, scale, zero, 0) if rule.is_inside else last_float(o, row, scale, 0, zero)
    )
