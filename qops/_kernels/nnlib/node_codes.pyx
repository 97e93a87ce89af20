"""The codes of sums that a supernode has watched: each channel's word is added, then a stage runs."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint32_t

from qops._kernels.machine.threads cimport run_parts
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport BLOCK, Stage, stage_run

cnp.import_array()

cdef extern from "nnlib/supernode.h":
    Py_ssize_t add_words__simd(int, const uint32_t*, const uint32_t*, Py_ssize_t pixels, Py_ssize_t stride,
                               Py_ssize_t n, uint32_t*) nogil


cdef struct WordedSums:  # codes of sums whose channels are neighbours, in parts of whole pixels
    const Stage* stage
    const uint32_t* sums
    const uint32_t* words  # of the channels; a sum with its word wraps
    uint8_t* codes
    Py_ssize_t channels, pixels, parts


cdef void add_words(const uint32_t* x, const uint32_t* words, Py_ssize_t pixels, Py_ssize_t stride, Py_ssize_t n,
                    uint32_t* y) noexcept nogil:
    """y = x plus the words of n channels, modulo 2**32; pixels of x lie `stride` sums apart."""
    cdef Py_ssize_t i, j, done = add_words__simd(tier(), x, words, pixels, stride, n, y)
    for i in range(pixels if done < n else 0):
        for j in range(done, n):
            y[i * n + j] = x[i * stride + j] + words[j]


cdef void codes_of(const WordedSums* c, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Make the codes of some pixels, BLOCK of them at a time, or of their channels."""
    cdef Py_ssize_t channels = c.channels, at_once = max(1, <Py_ssize_t>BLOCK // channels), i, j, n, some, at
    cdef uint32_t[BLOCK] block
    for i from first <= i < end by at_once:
        some = min(at_once, end - i)
        for j from 0 <= j < channels by BLOCK:
            n, at = min(channels - j, <Py_ssize_t>BLOCK), i * channels + j
            add_words(c.sums + at, c.words + j, some, channels, n, block)
            stage_run(c.stage, block, cnp.NPY_INT32, c.codes + at, cnp.NPY_UINT8, at, some * n)


cdef int make_part(const void* op, Py_ssize_t i) noexcept nogil:
    """Make part i of the codes, for `run_parts`."""
    cdef const WordedSums* c = <const WordedSums*>op
    cdef int64_t pixels = c.pixels
    codes_of(c, <Py_ssize_t>(pixels * i // c.parts), <Py_ssize_t>(pixels * (i + 1) // c.parts))
    return 0


cdef int worded_codes(PreparedStage stage, cnp.ndarray sums, cnp.ndarray words, cnp.ndarray codes,
                      Py_ssize_t threads) except -1:
    """Set the codes of int32 sums, whose channels are neighbours; all arrays are contiguous."""
    cdef WordedSums c
    c.stage, c.sums, c.words = &stage.stage, <const uint32_t*>cnp.PyArray_DATA(sums), <uint32_t*>words.data
    c.codes, c.channels = <uint8_t*>cnp.PyArray_DATA(codes), cnp.PyArray_SIZE(words)
    c.pixels = cnp.PyArray_SIZE(codes) // c.channels
    c.parts = max(<Py_ssize_t>1, min(threads, c.pixels))
    return run_parts(make_part, &c, c.parts)
