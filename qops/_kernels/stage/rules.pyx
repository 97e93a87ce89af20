"""Requantization by a rule: the integers that it makes of a real scale, and the stage from accumulators to codes.

A rule is a row of `qops.rules.TABLE`, which explains its words.
"""

cimport numpy as cnp
from cpython.bytearray cimport PyByteArray_FromStringAndSize
from libc.math cimport isfinite, ldexp
from libc.stdint cimport int64_t

import numpy as np

from qops._kernels.stage.double_stage cimport DoubleParams
from qops._kernels.stage.float_stage cimport FloatParams, float_params
from qops._kernels.stage.integer_stage cimport IntegerParams
from qops._kernels.stage.multipliers cimport (
    FLOAT_32, FLOAT_32_OF_31, FLOAT_64, GIVEN, KINDS, REDUCED_LATER, Multiplier, fits, multiplier, reduced,
)
from qops._kernels.stage.prepared cimport (
    BEYONDS, CODE, INTO_16, LAST_BIT, NOTHING, ONCE, ROUNDINGS, SPLITS, WRAPS, DoubleStage, FloatStage, IntegerStage,
    PreparedStage, IntegerRule, TwoStages, params_of,
)
from qops._kernels.stage.rounding cimport FLOOR, Rounding

cnp.import_array()

NO_SCALES = 1.0, 1.0


cdef class Words:
    """The words of a rule as numbers, so that ops look them up only once."""

    def __init__(self, rule not None):
        if not isinstance(rule, tuple):
            raise TypeError(f"rule: expected a row, got {rule!r}")
        self.rule = rule
        self.name, kind, first, second, split, zero_point, wraps, beyond = rule[:8]
        self.kind, self.is_inside = KINDS[kind], zero_point == "inside"
        self.beyond = BEYONDS[beyond or "saturates"]
        self.integer_rule = IntegerRule(ROUNDINGS[first], ROUNDINGS[second], SPLITS[split], WRAPS[wraps], 0, 0, 0, 0)

    cdef Multiplier multiplier_of(self, double scale) except *:
        """The multiplier of a real scale; ValueError where the rule makes none that the loops take."""
        cdef Multiplier p
        if self.kind == GIVEN:
            raise ValueError(f"scale: {self.name} makes no integers of a scale, give it integers")
        p = multiplier(scale, self.kind)
        if not fits(p):
            made = p.m, p.right_shift
            raise ValueError(f"scale: {scale} is out of the range of {self.name}, its integers are {made}")
        return p


cdef Words as_words(rule):
    """Give the words of a rule, or `rule` itself if it is words already."""
    return <Words>rule if type(rule) is Words else Words(rule)


cdef object element(cnp.ndarray each, Py_ssize_t channel):
    """Give an element of an array of one axis as a number of Python: numpy's own take ten times as long."""
    if each.ndim != 1 or channel >= each.shape[0]:
        raise ValueError(f"factor: expected one for each channel, got shape {(<object>each).shape}")
    return cnp.PyArray_GETITEM(each, <char*>cnp.PyArray_GETPTR1(each, channel))


cdef class Numbers:
    """A rule and the numbers with which it makes codes of accumulators.

    factor: the real scale, or the multiplier and the right shift; or arrays of these, one for each channel.
    lo, hi: the lowest and the highest code.
    before_after: what an accumulator is multiplied by before the scale, and after it; each product is a float32.
    """

    def __init__(self, rule not None, factor, int zero_point, int lo, int hi, tuple before_after not None=NO_SCALES):
        self.set(rule, factor, zero_point, lo, hi, before_after)

    cdef int set(self, rule, factor, int zero_point, int lo, int hi, tuple before_after) except -1:
        """Set all fields, as `__init__` does; a caller in Cython saves the time of its arguments."""
        self.words = as_words(rule)
        self.factor, self.before_after, self.kind = factor, before_after, self.words.kind
        self.zero_point, self.lo, self.hi = zero_point, lo, hi
        self.has_integers = isinstance(factor, tuple)
        first = factor[0] if self.has_integers else factor
        self.count = cnp.PyArray_SIZE(<cnp.ndarray>first) if isinstance(first, cnp.ndarray) else -1
        self.can_wrap = self.words.integer_rule.wraps == CODE and abs(zero_point) < 1 << 29 and bool(
            np.all(np.abs(self.scale) <= 0.5)
        )
        return 0

    @property
    def channels(self):
        """How many channels have a scale of their own; None if all have one."""
        return None if self.count < 0 else self.count

    @property
    def scale(self):
        """The real scale, or an array of them."""
        if not self.has_integers:
            return self.factor
        m, right_shift = self.factor
        return ldexp(m, -right_shift) if self.count < 0 else np.ldexp(np.float64(m), -right_shift)

    cdef Multiplier at(self, Py_ssize_t channel) except *:
        """The multiplier of a channel, or of all."""
        if self.count < 0:
            if self.has_integers:
                return Multiplier(self.factor[0], self.factor[1])
            return self.words.multiplier_of(self.factor)
        if self.has_integers:
            return Multiplier(element(self.factor[0], channel), element(self.factor[1], channel))
        return self.words.multiplier_of(element(self.factor, channel))

    cdef Multiplier of_loop(self, Multiplier p) except *:
        """Give the multiplier and shift of the loop for a multiplier of 31 bits, which some rules round to 16 bits."""
        cdef int least = 16 if self.kind == REDUCED_LATER else 1 if self.words.integer_rule.split == LAST_BIT else 0
        if p.right_shift < least:
            name = "integers" if self.has_integers else "scale"
            raise ValueError(
                f"{name}: {self.words.name} shifts by {least} at least, got a right shift of {p.right_shift}"
            )
        return Multiplier(reduced(p.m), p.right_shift - 16) if self.kind == REDUCED_LATER else p

    cdef tuple arrays(self, bint for_loop):
        """The multipliers and the right shifts of all channels, int64."""
        cdef cnp.ndarray[int64_t] m = np.empty(self.count, np.int64), right_shifts = np.empty(self.count, np.int64)
        cdef Multiplier p
        cdef Py_ssize_t i
        for i in range(self.count):
            p = self.at(i)
            p = self.of_loop(p) if for_loop else p
            m[i], right_shifts[i] = p.m, p.right_shift
        return m, right_shifts

    @property
    def integers(self):
        """Multiplier and total right shift, or int64 arrays of them; ValueError where the rule has none."""
        cdef Multiplier p
        if self.has_integers or self.count >= 0:
            return self.factor if self.has_integers else self.arrays(False)
        p = self.at(0)
        return p.m, p.right_shift

    @property
    def integers_of_loop(self):
        """The multiplier and shift of the loop: `integers`, whose multiplier some rules round to 16 bits."""
        cdef Multiplier p
        if self.count >= 0:
            return self.arrays(True)
        p = self.of_loop(self.at(0))
        return p.m, p.right_shift

    cpdef PreparedStage stage(self, bint is_wide=False):
        """The stage from accumulators to codes; ValueError for a scale that the rule cannot take.

        `is_wide`: for int64 accumulators; the stage differs from that for int32 only if the numbers `can_wrap`.
        """
        cdef IntegerStage made
        cdef Multiplier p
        cdef IntegerRule s = self.words.integer_rule
        if self.kind >= FLOAT_32:
            return self.real_stage()
        made = IntegerStage.__new__(IntegerStage)
        if self.can_wrap and not is_wide:
            s.wraps = NOTHING
        s.zero_point, s.lowest, s.highest = self.zero_point, self.lo, self.hi
        if s.split == INTO_16:
            return self.short_stage(s)
        if self.count < 0:
            p = self.of_loop(self.at(0))
            made.set_one(p.m, p.right_shift, &s)
        else:
            made.set_params(self.params(&s))
        return made

    cdef bytearray params(self, const IntegerRule* s):
        """The parameters of the loop, for each channel."""
        cdef bytearray made = PyByteArray_FromStringAndSize(NULL, self.count * sizeof(IntegerParams))
        cdef Multiplier p
        cdef Py_ssize_t i
        for i in range(self.count):
            p = self.of_loop(self.at(i))
            (<IntegerParams*><char*>made)[i] = params_of(p.m, p.right_shift, s)
        return made

    cdef PreparedStage short_stage(self, IntegerRule s):
        """The accumulator is shifted into 16 bits, saturating, then multiplied."""
        cdef IntegerStage first = IntegerStage.__new__(IntegerStage), last = IntegerStage.__new__(IntegerStage)
        cdef IntegerRule into = IntegerRule(s.first, FLOOR, ONCE, NOTHING, 0, 0, -(1 << 15), (1 << 15) - 1)
        s.first, s.second, s.split, s.wraps = s.second, FLOOR, ONCE, NOTHING
        m, right_shift = self.integers
        left, right = np.maximum(15 - right_shift, 0), np.maximum(right_shift - 15, 0)
        if self.count < 0:
            first.set_one(1 << <int>left, right, &into)
            last.set_one(m, 15, &s)
        else:
            first.set_channels(np.left_shift(1, left), right, &into)
            last.set_channels(m, np.full_like(m, 15), &s)
        return TwoStages(first, last)

    cdef PreparedStage real_stage(self):
        """The stage of a rule that keeps the scale real: its zero point is added before the rounding, or after it."""
        cdef bint is_inside = self.words.is_inside
        cdef int plus = self.zero_point if is_inside else 0, shift = 0 if is_inside else self.zero_point
        cdef Rounding rounding = self.words.integer_rule.first
        cdef FloatParams p
        cdef FloatStage single
        cdef DoubleStage wide
        scale = self.real_scale()
        if self.kind >= FLOAT_64:
            wide = DoubleStage.__new__(DoubleStage)
            wide.set_numbers(scale, DoubleParams(0, plus, shift, self.lo, self.hi, rounding))
            return wide
        p = float_params(0, rounding, self.lo, self.hi)
        p.plus, p.shift, p.beyond = plus, shift, self.words.beyond
        p.before, p.after = self.before_after
        single = FloatStage.__new__(FloatStage)
        single.set_numbers(scale, p)
        return single

    cdef object real_scale(self):
        """Give the real scale of the loop, or an array by channel: `scale`, rounded to float32 by most rules."""
        cdef cnp.ndarray[float] near
        cdef Py_ssize_t i
        if self.kind == FLOAT_64:
            return self.scale
        if self.count < 0:
            return <double>self.in_float32(0)
        near = np.empty(self.count, np.float32)
        for i in range(self.count):
            near[i] = self.in_float32(i)
        return near

    cdef float in_float32(self, Py_ssize_t channel) except? -1:
        """The scale of a channel, or of all, as float32; ValueError if float32 does not hold it."""
        cdef Multiplier p
        cdef double scale
        if self.kind == FLOAT_32_OF_31 or self.has_integers:
            p = self.at(channel)
            return ldexp(<float>p.m if self.kind == FLOAT_32_OF_31 else p.m, -<int>p.right_shift)
        scale = self.factor if self.count < 0 else element(self.factor, channel)
        if not isfinite(<float>scale):
            raise ValueError(f"scale: {scale} is beyond float32")
        return scale
