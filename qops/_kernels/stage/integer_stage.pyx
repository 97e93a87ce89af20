"""The loops of the integer stage: the definition in plain Cython, whole vectors in integer_stage.h."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport clamp_s64, wrap_s32

cdef extern from "stage/integer_stage.h":
    bint leaves_x(const IntegerParams*) nogil
    bint has_one_shift(const IntegerParams*) nogil
    int flags_of(const IntegerParams*) nogil
    int flags_of_both(int, int) nogil
    const IntegerParams* in_one_shift(const IntegerParams*, IntegerParams* room) nogil
    LaneParams params_in(void*, Py_ssize_t) nogil
    void put_params(LaneParams, Py_ssize_t, Py_ssize_t, Py_ssize_t, const IntegerParams*) nogil
    Py_ssize_t stage_s32__simd(int, const int32_t*, int32_t*, Py_ssize_t, const IntegerParams*) nogil
    Py_ssize_t stage_s64__simd(int, const int64_t*, int32_t*, Py_ssize_t, const IntegerParams*) nogil
    Py_ssize_t stage_each__simd(int, const int32_t*, int32_t*, Py_ssize_t, LaneParams, Py_ssize_t, Py_ssize_t,
                                const IntegerParams*, int) nogil
    Py_ssize_t stage_each_8__simd(int, const int32_t*, void*, bint, Py_ssize_t, LaneParams, Py_ssize_t, Py_ssize_t,
                                  const IntegerParams*, int) nogil

ctypedef fused value:
    int32_t
    int64_t


cdef inline int64_t with_term(int64_t x, Shift s) noexcept nogil:
    """Give x plus the term of the shift, after which the floor of the shift rounds by the rule."""
    return <int64_t>(<uint64_t>x + <uint64_t>(s.add + ((x >> 63) & s.if_negative) + ((x >> s.right_shift) & s.if_odd)))


cdef inline int64_t code_of(int64_t x, const IntegerParams* p, bint all_of_it) noexcept nogil:
    """Give the code of x by the formula; without `all_of_it` by what `has_one_shift` leaves of it: the multiplication,
    the first shift, the zero point and the clamp.
    """
    cdef int64_t high
    if all_of_it:
        x = x if leaves_x(p) else clamp_s64(x, p.lowest, p.highest) - p.centre
        x = wrap_s32(<int64_t>(<uint64_t>x << p.left_shift)) if p.left_shift else x
        x = <int64_t><float>x if p.through_f32 else x
    high = <int64_t>(<uint64_t>x * <uint64_t>p.multiplier)
    high = wrap_s32(high) if all_of_it and p.product_wraps else high
    high = with_term(high, p.first)
    high = (wrap_s32(high) if all_of_it and p.product_wraps else high) >> p.first.right_shift
    if all_of_it:
        high = wrap_s32(high) if p.high_wraps else high
        high = clamp_s64(with_term(high, p.second), p.least, p.most) >> p.second.right_shift
    high += p.zero_point
    return clamp_s64(wrap_s32(high) if all_of_it and p.code_wraps else high, p.lowest_code, p.highest_code)


cdef inline void codes_from(const value* x, int32_t* c, Py_ssize_t i, Py_ssize_t n,
                            const IntegerParams* params) noexcept nogil:
    """Make the codes of elements i to n - 1, all by the same parameters."""
    cdef IntegerParams p
    if i == n:
        return
    p = params[0]
    if has_one_shift(&p):
        for i in range(i, n):
            c[i] = <int32_t>code_of(x[i], &p, False)
    else:
        for i in range(i, n):
            c[i] = <int32_t>code_of(x[i], &p, True)


cdef void integer_codes(const IntegerParams* p, const void* x, bint is_wide, int32_t* c, Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of int32 accumulators or, if `is_wide`, of int64."""
    cdef const int32_t* near = <const int32_t*>x
    cdef const int64_t* wide = <const int64_t*>x
    if is_wide:
        codes_from(wide, c, stage_s64__simd(tier(), wide, c, n, p), n, p)
    else:
        codes_from(near, c, stage_s32__simd(tier(), near, c, n, p), n, p)


cdef inline void each_from(const value* x, int32_t* c, Py_ssize_t i, Py_ssize_t n, const IntegerParams* params,
                           Py_ssize_t count, Py_ssize_t first) noexcept nogil:
    """Make the codes of elements i to n - 1; element 0 belongs to channel first % count, the next one to the next."""
    cdef Py_ssize_t channel = (first + i) % count
    for i in range(i, n):
        c[i] = <int32_t>code_of(x[i], params + channel, True)
        channel = channel + 1 if channel + 1 < count else 0


cdef void integer_each(const IntegerParams* params, Py_ssize_t count, const IntegerLanes* lanes, const void* x,
                       bint is_wide, int32_t* c, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of accumulators; element i has the parameters of channel (first + i) % count."""
    cdef const int32_t* near = <const int32_t*>x
    cdef Py_ssize_t i = first % 2 if n else 0  # lanes begin with an even element
    if is_wide:
        each_from(<const int64_t*>x, c, 0, n, params, count, first)
        return
    each_from(near, c, 0, i, params, count, first)
    if lanes.flags >= 0:
        i += stage_each__simd(tier(), near + i, c + i, n - i, lanes.params, lanes.period, (first + i) % lanes.period,
                              params, lanes.flags)
    each_from(near, c, i, n, params, count, first)


cdef Py_ssize_t integer_each_8(const IntegerParams* params, const IntegerLanes* lanes, const int32_t* x, void* c,
                               bint is_signed, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """The same of 8 bits, whole vectors only, which begin with an even element; return how many codes."""
    if lanes.flags < 0 or first % 2:
        return 0
    return stage_each_8__simd(tier(), x, c, is_signed, n, lanes.params, lanes.period, first % lanes.period, params,
                              lanes.flags)


cdef bint alike(const IntegerParams* a, const IntegerParams* b) noexcept nogil:
    """Whether two channels have the numbers in common that the lanes take from the first channel for all."""
    return (a.lowest == b.lowest and a.highest == b.highest and a.centre == b.centre and
            a.zero_point == b.zero_point and a.lowest_code == b.lowest_code and a.highest_code == b.highest_code and
            a.least == b.least and a.most == b.most)


cdef void integer_lanes(IntegerLanes* lanes, void* memory, const IntegerParams* params, Py_ssize_t count,
                        Py_ssize_t period, Py_ssize_t entries) noexcept nogil:
    """Lay the parameters of channels out for vectors, in `memory` for so many entries, of BYTES_OF_LANES each."""
    cdef IntegerParams room
    cdef const IntegerParams* once = in_one_shift(params, &room)
    cdef Py_ssize_t channel
    lanes.params, lanes.period, lanes.flags = params_in(memory, entries), period, flags_of(once)
    for channel in range(count):
        once = in_one_shift(params + channel, &room)
        lanes.flags = flags_of_both(lanes.flags, flags_of(once)) if alike(params, params + channel) else -1
        put_params(lanes.params, channel, count, entries, once)
