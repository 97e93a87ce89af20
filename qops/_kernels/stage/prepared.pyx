"""Stages that Python makes: their numbers and tables are made once, here, and never change."""

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.concat cimport plain
from qops._kernels.stage.float_stage cimport (
    CUT_WRAPS, FUSED, LOWEST, LOWEST_WRAPS, OVER, SATURATES, TIMES, DoubleParams, FloatParams, float_params,
)
from qops._kernels.stage.integer_stage cimport BYTES_OF_LANES, IntegerParams, integer_lanes, integer_params, shift_by
from qops._kernels.stage.rounding cimport FLOOR, HALF_AWAY, HALF_EVEN, HALF_UP, TRUNCATE
from qops._kernels.stage.stage cimport (
    DOUBLE, INTEGER, LAYER, REAL, SPARE, Kind, Stage, period_of, stage_unless_nan, stage_walk, type_of_codes,
)
from qops._kernels.arrays.refusal import bad_type, bad_value

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


ctypedef fused real:
    float
    double


cdef void finish_scales(real* scale, real* each, Py_ssize_t count) noexcept nogil:
    """Repeat the scales of several channels until the end of a period and SPARE more; `scale` becomes the first."""
    cdef Py_ssize_t i
    scale[0] = each[0]
    for i in range(count, period_of(count) + SPARE):
        each[i] = each[i - count]


cdef class PreparedStage:
    """A stage with its numbers: `stage.run(x, out)` sets out to the codes of accumulators or values."""

    def __init__(self):
        raise TypeError(f"{type(self).__name__}: is made in Cython only")

    cdef char* room(self, Kind kind, Py_ssize_t count, int own, int repeated) except NULL:
        """Set the kind and the number of channels, and give room for their table.

        It has `own` bytes for each channel, and `repeated` bytes for each entry of a period and for SPARE more. A
        single channel has no table: its numbers are in the stage.
        """
        cdef Py_ssize_t size
        if count == 0:
            raise bad_value("scales, integers", "expected one, at least")
        self.stage.kind, self.stage.count, self.stage.inner = kind, count, 1
        if count == 1:
            return <char*>&self.stage.params
        size = count * own + (period_of(count) + SPARE) * repeated
        self.table = PyBytes_FromStringAndSize(NULL, size)
        self.stage.channels = PyBytes_AS_STRING(self.table)
        return PyBytes_AS_STRING(self.table)

    cdef IntegerParams* integers(self, Py_ssize_t count) except NULL:
        """Give room for the parameters of channels that multiply by multiplier / 2**right_shift."""
        return <IntegerParams*>self.room(INTEGER, count, sizeof(IntegerParams), BYTES_OF_LANES)

    cdef float* reals(self, FloatParams p, Py_ssize_t count) except NULL:
        """Set all numbers in float32 but the scales, and give room for these."""
        cdef char* table = self.room(REAL, count, 0, sizeof(float))
        # double where float32 does not hold an end, or a sum with the shift
        p.wide = <float>p.lowest != p.lowest or <float>p.highest != p.highest
        p.wide = p.wide or p.shift != 0 and max(-p.lowest, p.highest, abs(p.shift)) > 1 << 24
        self.stage.params.real = p
        return <float*>table if count > 1 else &self.stage.params.real.scale

    cdef double* doubles(self, DoubleParams p, Py_ssize_t count) except NULL:
        """Set all numbers in double but the scales, and give room for these."""
        cdef char* table = self.room(DOUBLE, count, 0, sizeof(double))
        self.stage.params.wide = p
        return <double*>table if count > 1 else &self.stage.params.wide.scale

    cdef void ready(self) noexcept:
        """Make the rest of the table, once the numbers of channels are written."""
        cdef Stage* s = &self.stage
        cdef IntegerParams* params = <IntegerParams*>s.channels
        cdef Py_ssize_t period = period_of(s.count)
        if s.count == 1:
            return
        if s.kind == REAL:
            finish_scales(&s.params.real.scale, <float*>s.channels, s.count)
        elif s.kind == DOUBLE:
            finish_scales(&s.params.wide.scale, <double*>s.channels, s.count)
        else:
            s.params.integer = params[0]
            integer_lanes(&s.lanes, params + s.count, params, s.count, period, period + SPARE)

    cdef int check_input(self, cnp.ndarray x) except -1:
        """Give numpy's number of the type of x; TypeError if the stage does not take it."""
        cdef const Stage* first = self.stage.before if self.stage.before != NULL else &self.stage
        cdef bint is_narrow = first.kind == LAYER or first.post_ops != NULL
        cdef int typenum = typenum_of(x)
        if typenum == cnp.NPY_INT32 or typenum == cnp.NPY_INT64 and not is_narrow:
            return typenum
        if typenum == cnp.NPY_FLOAT32 and first.kind == REAL and not is_narrow:
            return typenum
        names = "int32" if is_narrow else "int32, int64 or float32" if first.kind == REAL else "int32 or int64"
        raise bad_type("x", f"expected {names}, got {(<object>x).dtype}")

    cpdef object run(self, cnp.ndarray x, cnp.ndarray out, Py_ssize_t inner=1):
        """Set out to the codes of x, of the same shape; `inner` neighbours belong to each channel."""
        cdef int x_type = self.check_input(x)
        if self.stage.count > 1 and (inner < 1 or cnp.PyArray_SIZE(x) != cnp.PyArray_SIZE(out)):
            raise bad_value("x, out, inner", f"expected arrays of one size, and inner from 1 on, got {inner}")
        self.make(x, x_type, out, type_of_codes(out), inner)

    cdef object make(self, cnp.ndarray x, int x_type, cnp.ndarray out, int c_type, Py_ssize_t inner):
        """Do what `run` does. The types, numpy's numbers, are checked already, and so are `inner` and the sizes."""
        cdef Stage s, before
        cdef cnp.ndarray made = out
        if self.stage.count == 1:
            stage_walk(&self.stage, x, x_type, out, c_type)
            return
        s = self.stage
        s.inner = inner
        if s.before != NULL:
            before = s.before[0]
            before.inner = inner
            s.before = &before
        if not cnp.PyArray_ISCARRAY(out):
            made = cnp.PyArray_EMPTY(out.ndim, out.shape, c_type, 0)
        stage_walk(&s, plain(x), x_type, made, c_type)
        if made is not out:
            cnp.PyArray_CopyInto(out, made)

    def run_unless_nan(self, cnp.ndarray x, cnp.ndarray out):
        """out = the codes of float32 x, by a stage of one channel. False if a value is NaN: then `out` is undefined."""
        if self.stage.kind != REAL or self.stage.count != 1 or typenum_of(x) != cnp.NPY_FLOAT32:
            raise bad_type("x", f"expected float32 and a float stage of one channel, got {(<object>x).dtype}")
        return stage_unless_nan(&self.stage, x, out)


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


cdef PreparedStage two_stages(PreparedStage first, PreparedStage last):
    """Give the stage that takes the int32 codes of the first stage to codes by the last one."""
    cdef PreparedStage made = PreparedStage.__new__(PreparedStage)
    made.stage, made.table, made.first = last.stage, last.table, first
    made.stage.before = &first.stage
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
        cdef cnp.ndarray each
        cdef float* room
        cdef Py_ssize_t i
        p.plus, p.shift, p.form, p.minus, p.lowest_x, p.highest_x = plus, shift, FORMS[form], minus, lowest_x, highest_x
        p.beyond, p.before, p.after = BEYONDS[beyond], before, after
        if isinstance(scales, float):
            self.reals(p, 1)[0] = scales
            return
        each = cnp.PyArray_FROM_OTF(scales, cnp.NPY_FLOAT64, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_FORCECAST)
        room = self.reals(p, cnp.PyArray_SIZE(each))
        for i in range(self.stage.count):
            room[i] = <float>(<double*>cnp.PyArray_DATA(each))[i]
        self.ready()
