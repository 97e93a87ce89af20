"""`stage_run`, which makes codes by any stage: the one place that tells kinds of stages and types of codes apart."""

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint16_t, uintptr_t

from qops._kernels.arrays.codes cimport code_type, typenum_of
from qops._kernels.arrays.walk cimport walk
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.batch cimport FROM_F32, FROM_S32, FROM_S64, Batch, part
from qops._kernels.stage.float_stage cimport ChannelScales, double_codes, float_codes
from qops._kernels.stage.integer_stage cimport integer_codes, integer_each
from qops._kernels.stage.layer_stage cimport layer_codes
from qops._kernels.stage.post_ops cimport float_ops_8__simd, run_float_ops
from qops._kernels.stage.range cimport has_nan
from qops._kernels.arrays.refusal import bad_type

cnp.import_array()

cdef extern from "stage/narrow.h":
    Py_ssize_t narrow_8__simd(int, const int32_t*, uint8_t*, Py_ssize_t) nogil
    Py_ssize_t narrow_16__simd(int, const int32_t*, uint16_t*, Py_ssize_t) nogil

cdef enum:
    NEAR_BLOCK = 4096  # float32 values that one loop leaves for the next: 16 KB, which L1 holds beside their codes


cdef Py_ssize_t period_of(Py_ssize_t count) noexcept nogil:
    """Give the period of a table of `count` channels: a multiple of `count` that is even and at least SPARE."""
    cdef Py_ssize_t period = count * ((SPARE + count - 1) // count)
    return 2 * period if period % 2 else period


cdef inline void* at_a_line(void* room) noexcept nogil:
    """Give the first cache line of memory that has 16 numbers to spare: loads that cross lines take twice as long."""
    return <void*>((<uintptr_t>room + 63) & ~<uintptr_t>63)


cdef Stage one_channel(Kind kind) noexcept nogil:
    """Give a stage of this kind, still without parameters, for elements that share them."""
    cdef Stage s
    s.kind, s.count, s.inner = kind, 1, 1
    s.channels, s.layer, s.post_ops, s.before = NULL, NULL, NULL, NULL
    return s


cdef Stage integer_stage(const IntegerParams* params) noexcept nogil:
    """Give the stage with these parameters for all elements."""
    cdef Stage s = one_channel(INTEGER)
    s.params.integer = params[0]
    return s


cdef Stage float_stage(const FloatParams* params) noexcept nogil:
    """Give the stage with these parameters for all elements."""
    cdef Stage s = one_channel(REAL)
    s.params.real = params[0]
    return s


cdef inline int size_of(int typenum) noexcept nogil:
    """Bytes of a code."""
    if typenum == cnp.NPY_UINT8 or typenum == cnp.NPY_INT8:
        return 1
    return 2 if typenum == cnp.NPY_UINT16 or typenum == cnp.NPY_INT16 else 4


cdef inline Batch batch(const void* x, int x_type, void* c, int c_type, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Give n elements and where their codes go; types are numpy's numbers."""
    return Batch(x, c, FROM_F32 if x_type == cnp.NPY_FLOAT32 else FROM_S64 if x_type == cnp.NPY_INT64 else FROM_S32,
                 size_of(c_type), c_type == cnp.NPY_INT8 or c_type == cnp.NPY_INT16, first, n)


cdef inline ChannelScales scales_from(const Stage* s, Py_ssize_t first) noexcept nogil:
    """Give the scales of elements from number `first` on; the parameters have the scale of a stage of one channel."""
    cdef Py_ssize_t period
    if s.count == 1:
        return ChannelScales(NULL, 1, 0)
    period = period_of(s.count)
    return ChannelScales(s.channels, period, first % period)


cdef inline Py_ssize_t first_codes(const Stage* s, const Batch* b) noexcept nogil:
    """The table of loops: they make the first codes and return how many. They make all int32 codes, and others as far
    as SIMD loops store them without int32 codes between. The `inner` of the stage is 1.
    """
    if s.kind == INTEGER and s.count == 1:
        return integer_codes(&s.params.integer, b)
    if s.kind == INTEGER:
        return integer_each(<const IntegerParams*>s.channels, s.count, &s.lanes, b)
    if s.kind == REAL:
        return float_codes(&s.params.real, scales_from(s, b.first), b)
    if s.kind == DOUBLE:
        return double_codes(&s.params.wide, scales_from(s, b.first), b)
    return layer_codes(s.layer, b)


cdef void narrow(const int32_t* codes, const Batch* b) noexcept nogil:
    """Store codes, which fit the low bytes of an int32, as codes of 8 or 16 bits."""
    cdef uint8_t* bytes = <uint8_t*>b.c
    cdef uint16_t* halves = <uint16_t*>b.c
    cdef Py_ssize_t i
    if b.size == 1:
        for i in range(narrow_8__simd(tier(), codes, bytes, b.n), b.n):
            bytes[i] = <uint8_t>codes[i]
    else:
        for i in range(narrow_16__simd(tier(), codes, halves, b.n), b.n):
            halves[i] = <uint16_t>codes[i]


cdef void all_codes(const Stage* s, const Batch* b) noexcept nogil:
    """Make all codes: those that `first_codes` leaves as int32 codes of a block, which are narrowed."""
    cdef int32_t[BLOCK + 16] room
    cdef int32_t* block = <int32_t*>at_a_line(room)
    cdef Py_ssize_t i = first_codes(s, b)
    cdef Batch some, wide
    while i < b.n:
        some = wide = part(b, i, min(b.n - i, <Py_ssize_t>BLOCK))
        wide.c, wide.size = block, sizeof(int32_t)
        first_codes(s, &wide)
        narrow(block, &some)
        i += some.n


cdef void by_channel(const Stage* s, const Batch* b) noexcept nogil:
    """Make the codes of each run of `inner` neighbours by a stage of one channel, which has that channel's numbers."""
    cdef Stage one = s[0]
    cdef Py_ssize_t i = 0, channel
    cdef Batch some
    one.count = one.inner = 1
    while i < b.n:
        some = part(b, i, min(b.n - i, s.inner - (b.first + i) % s.inner))
        channel = some.first // s.inner % s.count
        if s.kind == INTEGER:
            one.params.integer = (<const IntegerParams*>s.channels)[channel]
        elif s.kind == REAL:
            one.params.real.scale = (<const float*>s.channels)[channel]
        else:
            one.params.wide.scale = (<const double*>s.channels)[channel]
        all_codes(&one, &some)
        i += some.n


cdef void after_ops(const Stage* s, const Batch* b, const float* old) noexcept nogil:
    """Make the codes of int32 sums after the post-ops; `old`: the destination before, for a Sum, or NULL.

    Operands of the post-ops repeat after `s.post_ops.block` values, so no step goes beyond the end of such a block.
    """
    cdef float[NEAR_BLOCK + 16] room
    cdef float* x = <float*>at_a_line(room)
    cdef Stage last = float_stage(&s.params.real)
    cdef const float* before = NULL
    cdef Py_ssize_t i = 0, at, done
    cdef Batch some, near
    while i < b.n:
        at = (b.first + i) % s.post_ops.block
        some = near = part(b, i, min(b.n - i, s.post_ops.block - at, <Py_ssize_t>NEAR_BLOCK))
        if old != NULL:
            before = old + i
        done = float_ops_8__simd(tier(), &some, s.post_ops.float_ops, s.post_ops.count, before, at, s.params.real)
        if done == 0:
            run_float_ops(s.post_ops.float_ops, s.post_ops.count, <const int32_t*>some.x, x, before, at, some.n)
            near.x, near.source = x, FROM_F32
            all_codes(&last, &near)
            done = some.n
        i += done


cdef void after_stage(const Stage* s, const Batch* b) noexcept nogil:
    """Run the stage before, which makes int32 codes of a block, then this stage on these, block after block."""
    cdef int32_t[BLOCK + 16] room
    cdef int32_t* between = <int32_t*>at_a_line(room)
    cdef Stage last = s[0]
    cdef Py_ssize_t i
    cdef Batch some, near
    last.before = NULL
    for i from 0 <= i < b.n by BLOCK:
        some = near = part(b, i, min(b.n - i, <Py_ssize_t>BLOCK))
        near.c, near.size = between, sizeof(int32_t)
        run(s.before, &near)
        some.x, some.source = between, FROM_S32
        run(&last, &some)


cdef void run(const Stage* s, const Batch* b) noexcept nogil:
    """Make all codes of a batch: what comes first, then the loop of the kind."""
    if s.before != NULL:
        after_stage(s, b)
    elif s.post_ops != NULL and s.post_ops.count > 0:
        after_ops(s, b, NULL)
    elif s.inner > 1 and s.count > 1:
        by_channel(s, b)
    else:
        all_codes(s, b)


cdef void stage_run(const Stage* s, const void* x, int x_type, void* c, int c_type, Py_ssize_t first,
                    Py_ssize_t n) noexcept nogil:
    """c = the codes of n elements x; x[0] is element number `first` of its tensor.

    Types are numpy's numbers: x int32, int64 or float32, as the kind takes it; c uint8, int8, uint16, int16 or int32.
    """
    cdef Batch b = batch(x, x_type, c, c_type, first, n)
    run(s, &b)


cdef void stage_post_ops(const Stage* s, const int32_t* sums, const float* old, void* c, int c_type,
                         Py_ssize_t n) noexcept nogil:
    """Make the codes of n sums by a stage with post-ops; `old`: the destination before, for a Sum, or NULL.

    c may be the memory of the sums.
    """
    cdef Batch b = batch(sums, cnp.NPY_INT32, c, c_type, 0, n)
    after_ops(s, &b, old)


cdef struct LoopParams:  # the parameters of the loops that `walk` runs
    const Stage* stage
    int x_type, c_type
    bint found_nan


cdef void run_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Make the codes of n contiguous values, for `walk`; `using` is LoopParams."""
    cdef LoopParams* r = <LoopParams*>using
    stage_run(r.stage, data[0], r.x_type, data[1], r.c_type, 0, n)


cdef object stage_walk(const Stage* s, cnp.ndarray x, int x_type, cnp.ndarray out, int c_type):
    """out = the codes of x, arrays in any layout; with several channels both are contiguous.

    Types are numpy's numbers of the dtypes of x and out, which the stage must take: see `stage_run`.
    """
    cdef LoopParams r = LoopParams(s, x_type, c_type, False)
    walk(run_loop, &r, x, out)


cdef int type_of_codes(cnp.ndarray out) except -1:
    """Give numpy's number of the dtype of `out`; TypeError if it is no code type."""
    if code_type(out).steps == 0:
        raise bad_type("out", f"expected uint8, int8, uint16, int16 or int32, got {(<object>out).dtype}")
    return typenum_of(out)


cdef object stage_over(const Stage* s, cnp.ndarray x, cnp.ndarray out):
    """Write the codes of x to `out`; TypeError if its dtype is no code type. The stage must take the dtype of x."""
    stage_walk(s, x, typenum_of(x), out, type_of_codes(out))


cdef void loop_unless_nan(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Make codes as `run_loop` does, until a value is NaN; block by block, so that a block is read from memory once."""
    cdef LoopParams* r = <LoopParams*>using
    cdef const float* x = <const float*>data[0]
    cdef Py_ssize_t i, some
    for i from 0 <= i < n by NEAR_BLOCK:
        some = min(n - i, <Py_ssize_t>NEAR_BLOCK)
        r.found_nan = r.found_nan or has_nan(x + i, some)
        if r.found_nan:
            return
        stage_run(r.stage, x + i, r.x_type, data[1] + i * size_of(r.c_type), r.c_type, 0, some)


cdef bint stage_unless_nan(const Stage* s, cnp.ndarray x, cnp.ndarray out) except -1:
    """out = the codes of float32 values x. False if a value is NaN: then `out` may be partly written."""
    cdef LoopParams r = LoopParams(s, cnp.NPY_FLOAT32, type_of_codes(out), False)
    walk(loop_unless_nan, &r, x, out)
    return not r.found_nan
