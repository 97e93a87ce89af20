"""How nnlib's supernodes find their output range: a first guess, its numbers, and the range of the next pass.

All of it is float32, where each operation rounds.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabsf, frexpf, ldexpf
from libc.stdint cimport INT32_MAX, int32_t, int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.nnlib.ranges cimport FloatEnds, adjust_minmax, level_zero, steps

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef enum:
    MIN_FIXED = 1
    MAX_FIXED = 2
    BITS = 31

cdef float STEEPEST = 1.75  # output steps in a step of the sums, in a first guess
cdef float LEAST_MAX = 1 / 16.  # the narrowest ends that a retry picks
cdef float LEAST_MIN = -1 / 256.
cdef float QUARTER_OCTAVE = 1.18920708  # 2**(1/4)
cdef float[3] QUARTERS = [0.594603539, 0.7071067691, 0.8408964276]  # 2**(-3/4), 2**(-1/2), 2**(-1/4)


@cython.final
cdef class Scales:
    """The factors of the channels, and the largest of them and 1; without factors all are 1.

    period: after so many channels a kernel uses the first factors again; 0 if it does not.
    """

    def __init__(self, each=None, Py_ssize_t period=0):
        self.largest, self.each = 1, None
        if each is not None:
            self.largest = max(1.0, float(each.max()))
            self.each = each[np.arange(len(each)) % period] if period else each

    cdef Py_ssize_t count(self):
        """Give how many multipliers there are."""
        return 1 if self.each is None else cnp.PyArray_SIZE(self.each)


cdef float quarter_octave(float x) noexcept nogil:
    """The first of the numbers 2**(n/4) that is farther from 0 than x * 2**(1/4)."""
    cdef int exponent = 0, i
    cdef float mantissa = fabsf(frexpf(x * QUARTER_OCTAVE, &exponent)), above = 1
    for i in range(3):
        if mantissa < QUARTERS[i]:
            above = QUARTERS[i]
            break
    return ldexpf(above if x > 0 else -above, exponent)


@cython.final
cdef class NodeRange:
    """The output range of a node, which changes from pass to pass and is remembered from call to call.

    given: an end that is not given is None. free: where an end that is not given begins. fixed: the given ends, as
    `adjust_minmax_fixed` takes them.
    """

    def __init__(self, tuple given, tuple free):
        lo, hi = given
        self.fixed = (lo is not None) * MIN_FIXED + (hi is not None) * MAX_FIXED
        self.is_guess = self.fixed < MIN_FIXED + MAX_FIXED
        self.given = FloatEnds(free[0] if lo is None else lo, free[1] if hi is None else hi)
        self.now = self.adjusted(self.given)

    @property
    def ends(self):
        """The range of the next pass."""
        return self.now.min, self.now.max

    def move(self, float lo, float hi):
        """Take the range of the next pass, as it is."""
        self.now, self.guess_shape = FloatEnds(lo, hi), None

    cdef NodeRange copy(self):
        """Give another object with the same range."""
        cdef NodeRange made = NodeRange.__new__(NodeRange)
        made.now, made.given, made.fixed = self.now, self.given, self.fixed
        made.is_guess, made.guess = self.is_guess, self.guess
        made.guess_range, made.guess_shape = self.guess_range, self.guess_shape
        return made

    cdef FloatEnds adjusted(self, FloatEnds r):
        """Put 0 on a code, which it is on if it is the lower end."""
        if not r.min < 0:
            return r
        moved = adjust_minmax(r, self.fixed, 0)
        return FloatEnds(moved.min, moved.max)

    cdef Steepness gain(self, float product, float largest, Ends x, cnp.ndarray image, bint widens) except *:
        """Give how steep a pass is. With `widens`, the first pass of a node widens a guess that is too steep.

        product: the step of the sums. largest: of the factors of channels. A guess holds until images have another
        range `x` or shape.
        """
        cdef float steep = largest * product
        cdef Steepness found
        if self.guess_shape is not None and self.guess_range.min == x.min and self.guess_range.max == x.max:
            if self.guess_shape == (<object>image).shape:
                return self.guess
        self.guess_shape, found = None, self.steepness(steep)
        widens = widens and self.is_guess and found.gain > STEEPEST
        self.is_guess = False
        if widens:
            found = self.widen(steep)
        if not found.gain < <float>2147483648.0:
            raise bad_value("guess_min, guess_max", f"{self.ends} has steps too fine for sums of step {product}")
        if widens:
            self.guess, self.guess_range, self.guess_shape = found, x, (<object>image).shape
        return found

    cdef Steepness steepness(self, float steep):
        cdef float step = level_zero(self.now).step
        return Steepness(step, steep / step if step > 0 else INFINITY)

    cdef Steepness widen(self, float steep):
        """Make the first guess as steep as it may be: 63 steps below 0 and 192 above it, if both ends are free."""
        cdef float step = steep / STEEPEST, width = steps() * step
        cdef FloatEnds r = self.now
        if self.fixed == 0:
            self.now = FloatEnds(-63 * step, 192 * step)
        elif self.fixed == MIN_FIXED:
            self.now = self.adjusted(FloatEnds(r.min, r.min + width))
        else:
            self.now = self.adjusted(FloatEnds(r.max - width, r.max))
        if self.fixed == MAX_FIXED or self.fixed == MIN_FIXED and r.min < 0:
            return self.steepness(steep)
        return Steepness(step, STEEPEST)

    cdef bint retried(self, float step, int64_t lowest, int64_t highest, bint keeps_given, FloatEnds* found):
        """Set the range of another pass; False if all results are in this one.

        lowest, highest: the extremes of the results in output steps, before they saturate. A free end that they are
        beyond moves to `quarter_octave` of the extreme, and a given end is where it was given again. keeps_given: with
        a given end, neither is it reset nor 0 put on a code.
        """
        cdef bint above = not self.fixed & MAX_FIXED and highest > <int>steps()
        cdef bint below = not self.fixed & MIN_FIXED and lowest < 0
        cdef float lo = self.now.min
        found[0] = self.now
        if above:
            found.max = quarter_octave(max(step * <float>(highest + 0.5) + lo, LEAST_MAX))
        if below:
            found.min = quarter_octave(min(step * <float>(lowest - 0.5) + lo, LEAST_MIN))
        if not (above or below) or keeps_given and self.fixed:
            return above or below
        if self.fixed & MIN_FIXED:
            found.min = self.given.min
        if self.fixed & MAX_FIXED:
            found.max = self.given.max
        found[0] = self.adjusted(found[0])
        return True


cdef inline int32_t multiplier_of(float x) noexcept nogil:
    return <int32_t>min(<int64_t>(x + <float>0.5), <int64_t>INT32_MAX)


cdef void set_gain(Gain* made, Steepness found, float product, Scales scales):
    """Set the numbers of an output range that is less than 2**31 steps steep."""
    cdef float common
    cdef Py_ssize_t i
    made.step, made.left_shift = found.step, 0
    if found.gain > 1:
        frexpf(found.gain, &made.left_shift)
    if scales.each is None:
        made.channels[0].multiplier = multiplier_of(ldexpf(found.gain, BITS - made.left_shift))
    common = ldexpf(product / found.step, BITS - made.left_shift)
    for i in range(0 if scales.each is None else made.count):
        made.channels[i].multiplier = multiplier_of(common * (<const float*>cnp.PyArray_DATA(scales.each))[i])
