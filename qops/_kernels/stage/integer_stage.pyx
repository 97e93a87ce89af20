"""The loops of the integer stage: the definition in plain Cython, whole vectors in integer_stage.h."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.batch cimport FROM_S64, Batch, part
from qops._kernels.stage.rounding cimport clamp_s64, wrap_s32

cdef extern from "stage/integer_stage.h" nogil:
    bint leaves_x(const IntegerParams*)
    bint has_one_shift(const IntegerParams*)
    bint is_for_lanes_32(const IntegerParams*)
    bint go_together(int flags, int others)
    int flags_of(const IntegerParams*)
    const IntegerParams* in_one_shift(const IntegerParams*, IntegerParams* room)
    LaneParams params_in(void*, Py_ssize_t)
    void put_params(LaneParams, Py_ssize_t, Py_ssize_t, Py_ssize_t, const IntegerParams*)
    Py_ssize_t integer_codes__simd(int, const IntegerParams*, const Batch*)
    Py_ssize_t integer_each__simd(int, const IntegerParams*, const IntegerLanes*, const Batch*)

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
        x = x if leaves_x(p) else wrap_s32(clamp_s64(x, p.lowest, p.highest) - p.centre)
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


cdef Py_ssize_t integer_codes(const IntegerParams* p, const Batch* b) noexcept nogil:
    """Make the first codes of a batch, see integer_stage.pxd; all elements have the same parameters."""
    cdef Py_ssize_t i = integer_codes__simd(tier(), p, b)
    if b.size < 4:
        return i
    if b.source == FROM_S64:
        codes_from(<const int64_t*>b.x, <int32_t*>b.c, i, b.n, p)
    else:
        codes_from(<const int32_t*>b.x, <int32_t*>b.c, i, b.n, p)
    return b.n


cdef inline void each_from(const value* x, int32_t* c, Py_ssize_t i, Py_ssize_t n, const IntegerParams* params,
                           Py_ssize_t count, Py_ssize_t first) noexcept nogil:
    """Make the codes of elements i to n - 1; element 0 belongs to channel first % count, the next one to the next."""
    cdef Py_ssize_t channel = (first + i) % count
    for i in range(i, n):
        c[i] = <int32_t>code_of(x[i], params + channel, True)
        channel = channel + 1 if channel + 1 < count else 0


cdef Py_ssize_t integer_each(const IntegerParams* params, Py_ssize_t count, const IntegerLanes* lanes,
                             const Batch* b) noexcept nogil:
    """Make codes; element i has the parameters of channel (b.first + i) % count. Lanes begin with an even element."""
    cdef Py_ssize_t i = min(b.first % 2, b.n)
    cdef Batch even = part(b, i, b.n - i)
    if b.size < 4:
        return 0 if i else integer_each__simd(tier(), params, lanes, b)
    if b.source == FROM_S64:
        each_from(<const int64_t*>b.x, <int32_t*>b.c, 0, b.n, params, count, b.first)
        return b.n
    each_from(<const int32_t*>b.x, <int32_t*>b.c, 0, i, params, count, b.first)
    i += integer_each__simd(tier(), params, lanes, &even)
    each_from(<const int32_t*>b.x, <int32_t*>b.c, i, b.n, params, count, b.first)
    return b.n


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
    cdef LaneParams laid = params_in(memory, entries)
    cdef int own, flags = flags_of(once)
    cdef Py_ssize_t channel
    lanes.params, lanes.period, lanes.are_of_use = laid, period, False
    for channel in range(count):
        once = in_one_shift(params + channel, &room)
        own = flags_of(once)
        if not (is_for_lanes_32(once) and go_together(flags, own) and alike(params, params + channel)):
            return
        flags |= own
        put_params(laid, channel, count, entries, once)
    lanes.are_of_use, lanes.flags = True, flags
