"""Stages that Python makes: their numbers and tables are made once, here, and never change."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from qops._kernels.arrays.checks import dtype_names

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.concat cimport plain
from qops._kernels.stage.double_stage cimport DoubleParams
from qops._kernels.stage.float_stage cimport (
    CUT_WRAPS, FUSED, LOWEST, LOWEST_WRAPS, OVER, SATURATES, TIMES, FloatParams, float_params,
)
from qops._kernels.stage.integer_stage cimport IntegerParams, integer_lanes, integer_params, shift_by
from qops._kernels.stage.rounding cimport FLOOR, HALF_AWAY, HALF_EVEN, HALF_UP, TRUNCATE
from qops._kernels.stage.stage cimport (
    DOUBLE, INTEGER, REAL, SPARE, Stage, float_stage, integer_stage, period_of, stage_over, stage_unless_nan,
)

cnp.import_array()

ROUNDINGS = {
    "": FLOOR,  # the second rounding of a rule that rounds once
    "floor": FLOOR, "truncate": TRUNCATE, "half_up": HALF_UP, "half_away": HALF_AWAY, "half_even": HALF_EVEN,
}
FORMS = {"times": TIMES, "fused": FUSED, "over": OVER}
BEYONDS = {
    "saturates": SATURATES, "lowest": LOWEST, "lowest, wraps": LOWEST_WRAPS, "cut, wraps": CUT_WRAPS,
}
SPLITS = {"once": ONCE, "at 31": AT_31, "past 31": PAST_31, "last bit": LAST_BIT, "16 bits": INTO_16}
WRAPS = {
    "": NOTHING, "left shift": NOTHING, "every step": PRODUCT, "result": HIGH, "sum with the zero point": CODE,
}


cdef class PreparedStage:
    """A stage with its numbers: `stage.run(x, out)` sets out to the codes of accumulators or values."""

    cdef int check_input(self, cnp.ndarray x) except -1:
        """TypeError if the stage would read another type than x has."""
        cdef const Stage* first = self.stage.before if self.stage.before != NULL else &self.stage
        cdef int other = cnp.NPY_INT64 if first.kind == INTEGER else cnp.NPY_FLOAT32 if first.kind == REAL else -1
        if typenum_of(x) != cnp.NPY_INT32 and (other < 0 or typenum_of(x) != other):
            raise TypeError(f"x: expected {dtype_names(cnp.NPY_INT32, other)}, got {(<object>x).dtype}")
        return 0

    def run(self, cnp.ndarray x, cnp.ndarray out, Py_ssize_t inner=1):
        """Set out to the codes of x, of the same shape; `inner` neighbours belong to each channel."""
        cdef Stage s = self.stage, before
        cdef cnp.ndarray made = out
        self.check_input(x)
        if s.count == 1:
            stage_over(&s, x, out)
            return
        if inner < 1 or cnp.PyArray_SIZE(x) != cnp.PyArray_SIZE(out):
            raise ValueError(f"x, out, inner: expected arrays of one size, and inner from 1 on, got {inner}")
        s.inner = inner
        if s.before != NULL:
            before = s.before[0]
            before.inner = inner
            s.before = &before
        if not cnp.PyArray_ISCARRAY(out):
            made = cnp.PyArray_EMPTY(out.ndim, out.shape, cnp.PyArray_TYPE(out), 0)
        stage_over(&s, plain(x), made)
        if made is not out:
            cnp.PyArray_CopyInto(out, made)

    def run_unless_nan(self, cnp.ndarray x, cnp.ndarray out):
        """out = the codes of float32 x, by a stage of one channel. False if a value is NaN: then `out` is undefined."""
        if self.stage.kind != REAL or self.stage.count != 1 or typenum_of(x) != cnp.NPY_FLOAT32:
            raise TypeError(f"x: expected float32 and a float stage of one channel, got {(<object>x).dtype}")
        return stage_unless_nan(&self.stage, x, out)


cdef IntegerRule integer_rule(tuple rounds, tuple ends, str wraps, int shifted):
    """Give the words and numbers of `IntegerStage` as a struct."""
    cdef IntegerRule r
    r.first, r.second, r.split = ROUNDINGS[rounds[0]], ROUNDINGS[rounds[1]], SPLITS[rounds[2]]
    r.zero_point, r.lowest, r.highest = ends
    r.shifted, r.wraps = shifted, WRAPS[wraps]
    return r


cdef IntegerParams params_of(int64_t multiplier, int n, const IntegerRule* r) noexcept nogil:
    """Give the parameters of x * multiplier / 2**n by a rule whose split is not INTO_16, which takes two stages."""
    cdef IntegerParams p
    if r.split == ONCE or r.split == PAST_31 and n <= 31:
        p = integer_params(multiplier, shift_by(n + r.shifted, r.first), r.lowest, r.highest)
    elif r.split == LAST_BIT:  # n - 1 bits, then one
        p = integer_params(multiplier, shift_by(max(n, 1) - 1, r.first), r.lowest, r.highest)
        p.second = shift_by(1, r.second)
    else:  # 31 bits, then the rest of n; if n is less, x is shifted to the left first
        p = integer_params(multiplier, shift_by(31 + r.shifted, r.first), r.lowest, r.highest)
        p.left_shift = max(0, 31 - n)
        p.second = shift_by(max(0, n - 31), r.second)
    p.zero_point = r.zero_point
    p.product_wraps, p.high_wraps, p.code_wraps = r.wraps == PRODUCT, r.wraps == HIGH, r.wraps == CODE
    return p


cdef class IntegerStage(PreparedStage):
    """Multiply by multiplier / 2**right_shift: two integers, or two arrays of int64 with one for each channel.

    rounds: a rule's first rounding, its second and its split. ends: the zero point, the lowest and the highest code.
    wraps: what wraps. shifted: by how many bits the caller has shifted accumulators to the left. The right shift grows
    by as many; from 32 on, SIMD loops need no low words of the products.
    """

    def __init__(self, multiplier, right_shift, tuple rounds, tuple ends, str wraps="", int shifted=0):
        cdef IntegerRule r = integer_rule(rounds, ends, wraps, shifted)
        if isinstance(multiplier, cnp.ndarray):
            self.set_channels(multiplier, right_shift, &r)
        else:
            self.set_one(multiplier, right_shift, &r)

    cdef void set_one(self, int64_t multiplier, int right_shift, const IntegerRule* r) noexcept:
        """Set the stage to one multiplier and right shift."""
        cdef IntegerParams one = params_of(multiplier, right_shift, r)
        self.stage = integer_stage(&one)

    cdef int set_channels(self, cnp.ndarray[int64_t] multipliers, cnp.ndarray[int64_t] right_shifts,
                          const IntegerRule* r) except -1:
        """Set the stage to a multiplier and a right shift for each channel."""
        cdef bytearray params
        cdef Py_ssize_t i, count = len(multipliers)
        if len(right_shifts) != count:
            raise ValueError("multiplier, right_shift: expected as many of each")
        params = bytearray(count * sizeof(IntegerParams))
        for i in range(count):
            (<IntegerParams*><char*>params)[i] = params_of(multipliers[i], <int>right_shifts[i], r)
        self.set_params(params)
        return 0

    cdef int set_params(self, bytearray memory) except -1:
        """Set the stage to channels with these IntegerParams, and keep them."""
        cdef IntegerParams* params = <IntegerParams*><char*>memory
        cdef Py_ssize_t count = len(memory) // sizeof(IntegerParams)
        if count == 0:
            raise ValueError("multiplier, right_shift: expected one of each, at least")
        self.params = memory
        self.stage = integer_stage(params)
        self.stage.count, self.stage.channels = count, params
        if count > 1:
            self.lanes = integer_lanes(&self.stage.lanes, params, count, period_of(count), SPARE)
        return 0


cdef PreparedStage stage_of_params(bytearray params):
    """Give a stage whose channels, at least one, have the IntegerParams in `params`."""
    cdef IntegerStage stage = IntegerStage.__new__(IntegerStage)
    stage.set_params(params)
    return stage


cdef class TwoStages(PreparedStage):
    """The first stage makes int32 codes, and the last one takes these to codes."""

    def __init__(self, PreparedStage first, PreparedStage last):
        self.first, self.last = first, last
        self.stage = last.stage
        self.stage.before = &first.stage


cdef cnp.ndarray repeated(scales, int typenum, Py_ssize_t* count):
    """Give the scales of channels as one of numpy's types, repeated over a period and SPARE more, and set `count`."""
    cdef cnp.ndarray each = cnp.PyArray_FROM_OTF(scales, typenum, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_FORCECAST)
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(each), i
    cdef cnp.npy_intp n
    cdef cnp.ndarray made
    count[0] = cnp.PyArray_SIZE(each)
    if count[0] == 0:
        raise ValueError("scales: expected one, at least")
    n = period_of(count[0]) + SPARE
    made = cnp.PyArray_EMPTY(1, &n, typenum, 0)
    for i in range(n):
        memcpy(cnp.PyArray_BYTES(made) + i * size, cnp.PyArray_BYTES(each) + i % count[0] * size, size)
    return made


cdef class FloatStage(PreparedStage):
    """clamp(round((x - minus) * before * scale * after + plus) + shift) in float32.

    First x is clamped to lowest_x..highest_x. scales: one, or an array with one for each channel. form: "fused" rounds
    product and sum once, "over" divides by the scale. beyond: what a rounded value beyond int32 becomes, a word of
    BEYONDS, which `float_stage` explains.
    """

    def __init__(self, scales, str rounding, double lowest, double highest, float plus=0.0, double shift=0.0,
                 str form="times", *, float minus=0.0, float lowest_x=-INFINITY, float highest_x=INFINITY,
                 str beyond="saturates", float before=1.0, float after=1.0):
        cdef FloatParams p = float_params(0.0, ROUNDINGS[rounding], lowest, highest)
        p.plus, p.shift, p.form, p.minus, p.lowest_x, p.highest_x = plus, shift, FORMS[form], minus, lowest_x, highest_x
        p.beyond, p.before, p.after = BEYONDS[beyond], before, after
        self.set_numbers(scales, p)

    cdef int set_numbers(self, scales, FloatParams p) except -1:
        """Set the stage to these parameters, with one scale or a scale for each channel."""
        cdef Py_ssize_t count
        # double where float32 does not hold an end, or a sum with the shift
        p.wide = <float>p.lowest != p.lowest or <float>p.highest != p.highest
        p.wide = p.wide or p.shift != 0 and max(-p.lowest, p.highest, abs(p.shift)) > 1 << 24
        if isinstance(scales, float):
            p.scale = scales
            self.stage = float_stage(&p)
            return 0
        self.scales = repeated(scales, cnp.NPY_FLOAT32, &count)
        p.scale = (<float*>cnp.PyArray_DATA(self.scales))[0]
        self.stage = float_stage(&p)
        self.stage.count, self.stage.channels = count, cnp.PyArray_DATA(self.scales)
        return 0


cdef class DoubleStage(PreparedStage):
    """clamp(round(x * scale + plus) + shift) in double, of int32 accumulators; one scale, or one for each channel."""

    def __init__(self, scales, str rounding, double lowest, double highest, double plus=0.0, double shift=0.0):
        self.set_numbers(scales, DoubleParams(0, plus, shift, lowest, highest, ROUNDINGS[rounding]))

    cdef int set_numbers(self, scales, DoubleParams p) except -1:
        """Set the stage to these parameters, with one scale or a scale for each channel."""
        self.stage.params.wide = p
        self.stage.kind, self.stage.count, self.stage.inner = DOUBLE, 1, 1
        if isinstance(scales, float):
            self.stage.params.wide.scale = scales
            return 0
        self.scales = repeated(scales, cnp.NPY_FLOAT64, &self.stage.count)
        self.stage.params.wide.scale = (<double*>cnp.PyArray_DATA(self.scales))[0]
        self.stage.channels = cnp.PyArray_DATA(self.scales)
        return 0
