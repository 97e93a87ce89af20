"""Elements of a tensor that are neighbours in memory: what a stage reads, and the codes that it makes of them."""

cdef extern from "stage/batch.h":
    ctypedef enum Source "batch_source":
        FROM_S32
        FROM_S64
        FROM_F32
    ctypedef struct Batch "stage_batch":
        const void* x
        void* c
        Source source "from"
        int size  # bytes of a code
        bint is_signed  # whether a code of 8 or 16 bits is signed
        Py_ssize_t first, n  # x[0] is element number `first` of its tensor


cdef inline Batch part(const Batch* b, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Give the n elements from number i of the batch on."""
    cdef Py_ssize_t x_size = 8 if b.source == FROM_S64 else 4
    return Batch(<const char*>b.x + i * x_size, <char*>b.c + i * b.size, b.source, b.size, b.is_signed, b.first + i, n)
