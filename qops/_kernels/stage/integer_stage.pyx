"""The loops of the integer stage, and `multiply_shift`, which is the stage alone."""

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, INT32_MIN
from libc.stdint cimport int32_t, int64_t, uint64_t

from qops._kernels.stage.maker cimport SPARE, Maker, Pick, Turns, are_long, channel, make, run, run_channels, run_each
from qops._kernels.stage.maker cimport turns
from qops._kernels.stage.rounding cimport HALF_AWAY, HALF_UP, Rounding, clamp_s64, wrap_s32
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport STREAM

cnp.import_array()

cdef extern from "stage/integer_stage.h":
    bint leaves_x(const IntegerRow*) nogil
    bint has_one_step(const IntegerRow*) nogil
    int steps_of(const IntegerRow*) nogil
    int steps_of_both(int, int) nogil
    const IntegerRow* in_one_step(const IntegerRow*, IntegerRow* room) nogil
    enum:
        BYTES_OF_ROWS
    Rows rows_in(void*, Py_ssize_t) nogil
    void put_row(Rows, Py_ssize_t, const IntegerRow*) nogil
    Py_ssize_t stage_s32__simd(int, const int32_t*, int32_t*, Py_ssize_t, const IntegerRow*, bint) nogil
    Py_ssize_t stage_s64__simd(int, const int64_t*, int32_t*, Py_ssize_t, const IntegerRow*) nogil
    Py_ssize_t stage_each__simd(int, const int32_t*, int32_t*, Py_ssize_t, Rows, Py_ssize_t, Py_ssize_t,
                                const IntegerRow*, int) nogil
    Py_ssize_t stage_own__simd(int, const void*, bint, int32_t*, Py_ssize_t, const int64_t*, const int64_t*,
                               const IntegerRow*) nogil
    Py_ssize_t stage_8__simd(int, const int32_t*, void*, bint, Py_ssize_t, const IntegerRow*, bint) nogil
    Py_ssize_t stage_16__simd(int, const int32_t*, void*, bint, Py_ssize_t, const IntegerRow*, bint) nogil

ctypedef fused value:
    int32_t
    int64_t

ROUNDINGS = ("floor", "truncate", "half_up", "half_away", "half_even", "gemmlowp", "hvx")


cdef inline int64_t coded(int64_t x, const IntegerRow* p, bint all_steps) noexcept nogil:
    """The steps of the stage; without `all_steps` those of a row that only multiplies, shifts and clamps."""
    cdef int64_t high
    if all_steps:
        x = x if leaves_x(p) else clamp_s64(x, p.lowest, p.highest) - p.centre
        x = wrap_s32(<int64_t>(<uint64_t>x << p.left_shift)) if p.left_shift else x
        x = <int64_t><float>x if p.through_f32 else x
    high = <int64_t>(<uint64_t>x * <uint64_t>p.multiplier)
    high = wrap_s32(high) if all_steps and p.product_wraps else high
    high = with_term(high, p.first)
    high = (wrap_s32(high) if all_steps and p.product_wraps else high) >> p.first.right_shift
    if all_steps:
        high = wrap_s32(high) if p.high_wraps else high
        high = clamp_s64(with_term(high, p.second), p.least, p.most) >> p.second.right_shift
    high += p.zero_point
    return clamp_s64(wrap_s32(high) if all_steps and p.code_wraps else high, p.lowest_code, p.highest_code)


cdef inline void codes_from(const value* x, int32_t* c, Py_ssize_t i, Py_ssize_t n,
                            const IntegerRow* row) noexcept nogil:
    """The codes i..n - 1."""
    cdef IntegerRow p
    if i == n:
        return
    p = row[0]
    if has_one_step(&p):
        for i in range(i, n):
            c[i] = <int32_t>coded(x[i], &p, False)
    else:
        for i in range(i, n):
            c[i] = <int32_t>coded(x[i], &p, True)


cdef void codes_s32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    cdef const IntegerRow* p = <const IntegerRow*>row
    codes_from(<int32_t*>x, c, stage_s32__simd(tier(), <int32_t*>x, c, n, p, 4 * n >= STREAM), n, p)


cdef void codes_s64(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    cdef const IntegerRow* p = <const IntegerRow*>row
    codes_from(<int64_t*>x, c, stage_s64__simd(tier(), <int64_t*>x, c, n, p), n, p)


cdef Py_ssize_t bytes_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return stage_8__simd(tier(), <int32_t*>x, c, is_signed, n, <const IntegerRow*>row, n >= STREAM)


cdef Py_ssize_t pairs_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return stage_16__simd(tier(), <int32_t*>x, c, is_signed, n, <const IntegerRow*>row, 2 * n >= STREAM)


cdef Maker integer_maker(bint is_wide, const IntegerRow* p) noexcept nogil:
    if is_wide:
        return Maker(codes_s64, NULL, NULL, p, 8)
    return Maker(codes_s32, bytes_s32, pairs_s32, p, 4)


cdef void integer_codes_of(const void* x, bint is_wide, int typenum, void* c, Py_ssize_t n,
                           const IntegerRow* p) noexcept nogil:
    """The uint8, int8 or int32 codes of some accumulators: int32 or, if `is_wide`, int64."""
    cdef Maker m = integer_maker(is_wide, p)
    make(&m, x, c, 4 if typenum == cnp.NPY_INT32 else 1, typenum == cnp.NPY_INT8, n)


cdef object integer_stage(const IntegerRow* p, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of int32 or int64 accumulators."""
    cdef Maker m = integer_maker(cnp.PyArray_ITEMSIZE(x) == 8, p)
    run(&m, x, out)


cdef inline void own_from(const value* x, int32_t* c, Py_ssize_t n, const OwnRows* p, Py_ssize_t first) noexcept nogil:
    cdef const int64_t* m = p.multipliers + first
    cdef const int64_t* shifts = p.right_shifts + first
    cdef Py_ssize_t i = stage_own__simd(tier(), x, value is int64_t, c, n, m, shifts, p.of_shift)
    cdef IntegerRow row
    for i in range(i, n):
        row = p.of_shift[shifts[i]]
        row.multiplier = m[i]
        c[i] = <int32_t>coded(x[i], &row, True)


cdef void own_s32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    own_from(<int32_t*>x, c, n, <const OwnRows*>rows, first)


cdef void own_s64(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    own_from(<int64_t*>x, c, n, <const OwnRows*>rows, first)


cdef object integer_own(const OwnRows* p, cnp.ndarray x, cnp.ndarray out):
    """The same of contiguous arrays: each element has its own multiplier and shift."""
    run_each(own_s64 if cnp.PyArray_ITEMSIZE(x) == 8 else own_s32, p, turns(cnp.PyArray_SIZE(x), 1), x, out)


cdef inline void each_from(const value* x, int32_t* c, Py_ssize_t i, Py_ssize_t n, Channels* p,
                           Py_ssize_t first) noexcept nogil:
    cdef IntegerRow row
    cdef Turns t = p.turns
    cdef Py_ssize_t which = channel(t, first + i), left = t.inner - (first + i) % t.inner
    for i in range(i, n):
        p.pick(&row, p.numbers, which)
        c[i] = <int32_t>coded(x[i], &row, True)
        left -= 1
        if left == 0:
            which, left = which + 1 if which + 1 < t.count else 0, t.inner


cdef void each_s32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    cdef Channels* p = <Channels*>rows
    cdef Py_ssize_t i = 0
    if p.steps >= 0:
        i = stage_each__simd(tier(), <int32_t*>x, c, n, p.rows, p.turns.period, first, &p.row, p.steps)
    each_from(<int32_t*>x, c, i, n, p, first)


cdef void each_s64(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    each_from(<int64_t*>x, c, 0, n, <Channels*>rows, first)


cdef bytearray put_together(Channels* p):
    """Puts the rows of a period side by side, in memory that is returned, and says which steps they have."""
    cdef Py_ssize_t i, count = p.turns.period + SPARE
    cdef bytearray memory = bytearray(count * BYTES_OF_ROWS)
    cdef IntegerRow row = p.row, room
    cdef const IntegerRow* once = in_one_step(&row, &room)
    p.rows, p.steps = rows_in(<char*>memory, count), steps_of(once)
    for i in range(count):
        if i % p.turns.inner == 0:
            p.pick(&row, p.numbers, channel(p.turns, i))
            once = in_one_step(&row, &room)
            p.steps = steps_of_both(p.steps, steps_of(once))
        put_row(p.rows, i, once)
    return memory


cdef Channels integer_rows(Pick pick, const void* numbers, Turns t) noexcept:
    """The rows of channels, not put together yet."""
    cdef Channels p
    p.pick, p.numbers, p.turns, p.steps = pick, numbers, t, NOT_TOGETHER
    pick(&p.row, numbers, 0)
    return p


cdef object integer_channels(const Channels* rows, cnp.ndarray x, cnp.ndarray out):
    """The same of contiguous arrays: another row for each channel."""
    cdef bint is_wide = cnp.PyArray_ITEMSIZE(x) == 8
    cdef Channels p = rows[0]
    cdef Maker m = integer_maker(is_wide, &p.row)
    cdef bytearray _memory
    if are_long(p.turns):
        run_channels(&m, p.pick, p.numbers, p.turns, x, out)
        return
    if p.steps == NOT_TOGETHER and not is_wide and cnp.PyArray_SIZE(x) > p.turns.count * p.turns.inner:
        _memory = put_together(&p)
    run_each(each_s64 if is_wide else each_s32, &p, p.turns, x, out)


cpdef object multiply_shift(cnp.ndarray x, int multiplier, int right_shift, rounding, cnp.ndarray out):
    """out = x * multiplier / 2**right_shift on int32, rounded by the rule; |multiplier| < 2**31, shift 0..62."""
    cdef int rule = ROUNDINGS.index(rounding)
    cdef IntegerRow p
    if rounding == "gemmlowp":
        p = integer_row(multiplier, shift_by(31, HALF_UP), INT32_MIN, INT32_MAX)
        p.left_shift = max(0, 31 - right_shift)
        p.second = shift_by(max(0, right_shift - 31), HALF_AWAY)
    elif rounding == "hvx":
        p = integer_row(multiplier, shift_by(15, HALF_UP), -32768, 32767)
    else:
        p = integer_row(multiplier, shift_by(right_shift, <Rounding>rule), INT32_MIN, INT32_MAX)
    integer_stage(&p, x, out)
