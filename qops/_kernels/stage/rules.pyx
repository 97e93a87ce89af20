"""Requantization by a rule: the integers that it makes of a real scale, and the stage from accumulators to codes.

A rule is a row of `qops.rules.TABLE`, which explains its words.
"""

cimport numpy as cnp
from libc.math cimport isfinite, ldexp, rintf
from libc.stdint cimport int64_t

import numpy as np

from qops._kernels.stage.float_stage cimport DoubleParams, FloatParams, float_params
from qops._kernels.stage.integer_stage cimport IntegerParams
from qops._kernels.stage.multipliers cimport (
    FLOAT_32, FLOAT_32_OF_31, FLOAT_64, GIVEN, KINDS, REDUCED_LATER, Multiplier, fits, multiplier, reduced,
)
from qops._kernels.stage.prepared cimport (
    BEYONDS, CODE, INTO_16, LAST_BIT, NOTHING, ONCE, ROUNDINGS, SPLITS, WRAPS, IntegerRule, PreparedStage, params_of,
    two_stages,
)
from qops._kernels.stage.rounding cimport FLOOR, Rounding
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

NO_SCALES = 1.0, 1.0


cdef class Words:
    """The words of a rule as numbers, so that ops look them up only once."""

    def __init__(self, rule not None):
        if not isinstance(rule, tuple):
            raise bad_type("rule", f"expected a row, got {rule!r}")
        self.rule = rule
        self.name, kind, first, second, split, zero_point, wraps, beyond = rule[:8]
        self.kind, self.is_inside = KINDS[kind], zero_point == "inside"
        self.is_in_sum = zero_point == "in the accumulator"
        self.beyond = BEYONDS[beyond or "saturates"]
        self.integer_rule = IntegerRule(ROUNDINGS[first], ROUNDINGS[second], SPLITS[split], WRAPS[wraps], 0, 0, 0, 0)

    cdef int multiplier_of(self, double scale, Multiplier* p) except -1:
        """Set p to the multiplier of a real scale; ValueError where the rule makes none that the loops take."""
        if self.kind == GIVEN:
            raise bad_value("scale", f"{self.name} makes no integers of a scale, give it integers")
        p[0] = multiplier(scale, self.kind)
        if not fits(p[0]):
            made = p.m, p.right_shift
            raise bad_value("scale", f"{scale} is out of the range of {self.name}, its integers are {made}")
        return 0


cdef Words as_words(rule):
    """Give the words of a rule, or `rule` itself if it is words already."""
    return <Words>rule if type(rule) is Words else Words(rule)


cdef int refuse_scale(double scale) except -1:
    raise bad_value("scale", f"{scale} is beyond float32")


cdef cnp.ndarray of_channels(cnp.ndarray each, Py_ssize_t count, int typenum):
    """Give numbers, one for each channel, in one piece and of one of numpy's types."""
    if each.ndim != 1 or cnp.PyArray_SIZE(each) != count:
        raise bad_value("factor", f"expected one for each channel, got shape {(<object>each).shape}")
    if cnp.PyArray_TYPE(each) == typenum and PyArray_ISCARRAY_RO(each):
        return each
    return cnp.PyArray_FROM_OTF(each, typenum, cnp.NPY_ARRAY_CARRAY_RO)


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
        self.by_channel = isinstance(factor[0] if self.has_integers else factor, cnp.ndarray)
        self.scales, self.count = &self.scale_of_all, 1
        self.multipliers, self.right_shifts = &self.multiplier_of_all.m, &self.multiplier_of_all.right_shift
        if self.by_channel:
            self.set_channels(factor)
        elif self.has_integers:
            self.multiplier_of_all = Multiplier(factor[0], factor[1])
        else:
            self.scale_of_all = factor
        self.can_wrap = self.words.integer_rule.wraps == CODE and abs(zero_point) < 1 << 29 and bool(
            np.all(np.abs(self.scale) <= 0.5)
        )
        return 0

    cdef int set_channels(self, factor) except -1:
        """Set the numbers of channels."""
        self.count = cnp.PyArray_SIZE(factor[0] if self.has_integers else factor)
        if self.has_integers:
            m, right_shift = [of_channels(each, self.count, cnp.NPY_INT64) for each in factor]
            self.factor = m, right_shift
            self.multipliers = <int64_t*>cnp.PyArray_DATA(m)
            self.right_shifts = <int64_t*>cnp.PyArray_DATA(right_shift)
        else:
            self.factor = of_channels(factor, self.count, cnp.NPY_FLOAT64)
            self.scales = <double*>cnp.PyArray_DATA(self.factor)
        return 0

    @property
    def channels(self):
        """How many channels have a scale of their own; None if all have one."""
        return self.count if self.by_channel else None

    @property
    def scale(self):
        """The real scale, or an array of them."""
        if not self.has_integers:
            return self.factor
        m, right_shift = self.factor
        return np.ldexp(np.float64(m), -right_shift) if self.by_channel else ldexp(m, -right_shift)

    cdef int at(self, Py_ssize_t channel, Multiplier* p) except -1:
        """Set p to the multiplier of a channel, or of all."""
        if not self.has_integers:
            return self.words.multiplier_of(self.scales[channel], p)
        p[0] = Multiplier(self.multipliers[channel], self.right_shifts[channel])
        return 0

    cdef int loop_at(self, Py_ssize_t channel, Multiplier* p) except -1:
        """Set p to the multiplier of the loop: that of the channel, which some rules round to 16 bits."""
        cdef int least = 16 if self.kind == REDUCED_LATER else 1 if self.words.integer_rule.split == LAST_BIT else 0
        self.at(channel, p)
        if p.right_shift < least:
            name = "integers" if self.has_integers else "scale"
            raise bad_value(name, f"{self.words.name} shifts by {least} at least, got a right shift of {p.right_shift}")
        if self.kind == REDUCED_LATER:
            p[0] = Multiplier(reduced(p.m), p.right_shift - 16)
        return 0

    cdef int in_sum(self, Py_ssize_t channel, const Multiplier* p) except? -1:
        """Give the zero point in steps of the accumulators of a channel; ValueError if int32 does not hold it."""
        cdef double scale = ldexp(<double>p.m, -<int>p.right_shift) if self.has_integers else self.scales[channel]
        cdef float found
        if self.zero_point == 0:
            return 0
        if <float>scale == 0:
            raise bad_value("zero_point", f"{self.zero_point} is nowhere in sums whose scale is 0 in float32")
        found = rintf(<float>self.zero_point / <float>scale)
        if not -ldexp(1, 31) < found < ldexp(1, 31):
            raise bad_value("zero_point", f"{self.zero_point} is {found:.6g} steps of the sums, beyond int32")
        return <int>found

    @property
    def zero_in_sum(self):
        """The zero point in steps of the accumulator, or an int64 array of them, where the rule adds it there."""
        cdef Multiplier p
        cdef list found = []
        cdef Py_ssize_t i
        for i in range(self.count):
            self.at(i, &p)
            found.append(self.in_sum(i, &p))
        return np.array(found, np.int64) if self.by_channel else found[0]

    cdef tuple pair(self, bint for_loop):
        """The multiplier and the right shift, of the rule or of its loop, or int64 arrays of them."""
        cdef cnp.ndarray[int64_t] m = np.empty(self.count, np.int64), right_shifts = np.empty(self.count, np.int64)
        cdef Multiplier p
        cdef Py_ssize_t i
        for i in range(self.count):
            if for_loop:
                self.loop_at(i, &p)
            else:
                self.at(i, &p)
            m[i], right_shifts[i] = p.m, p.right_shift
        return (m, right_shifts) if self.by_channel else (m[0], right_shifts[0])

    @property
    def integers(self):
        """Multiplier and total right shift, or int64 arrays of them; ValueError where the rule has none."""
        return self.factor if self.has_integers else self.pair(False)

    @property
    def integers_of_loop(self):
        """The multiplier and shift of the loop: `integers`, whose multiplier some rules round to 16 bits."""
        return self.pair(True)

    cpdef PreparedStage stage(self, bint is_wide=False):
        """The stage from accumulators to codes; ValueError for a scale that the rule cannot take.

        `is_wide`: for int64 accumulators; the stage differs from that for int32 only if the numbers `can_wrap`.
        """
        cdef PreparedStage made
        cdef IntegerParams* params
        cdef Multiplier p
        cdef Py_ssize_t i
        cdef IntegerRule s = self.words.integer_rule
        if self.kind >= FLOAT_32:
            return self.real_stage()
        if self.can_wrap and not is_wide:
            s.wraps = NOTHING
        s.zero_point, s.lowest, s.highest = 0 if self.words.is_in_sum else self.zero_point, self.lo, self.hi
        if s.split == INTO_16:
            return self.short_stage(s)
        made = PreparedStage.__new__(PreparedStage)
        params = made.integers(self.count)
        for i in range(self.count):
            self.loop_at(i, &p)
            params[i] = params_of(p.m, <int>p.right_shift, &s)
            params[i].centre = -self.in_sum(i, &p) if self.words.is_in_sum else 0
        made.ready()
        return made

    cdef PreparedStage short_stage(self, IntegerRule s):
        """The accumulator is shifted into 16 bits, saturating, then multiplied."""
        cdef PreparedStage first = PreparedStage.__new__(PreparedStage), last = PreparedStage.__new__(PreparedStage)
        cdef IntegerRule into = IntegerRule(s.first, FLOOR, ONCE, NOTHING, 0, 0, -(1 << 15), (1 << 15) - 1)
        cdef IntegerParams* shifts = first.integers(self.count)
        cdef IntegerParams* params = last.integers(self.count)
        cdef Multiplier p
        cdef Py_ssize_t i
        s.first, s.second, s.split, s.wraps = s.second, FLOOR, ONCE, NOTHING
        for i in range(self.count):
            self.at(i, &p)
            shifts[i] = params_of(1 << max(15 - p.right_shift, 0), <int>max(p.right_shift - 15, 0), &into)
            params[i] = params_of(p.m, 15, &s)
        first.ready()
        last.ready()
        return two_stages(first, last)

    cdef PreparedStage real_stage(self):
        """The stage of a rule that keeps the scale real: its zero point is added before the rounding, or after it."""
        cdef bint is_inside = self.words.is_inside
        cdef int plus = self.zero_point if is_inside else 0, shift = 0 if is_inside else self.zero_point
        cdef Rounding rounding = self.words.integer_rule.first
        cdef FloatParams p
        cdef PreparedStage made = PreparedStage.__new__(PreparedStage)
        cdef float* scales
        cdef double* wide_scales
        cdef Py_ssize_t i
        if self.kind >= FLOAT_64:
            wide_scales = made.doubles(DoubleParams(0, plus, shift, self.lo, self.hi, rounding), self.count)
            for i in range(self.count):
                wide_scales[i] = self.real_at(i)
        else:
            p = float_params(0, rounding, self.lo, self.hi)
            p.plus, p.shift, p.beyond = plus, shift, self.words.beyond
            p.before, p.after = self.before_after
            scales = made.reals(p, self.count)
            for i in range(self.count):
                scales[i] = <float>self.real_at(i)
        made.ready()
        return made

    cdef double real_at(self, Py_ssize_t channel) except? -1:
        """Give the scale by which the loop multiplies a channel. Rules of FLOAT_64 take it as it is.

        All others round it to float32; ValueError if float32 does not hold it.
        """
        cdef Multiplier p
        cdef double scale
        if self.kind == FLOAT_32_OF_31 or self.has_integers:
            self.at(channel, &p)
            scale = ldexp(<double>p.m, -<int>p.right_shift)
        else:
            scale = self.scales[channel]
        if self.kind == FLOAT_64:
            return scale
        if not isfinite(<float>scale):
            refuse_scale(scale)
        return <float>scale
