/* The arguments that gemm/blocks.pyx, gemm/run.pyx and conv/rows.pyx pass to a kernel, and the table of its
 * functions.
 *
 * A quad is 4 bytes that are neighbours along k: four 8-bit elements, or two 16-bit ones for the kernels that widen.
 * B is packed in panels of up to vectors * lanes columns, [quad][column][4 bytes], so one vector holds one quad of
 * `lanes` columns and is multiplied by one quad of A, broadcast. The matrix unit takes 16 quads of a vector of
 * columns at once, so for it the quads of a vector are neighbours: [vector][quad][lane][4 bytes]. A tap is one run
 * of quads of A. */
#ifndef QOPS_GEMM_TYPES_H
#define QOPS_GEMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum { GEMM_ROWS = 6 };       /* the most rows of a tile: 6 x 4 vectors fill 24 of 32 registers, 6 x 2 fill 12 of 16 */
enum { GEMM_STREAM_ROWS = 4 }; /* the most rows of A of a streamed product */

typedef struct {
    const uint8_t *a;         /* row 0 of A, in quads */
    ptrdiff_t lda;            /* bytes between rows of A */
    const ptrdiff_t *tap;     /* byte offsets in A of its runs of quads: {0}, or one for each tap of a convolution */
    ptrdiff_t taps, quads;    /* number of runs, and of quads in a run */
    const uint8_t *b;         /* panel: taps * quads quads */
    ptrdiff_t vector_stride;  /* for the matrix unit: bytes from a vector of columns of B to the next */
    const int32_t *sums;      /* sums of the columns of B, or NULL */
    int32_t times;            /* accumulators begin with times * sums; it is 0 without sums, and where amx adds to C */
    int32_t *c;
    ptrdiff_t ldc;            /* elements between rows of C */
    ptrdiff_t tiles;          /* how many tiles of as many rows follow each other; the matrix unit does not read it */
    int accumulate;           /* whether to add to C instead of replacing it */
    int spare;                /* whether a row of C may be written beyond its columns, to a whole vector: the next row of
                               * the same tiles, or a panel of lower columns, is written afterwards */
    int prefetch;             /* whether amx prefetches B, because B does not fit in L2 */
    int is_signed;            /* whether A is s8 and not widened; amx and kernels with takes_signed read it as s8, others
                               * as a + 128 */
    int is_unsigned;          /* whether B is u8 */
    int *set_up;              /* the height and depth that the matrix unit is set up for, 0 at first; NULL if vectors
                               * multiply */
} gemm_tile;

/* A panel that pack_tile packs. It writes the panel and the sums. */
typedef struct {
    const int8_t *b;          /* row-major */
    ptrdiff_t ldb;            /* bytes between rows */
    uint8_t *panel;
    int32_t *sums;            /* sums of the columns, if A is s8 */
} gemm_raw;

/* What a depthwise convolution does for a row of woven pixels. Entries of channels repeat after `period`, and at least a
 * vector of them stands behind it. */
typedef struct {
    const ptrdiff_t *tap;     /* for each tap, how many quads it lies from the first */
    ptrdiff_t taps;
    const int32_t *w;         /* weights in quads, [tap][channel] */
    ptrdiff_t w_stride;       /* entries of w from a tap to the next */
    const int32_t *starts;    /* what the accumulators of each channel begin with */
    ptrdiff_t period;
    ptrdiff_t n, runs;        /* elements of a run of windows; how many runs there are */
    ptrdiff_t run_stride;     /* quads from the first of a run to that of the next */
} gemm_depthwise;

typedef struct gemm_kernel {
    ptrdiff_t lanes, vectors; /* columns in a vector, vectors in a whole panel */
    int widens;               /* whether A and B are multiplied as int16, and A is packed as such */
    int narrow;               /* whether B is packed as bytes although it is multiplied as int16: its quads have 2 bytes */
    int takes_signed;         /* whether `tile` takes an A of s8 without a shift */
    /* computes a tile of C of `rows` rows and `vectors` vectors */
    void (*tile)(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors);
    /* the same on the matrix unit, for any number of rows and panels: [0] for an A of u8, [1] for s8; NULL if there is
     * no such unit */
    void (*amx[2])(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors);
    const struct gemm_kernel *by_vectors;  /* the kernel for a row-major B where amx is slower than vectors; or NULL */
    int is_unsigned;          /* whether B is u8; then amx, if there is one, computes all products */
    /* packs whole quads of `columns` columns (a multiple of lanes) of row-major B */
    void (*pack)(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel);
    /* the same for the matrix unit, in the form [vector][quad][lane][4 bytes]; NULL in other kernels */
    void (*pack_by_vector)(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel,
                           ptrdiff_t vector_stride);
    /* computes a tile of up to GEMM_ROWS rows, one fewer if A is s8, and packs its whole panel meanwhile; or NULL */
    void (*pack_tile)(const gemm_tile *t, const gemm_raw *raw, ptrdiff_t rows);
    /* multiplies few rows by row-major B, k = `blocks` blocks of `quads` quads: acc[rows][64 * groups], with columns in the
     * order of stream.h; or NULL */
    void (*stream)(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, const int8_t *b, ptrdiff_t ldb,
                   ptrdiff_t blocks, ptrdiff_t quads, ptrdiff_t groups, int32_t *acc);
    /* weaves rows of n bytes into n quads, each byte combined with that of `flip` by exclusive or; 4 rows, or 2 for
     * kernels that widen */
    void (*weave)(const uint8_t **rows, ptrdiff_t n, uint32_t flip, uint32_t *quads);
    /* y[i] = starts + sums over all taps, run after run; see depthwise.h. NULL, as `weave`, in kernels that saturate */
    void (*dots)(const gemm_depthwise *d, const uint32_t *quads, int32_t *y);
} gemm_kernel;

#endif
