"""The stages for rules that are made in Python: one scale for all, or one for each channel or element.

`inner` elements that follow each other have one scale, then come those of the next; after the last, the first again.
Where there is more than one scale, the arrays are contiguous.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.arrays.checks import dtype_names

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.checks cimport output
from qops._kernels.stage.double_stage cimport DoubleRow, double_maker, double_stage, double_turns
from qops._kernels.stage.float_stage cimport FUSED, OVER, TIMES, FloatRow, float_channels, float_row, float_stage
from qops._kernels.stage.float_stage cimport float_maker, float_stage_unless_nan, float_turns
from qops._kernels.stage.integer_stage cimport SHIFTS, Channels, IntegerRow, OwnRows, integer_channels, integer_own
from qops._kernels.stage.integer_stage cimport integer_maker, integer_row, integer_rows, integer_stage, put_together
from qops._kernels.stage.integer_stage cimport shift_by
from qops._kernels.stage.maker cimport KeptMaker, Maker, Scales, are_few, scales_of, spread, turns
from qops._kernels.stage.range cimport holds_nan
from qops._kernels.stage.rounding cimport FLOOR, HALF_AWAY, HALF_EVEN, HALF_UP, TRUNCATE, Rounding

cnp.import_array()

cdef dict NAMES = {
    "": FLOOR,  # of a second step that is not there
    "floor": FLOOR, "truncate": TRUNCATE, "half_up": HALF_UP, "half_away": HALF_AWAY, "half_even": HALF_EVEN,
}
cdef dict FORMS = {"times": TIMES, "fused": FUSED, "over": OVER}
SPLITS = ("once", "at 31", "past 31", "last bit")
cdef enum:
    FAR = 1 << 18  # values, which the near caches do not hold: they are read once
cdef enum Split:  # where a shift that is rounded twice is split
    ONCE
    AT_31
    PAST_31  # shifts up to 31 are rounded once
    LAST_BIT
cdef enum Wraps:  # what wraps in 32 bits, but for the left shift of a split at 31, which always does
    NOTHING
    PRODUCT
    HIGH
    CODE
cdef dict WRAPS = {
    "": NOTHING, "left shift": NOTHING, "every step": PRODUCT, "result": HIGH, "sum with the zero point": CODE,
}


cdef struct Rule:
    OwnRows rows
    Rounding first, second
    int split, wraps, shifted, zero_point, lowest, highest


cdef IntegerRow row_of(int64_t multiplier, int n, const Rule* r) noexcept nogil:
    """The row of multiplier / 2**n by a rule."""
    cdef IntegerRow p
    if r.split == ONCE or r.split == PAST_31 and n <= 31:
        p = integer_row(multiplier, shift_by(n + r.shifted, r.first), r.lowest, r.highest)
    elif r.split == LAST_BIT:
        p = integer_row(multiplier, shift_by(max(n, 1) - 1, r.first), r.lowest, r.highest)
        p.second = shift_by(1, r.second)
    else:
        p = integer_row(multiplier, shift_by(31 + r.shifted, r.first), r.lowest, r.highest)
        p.left_shift = max(0, 31 - n)
        p.second = shift_by(max(0, n - 31), r.second)
    p.zero_point = r.zero_point
    p.product_wraps, p.high_wraps, p.code_wraps = r.wraps == PRODUCT, r.wraps == HIGH, r.wraps == CODE
    return p


cdef void put_shifts(Rule* r) noexcept nogil:
    """A row for each shift."""
    cdef int n
    for n in range(SHIFTS):
        r.rows.of_shift[n] = row_of(0, n, r)


cdef void pick(void* row, const void* rule, Py_ssize_t c) noexcept nogil:
    cdef const Rule* r = <const Rule*>rule
    (<IntegerRow*>row)[0] = r.rows.of_shift[r.rows.right_shifts[c]]
    (<IntegerRow*>row).multiplier = r.rows.multipliers[c]


cdef int take(cnp.ndarray x, int typenum, int or_typenum) except -1:
    """TypeError where the loops would read other types than there are."""
    if typenum_of(x) != typenum and typenum_of(x) != or_typenum:
        raise TypeError(f"x: expected {dtype_names(typenum, or_typenum)}, got {(<object>x).dtype}")
    return 0


cdef int check_numbers(cnp.ndarray numbers, int typenum, Py_ssize_t inner) except -1:
    """TypeError or ValueError where the loops would read other types, or nothing."""
    if inner < 1:
        raise ValueError(f"inner: expected 1 or more, got {inner}")
    if (typenum_of(numbers) != typenum or not cnp.PyArray_IS_C_CONTIGUOUS(numbers)
            or cnp.PyArray_SIZE(numbers) == 0):
        raise TypeError(f"numbers: expected contiguous {dtype_names(typenum)}, got {(<object>numbers).dtype}")
    return 0


cdef int take_channels(Py_ssize_t count, cnp.ndarray x, cnp.ndarray out) except -1:
    """ValueError where the loops of several channels would read further than there is."""
    if count > 1 and not (cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_IS_C_CONTIGUOUS(out)
                          and cnp.PyArray_SIZE(x) == cnp.PyArray_SIZE(out)):
        raise ValueError("x, out: expected contiguous arrays of one size")
    return 0


cdef class Codes:
    """A stage with its numbers, made once: `codes(x, out)` sets out to the codes of accumulators or values."""

    def kept(self):
        """Its loops alone, of int32 accumulators, for many calls; with several scales those of whole turns."""
        cdef KeptMaker made = KeptMaker()
        made.maker, made.memory = self.maker(cnp.NPY_INT32), self
        return made

    cdef object fill(self, cnp.ndarray x, cnp.ndarray out):
        raise NotImplementedError

    cdef Maker maker(self, int typenum):
        """The loops alone, of values of this dtype, which use this object's numbers."""
        raise NotImplementedError

    def __call__(self, cnp.ndarray x, cnp.ndarray out):
        self.fill(x, out)


cdef class IntegerCodes(Codes):
    """Times multiplier / 2**right_shift, of int64 arrays: accumulators are int32 or int64.

    `rounds` are a rule's first rounding, its second and its split; `ends` the zero point, the lowest and highest code.
    If it is `small`, only sums of int64 accumulators are beyond 32 bits, and may wrap. Accumulators that are `shifted`
    to the left by so many bits give the codes of those that are not: lanes need no low words from a shift of 33 on.
    """

    cdef Rule rule  # of int32 accumulators, as are the rows
    cdef IntegerRow one
    cdef Channels channels
    cdef cnp.ndarray multipliers, right_shifts
    cdef bytearray memory
    cdef int wraps  # of int64 accumulators

    def __init__(self, cnp.ndarray multipliers, cnp.ndarray right_shifts, Py_ssize_t inner=1, *, tuple rounds,
                 tuple ends, str wraps="", bint small=False, int shifted=0):
        cdef Rule* r = &self.rule
        check_numbers(multipliers, cnp.NPY_INT64, inner)
        check_numbers(right_shifts, cnp.NPY_INT64, inner)
        if cnp.PyArray_SIZE(right_shifts) != cnp.PyArray_SIZE(multipliers):
            raise ValueError("right_shifts: expected as many as multipliers")
        self.multipliers, self.right_shifts, self.wraps = multipliers, right_shifts, WRAPS[wraps]
        r.rows.multipliers = <int64_t*>cnp.PyArray_DATA(multipliers)
        r.rows.right_shifts = <int64_t*>cnp.PyArray_DATA(right_shifts)
        r.first, r.second, r.split = NAMES[rounds[0]], NAMES[rounds[1]], SPLITS.index(rounds[2])
        r.zero_point, r.lowest, r.highest = ends
        r.shifted, r.wraps = shifted, NOTHING if small else WRAPS[wraps]
        self.one = row_of(r.rows.multipliers[0], <int>r.rows.right_shifts[0], r)
        if cnp.PyArray_SIZE(multipliers) > 1:
            put_shifts(r)
            self.channels = integer_rows(pick, r, turns(cnp.PyArray_SIZE(multipliers), inner))
            self.memory = put_together(&self.channels) if are_few(self.channels.turns) else None

    cdef Maker maker(self, int typenum):
        if typenum != cnp.NPY_INT32 or cnp.PyArray_SIZE(self.multipliers) != 1:
            raise TypeError("of int32 accumulators with one scale")
        return integer_maker(False, &self.one)

    cdef object fill(self, cnp.ndarray x, cnp.ndarray out):
        cdef Py_ssize_t count = cnp.PyArray_SIZE(self.multipliers)
        take(x, cnp.NPY_INT32, cnp.NPY_INT64)
        take_channels(count, x, out)
        if typenum_of(x) == cnp.NPY_INT64:
            self.fill_wide(x, out)
        elif count == 1:
            integer_stage(&self.one, x, out)
        elif self.channels.turns.inner == 1 and count == cnp.PyArray_SIZE(x):
            integer_own(&self.rule.rows, x, out)
        else:
            integer_channels(&self.channels, x, out)

    cdef object fill_wide(self, cnp.ndarray x, cnp.ndarray out):
        """The same of int64 accumulators, of which codes may wrap."""
        cdef Rule r = self.rule
        cdef Channels channels = self.channels
        cdef IntegerRow row
        cdef Py_ssize_t count = cnp.PyArray_SIZE(self.multipliers)
        r.wraps = self.wraps
        if count == 1:
            row = row_of(r.rows.multipliers[0], <int>r.rows.right_shifts[0], &r)
            integer_stage(&row, x, out)
            return
        put_shifts(&r)
        if channels.turns.inner == 1 and count == cnp.PyArray_SIZE(x):
            integer_own(&r.rows, x, out)
        else:
            channels = integer_rows(pick, &r, channels.turns)
            integer_channels(&channels, x, out)


cdef class InTwo(Codes):
    """One stage makes int32 codes, of which the other makes codes."""

    cdef Codes first, second

    def __init__(self, Codes first, Codes second):
        self.first, self.second = first, second

    cdef object fill(self, cnp.ndarray x, cnp.ndarray out):
        cdef cnp.ndarray between = cnp.PyArray_EMPTY(x.ndim, x.shape, cnp.NPY_INT32, 0)
        self.first.fill(x, between)
        self.second.fill(between, out)


def floats(float scale, str rounding, double lowest, double highest, *, float plus=0.0, double shift=0.0,
           str form="times"):
    """The row clamp(round(x * scale + plus) + shift) in float32, as a dict; fused: rounded once, over: x / scale."""
    cdef FloatRow p = float_row(scale, NAMES[rounding], lowest, highest)
    p.plus, p.shift, p.form = plus, shift, FORMS[form]
    p.wide = <float>lowest != lowest or <float>highest != highest  # or sums with the shift that float32 does not hold
    p.wide = p.wide or shift != 0 and max(-lowest, highest, abs(shift)) > 1 << 24
    return p


cdef class FloatCodes(Codes):
    """Of int32 accumulators or float32 values by a row of `floats`; `scales`, float32, in the place of the row's."""

    cdef FloatRow row
    cdef Scales channels
    cdef cnp.ndarray scales
    cdef bytearray memory

    def __init__(self, FloatRow row, cnp.ndarray scales or None=None, Py_ssize_t inner=1):
        self.row, self.scales = row, scales
        if scales is not None:
            check_numbers(scales, cnp.NPY_FLOAT32, inner)
            self.row.scale = (<float*>cnp.PyArray_DATA(scales))[0]
            self.memory = scales_of(&self.channels, scales, turns(cnp.PyArray_SIZE(scales), inner))

    cdef Maker maker(self, int typenum):
        if self.scales is None or cnp.PyArray_SIZE(self.scales) == 1:
            return float_maker(typenum == cnp.NPY_FLOAT32, &self.row)
        self.memory = spread(&self.channels, sizeof(float)) if self.memory is None else self.memory
        self.channels.row = &self.row
        return float_turns(typenum == cnp.NPY_FLOAT32, &self.channels)

    cdef object fill(self, cnp.ndarray x, cnp.ndarray out):
        cdef Py_ssize_t count = 1 if self.scales is None else cnp.PyArray_SIZE(self.scales)
        take(x, cnp.NPY_INT32, cnp.NPY_FLOAT32)
        take_channels(count, x, out)
        if count == 1:
            float_stage(&self.row, x, out)
        else:
            float_channels(&self.row, &self.channels, x, out)

    def of_values(self, cnp.ndarray x, cnp.ndarray source, out, int code_typenum):
        """The codes of float32 values, into `out` if that is given, apart from `source`; None if one is NaN."""
        take(x, cnp.NPY_FLOAT32, cnp.NPY_FLOAT32)
        cdef cnp.ndarray made = output(out, code_typenum, source)
        cdef cnp.npy_intp n = cnp.PyArray_SIZE(x)
        cdef cnp.ndarray kept = None
        if out is None:
            return made if float_stage_unless_nan(&self.row, x, made) else None
        if n >= FAR and cnp.PyArray_ISCARRAY_RO(x) and cnp.PyArray_ISCARRAY(made):
            kept = cnp.PyArray_EMPTY(1, &n, code_typenum, 0)
            return made if float_stage_unless_nan(&self.row, x, made, kept) else None
        if holds_nan(x):
            return None
        float_stage(&self.row, x, made)
        return made


cdef class DoubleCodes(Codes):
    """clamp(round(x * scale + plus) + shift) in double, of int32 accumulators."""

    cdef DoubleRow row
    cdef Scales channels
    cdef cnp.ndarray scales
    cdef bytearray memory

    def __init__(self, cnp.ndarray scales, Py_ssize_t inner=1, *, str rounding, double lowest, double highest,
                 double plus=0.0, double shift=0.0):
        check_numbers(scales, cnp.NPY_FLOAT64, inner)
        self.row = DoubleRow((<double*>cnp.PyArray_DATA(scales))[0], plus, shift, lowest, highest, NAMES[rounding])
        self.scales = scales
        self.memory = scales_of(&self.channels, scales, turns(cnp.PyArray_SIZE(scales), inner))

    cdef Maker maker(self, int typenum):
        if typenum != cnp.NPY_INT32:
            raise TypeError("of int32 accumulators")
        if cnp.PyArray_SIZE(self.scales) == 1:
            return double_maker(&self.row)
        self.memory = spread(&self.channels, sizeof(double)) if self.memory is None else self.memory
        self.channels.row = &self.row
        return double_turns(&self.channels)

    cdef object fill(self, cnp.ndarray x, cnp.ndarray out):
        take(x, cnp.NPY_INT32, cnp.NPY_INT32)
        take_channels(cnp.PyArray_SIZE(self.scales), x, out)
        double_stage(&self.row, &self.channels, x, out)
