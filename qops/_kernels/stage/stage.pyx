"""`stage_run`, which makes codes by any stage: the one place that tells kinds of stages and types of codes apart."""

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint16_t, uintptr_t
from libc.string cimport memcpy

from qops._kernels.arrays.codes cimport code_type, typenum_of
from qops._kernels.arrays.walk cimport walk
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.double_stage cimport double_codes, double_codes_8__simd
from qops._kernels.stage.float_stage cimport ChannelScales, float_codes, float_codes_8__simd, float_codes_16__simd
from qops._kernels.stage.integer_stage cimport (
    integer_codes, integer_each, integer_each_8, stage_8__simd, stage_16__simd,
)
from qops._kernels.stage.layer_stage cimport layer_codes, layer_ends
from qops._kernels.stage.post_ops cimport float_ops_8__simd, run_float_ops
from qops._kernels.stage.range cimport has_nan

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


cdef Stage one_channel(Kind kind) noexcept nogil:
    """Give a stage of this kind, still without parameters, for elements that share them."""
    cdef Stage s
    s.kind, s.count, s.inner = kind, 1, 1
    s.channels, s.post_ops, s.layer, s.before = NULL, NULL, NULL, NULL
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


cdef void narrow(const int32_t* codes, void* c, int size, Py_ssize_t n) noexcept nogil:
    """Store codes, which fit the low bytes of an int32, in `size` bytes each."""
    cdef uint8_t* bytes = <uint8_t*>c
    cdef uint16_t* halves = <uint16_t*>c
    cdef Py_ssize_t i
    if size == 1:
        for i in range(narrow_8__simd(tier(), codes, bytes, n), n):
            bytes[i] = <uint8_t>codes[i]
    else:
        for i in range(narrow_16__simd(tier(), codes, halves, n), n):
            halves[i] = <uint16_t>codes[i]


cdef inline ChannelScales scales_from(const Stage* s, Py_ssize_t first) noexcept nogil:
    """Give the scales of elements from number `first` on."""
    cdef Py_ssize_t period
    if s.count == 1:
        return ChannelScales(NULL, 1, 0)
    period = period_of(s.count)
    return ChannelScales(s.channels, period, first % period)


cdef void codes_32(const Stage* s, const void* x, int x_type, int32_t* c, Py_ssize_t first,
                   Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of n elements, by a stage of kind INTEGER, REAL or DOUBLE whose `inner` is 1."""
    if s.kind == REAL:
        float_codes(s.params.real, scales_from(s, first), x, x_type == cnp.NPY_INT32, c, n)
    elif s.kind == DOUBLE:
        double_codes(s.params.wide, scales_from(s, first), <const int32_t*>x, c, n)
    elif s.count == 1:
        integer_codes(&s.params.integer, x, x_type == cnp.NPY_INT64, c, n)
    else:
        integer_each(<const IntegerParams*>s.channels, s.count, &s.lanes, x, x_type == cnp.NPY_INT64, c, first, n)


cdef Py_ssize_t codes_at_once(const Stage* s, const void* x, int x_type, void* c, int size, bint is_signed,
                              Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Make codes of 8 or 16 bits by a SIMD loop that stores them directly, without int32 codes between.

    Return how many it made, from the first on: 0 if there is no such loop.
    """
    cdef bint is_int = x_type == cnp.NPY_INT32
    if s.kind == REAL and size == 1:
        return float_codes_8__simd(tier(), x, is_int, c, is_signed, n, s.params.real, scales_from(s, first))
    if s.kind == INTEGER and s.count > 1 and is_int and size == 1:
        return integer_each_8(<const IntegerParams*>s.channels, &s.lanes, <const int32_t*>x, c, is_signed, first, n)
    if s.count > 1:
        return 0
    if s.kind == REAL:
        return float_codes_16__simd(tier(), x, is_int, c, is_signed, n, s.params.real)
    if s.kind == DOUBLE and size == 1:
        return double_codes_8__simd(tier(), <const int32_t*>x, c, is_signed, n, s.params.wide)
    if s.kind == INTEGER and is_int and size == 1:
        return stage_8__simd(tier(), <const int32_t*>x, c, is_signed, n, &s.params.integer)
    if s.kind == INTEGER and is_int:
        return stage_16__simd(tier(), <const int32_t*>x, c, is_signed, n, &s.params.integer)
    return 0


cdef void stage_post_ops(const Stage* s, const int32_t* sums, const float* old, void* c, int c_type, Py_ssize_t first,
                         Py_ssize_t n) noexcept nogil:
    """c = the codes of int32 sums after the post-ops; `old`: the destination before, for a Sum, or NULL.

    Operands of the post-ops repeat after `s.post_ops.block` values, so no step goes beyond the end of such a block.
    """
    cdef float[NEAR_BLOCK + 16] room
    cdef float* x = <float*>((<uintptr_t>room + 63) & ~<uintptr_t>63)
    cdef Stage last = float_stage(&s.params.real)
    cdef Py_ssize_t i = 0, at, some, done
    cdef int size = size_of(c_type)
    while i < n:
        at = (first + i) % s.post_ops.block
        some = min(n - i, s.post_ops.block - at, <Py_ssize_t>NEAR_BLOCK)
        done = 0
        if size == 1:
            done = float_ops_8__simd(tier(), sums + i, <char*>c + i, c_type == cnp.NPY_INT8, some, s.post_ops.float_ops,
                                     s.post_ops.count, old + i if old != NULL else NULL, at, s.params.real)
        if done == 0:
            run_float_ops(s.post_ops.float_ops, s.post_ops.count, sums + i, x, old + i if old != NULL else NULL, at,
                          some)
            stage_run(&last, x, cnp.NPY_FLOAT32, <char*>c + i * size, c_type, 0, some)
            done = some
        i += done


cdef void in_two(const Stage* s, const void* x, int x_type, void* c, int c_type, Py_ssize_t first,
                 Py_ssize_t n) noexcept nogil:
    """Run the stage before, which makes int32 codes of a block, then this stage on these, block after block."""
    cdef int32_t between[BLOCK]
    cdef Stage last = s[0]
    cdef Py_ssize_t i, some, x_size = 8 if x_type == cnp.NPY_INT64 else 4
    last.before = NULL
    for i from 0 <= i < n by BLOCK:
        some = min(n - i, <Py_ssize_t>BLOCK)
        stage_run(s.before, <const char*>x + i * x_size, x_type, between, cnp.NPY_INT32, first + i, some)
        stage_run(&last, between, cnp.NPY_INT32, <char*>c + i * size_of(c_type), c_type, first + i, some)


cdef void by_channel(const Stage* s, const void* x, int x_type, void* c, int c_type, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
    """Make the codes of each run of `inner` neighbours by a stage of one channel, which has that channel's numbers."""
    cdef Stage one = s[0]
    cdef Py_ssize_t i = 0, some, channel, x_size = 8 if x_type == cnp.NPY_INT64 else 4
    one.count = one.inner = 1
    while i < n:
        some = min(n - i, s.inner - (first + i) % s.inner)
        channel = (first + i) // s.inner % s.count
        if s.kind == INTEGER:
            one.params.integer = (<const IntegerParams*>s.channels)[channel]
        elif s.kind == REAL:
            one.params.real.scale = (<const float*>s.channels)[channel]
        else:
            one.params.wide.scale = (<const double*>s.channels)[channel]
        stage_run(&one, <const char*>x + i * x_size, x_type, <char*>c + i * size_of(c_type), c_type, 0, some)
        i += some


cdef void stage_run(const Stage* s, const void* x, int x_type, void* c, int c_type, Py_ssize_t first,
                    Py_ssize_t n) noexcept nogil:
    """c = the codes of n elements x; x[0] is element number `first` of its tensor.

    Types are numpy's numbers: x int32, int64 or float32, as the kind takes it; c uint8, int8, uint16, int16 or int32.
    """
    cdef int32_t block[BLOCK]
    cdef int size = size_of(c_type)
    cdef Py_ssize_t i = 0, some, x_size = 8 if x_type == cnp.NPY_INT64 else 4
    if s.before != NULL:
        in_two(s, x, x_type, c, c_type, first, n)
    elif s.kind == POST_OPS:
        stage_post_ops(s, <const int32_t*>x, NULL, c, c_type, first, n)
    elif s.kind == LAYER:
        layer_codes(s.layer, <const int32_t*>x, c, size == 4, 128 if c_type == cnp.NPY_INT8 else 0, first, n)
    elif s.kind == WATCHED:
        layer_ends(s.layer, <const int32_t*>x, first, n)
        memcpy(c, x, 4 * n)
    elif s.count > 1 and s.inner > 1:
        by_channel(s, x, x_type, c, c_type, first, n)
    elif size == 4:
        codes_32(s, x, x_type, <int32_t*>c, first, n)
    else:
        i = codes_at_once(s, x, x_type, c, size, c_type == cnp.NPY_INT8 or c_type == cnp.NPY_INT16, first, n)
        while i < n:
            some = min(n - i, <Py_ssize_t>BLOCK)
            codes_32(s, <const char*>x + i * x_size, x_type, block, first + i, some)
            narrow(block, <char*>c + i * size, size, some)
            i += some


cdef struct LoopParams:  # the parameters of the loops that `walk` runs
    const Stage* stage
    int x_type, c_type
    bint found_nan


cdef void run_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Make the codes of n contiguous values, for `walk`; `using` is LoopParams."""
    cdef LoopParams* r = <LoopParams*>using
    stage_run(r.stage, data[0], r.x_type, data[1], r.c_type, 0, n)


cdef LoopParams loop_params(const Stage* s, cnp.ndarray x, cnp.ndarray out) except *:
    """Give the parameters for these arrays; TypeError if the dtype of `out` is no code type."""
    if code_type(out).steps == 0:
        raise TypeError(f"out: expected uint8, int8, uint16, int16 or int32, got {(<object>out).dtype}")
    return LoopParams(s, typenum_of(x), typenum_of(out), False)


cdef object stage_over(const Stage* s, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of x, arrays in any layout; with several channels both are contiguous.

    TypeError if the dtype of `out` is no code type. The dtype of x must be one that the stage takes.
    """
    cdef LoopParams r = loop_params(s, x, out)
    walk(run_loop, &r, x, out)


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
    cdef LoopParams r = loop_params(s, x, out)
    walk(loop_unless_nan, &r, x, out)
    return not r.found_nan
