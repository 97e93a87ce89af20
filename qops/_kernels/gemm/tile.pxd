from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t, uintptr_t

from qops._kernels.machine.caches cimport Caches

cdef extern from "gemm/types.h" nogil:
    enum:
        GEMM_ROWS
        GEMM_STREAM_ROWS

    ctypedef struct gemm_tile:
        const uint8_t *a
        Py_ssize_t lda
        const Py_ssize_t *tap
        Py_ssize_t taps, quads
        const uint8_t *b
        Py_ssize_t vector_stride
        const int32_t *sums
        int32_t times
        int32_t *c
        Py_ssize_t ldc, tiles
        int accumulate
        int spare
        int prefetch
        int is_signed, is_unsigned
        int *set_up

    ctypedef struct gemm_raw:
        const int8_t *b
        Py_ssize_t ldb
        uint8_t *panel
        int32_t *sums

    ctypedef struct gemm_depthwise:
        const Py_ssize_t *tap
        Py_ssize_t taps
        const int32_t *w
        Py_ssize_t w_stride
        const int32_t *starts
        Py_ssize_t period, n, runs, run_stride

    ctypedef struct gemm_kernel:
        Py_ssize_t lanes, vectors
        int widens, narrow, takes_signed
        void (*tile)(const gemm_tile *, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil
        void (**amx)(const gemm_tile *, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil
        const gemm_kernel *by_vectors
        int is_unsigned
        void (*pack)(const int8_t *b, Py_ssize_t ldb, Py_ssize_t quads, Py_ssize_t columns,
                     uint8_t *panel) noexcept nogil
        void (*pack_by_vector)(const int8_t *b, Py_ssize_t ldb, Py_ssize_t quads, Py_ssize_t columns,
                               uint8_t *panel, Py_ssize_t vector_stride) noexcept nogil
        void (*pack_tile)(const gemm_tile *, const gemm_raw *, Py_ssize_t rows) noexcept nogil
        void (*stream)(const uint8_t *a, Py_ssize_t lda, Py_ssize_t rows, const int8_t *b, Py_ssize_t ldb,
                       Py_ssize_t blocks, Py_ssize_t quads, Py_ssize_t groups,
                       int32_t *acc) noexcept nogil
        void (*weave)(const uint8_t **rows, Py_ssize_t n, uint32_t flip, uint32_t *quads) noexcept nogil
        void (*dots)(const gemm_depthwise *d, const uint32_t *quads, int32_t *y) noexcept nogil


ctypedef struct Run:
    # A run of rows of B among which pairs are formed: its first row, its number of rows, its number of packed quads.
    Py_ssize_t first, length, quads


cdef enum:
    MOST_BLOCK_BYTES = 1 << 18  # the most bytes of a block; larger ones gain nothing, even with 2 MiB of L2
    QUAD_BYTES = 256  # the bytes of one quad of 64 columns
    AMX_BLOCK_ROWS = 32  # how many rows of A the matrix unit multiplies at a time: two of its tiles
    SHIFT = 128  # added to s8 codes to make u8 codes, and subtracted from u8 codes to make s8 codes
    SHIFTED = -SHIFT  # this times the column sums of B corrects the product of a shifted A

cdef const Py_ssize_t *ONE_TAP  # the tap of a matrix product: at offset 0

cdef inline Py_ssize_t block_bytes(const Caches *of) noexcept nogil:
    """Give the bytes of a packed block, which stays in the cache until it is read: a quarter of L2."""
    return max(<Py_ssize_t>QUAD_BYTES, min(<Py_ssize_t>MOST_BLOCK_BYTES, of.second // 4))
cdef inline Py_ssize_t most_quads(const Caches *of) noexcept nogil:
    """Give the most quads of a K block: those of one panel of block_bytes."""
    return block_bytes(of) // QUAD_BYTES

cdef const gemm_kernel *find_kernel(bint saturating, int on) noexcept nogil
cdef const gemm_kernel *find_unsigned_kernel(int on) noexcept nogil
cdef const gemm_kernel *find_depthwise_kernel(int on) noexcept nogil
cdef bint amx_is_faster(const gemm_kernel *kernel, Py_ssize_t rows, Py_ssize_t taps, Py_ssize_t quads,
                        bint is_packed) noexcept nogil
cdef inline bint shifts(const gemm_kernel *kernel, bint by_amx) noexcept nogil:
    """Whether 128 is added to codes of an s8 A before they are multiplied. AMX (`by_amx`) never needs that."""
    return not (kernel.widens or kernel.takes_signed or by_amx)

cdef void release(int set_up) noexcept nogil
cdef inline void *aligned(void *block) noexcept nogil:
    """Give the first 64-byte cache line in the block. Loads that cross lines would cost a quarter of the speed."""
    return <void *>((<uintptr_t>block + 63) & ~<uintptr_t>63)
cdef inline Py_ssize_t quads_of(const gemm_kernel *kernel, Py_ssize_t length) noexcept nogil:
    """Give how many quads hold so many elements along k."""
    return (length + 1) // 2 if kernel.widens else (length + 3) // 4
cdef inline Py_ssize_t padded_columns(const gemm_kernel *kernel, Py_ssize_t n) noexcept nogil:
    """Give n rounded up to whole vectors."""
    return (n + kernel.lanes - 1) // kernel.lanes * kernel.lanes
cdef inline Py_ssize_t panel_bytes(const gemm_kernel *kernel, Py_ssize_t columns, Py_ssize_t quads) noexcept nogil:
    """Give the bytes of so many quads of each of so many columns of packed B."""
    return (2 if kernel.narrow else 4) * columns * quads
cdef inline Py_ssize_t quad_bytes(const gemm_kernel *kernel, Py_ssize_t columns) noexcept nogil:
    """Give the bytes from one quad to the next in a panel of so many columns."""
    return panel_bytes(kernel, padded_columns(kernel, columns) if kernel.pack_by_vector == NULL else kernel.lanes, 1)
cdef void pack_columns(const gemm_kernel *kernel, const int8_t *b, Py_ssize_t ldb, Py_ssize_t k, Py_ssize_t n,
                       uint8_t *panels, Py_ssize_t first, Py_ssize_t quads) noexcept nogil
cdef void pack_quads(const gemm_kernel *kernel, const uint8_t *source, Py_ssize_t length, bint is_signed,
                     uint8_t *quads) noexcept nogil
cdef void sum_columns(const gemm_kernel *kernel, const uint8_t *panels, Py_ssize_t quads, Py_ssize_t n,
                      int32_t *sums) noexcept nogil
cdef void panel_rows(const gemm_kernel *kernel, gemm_tile *t, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil
