/* What the loops of blocks.pyx, stream.pyx and rows.pyx hand to a kernel.
 *
 * A quad is 4 bytes that lie together along k: four 8-bit elements, or two 16-bit ones for the kernels that widen.
 * B is packed in panels of up to vectors * lanes columns, [quad][column][4 bytes], so one vector holds one quad of
 * `lanes` columns and is multiplied by one quad of A, broadcast. Where there is a matrix unit, which takes 16 quads of a
 * vector of columns at once, they lie together: [vector][quad][lane][4 bytes]. */
#ifndef QOPS_GEMM_TYPES_H
#define QOPS_GEMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum { GEMM_ROWS = 6 };       /* most rows a tile: 6 x 4 vectors fill 24 of 32 registers, 6 x 2 fill 12 of 16 */
enum { GEMM_STREAM_ROWS = 4 };

typedef struct {
    const uint8_t *a;         /* quads of row 0 */
    ptrdiff_t lda;            /* bytes between rows of A */
    const ptrdiff_t *tap;     /* where in A each run of quads begins, in bytes: {0}, or one a convolution tap */
    ptrdiff_t taps, quads;    /* number of runs, quads a run */
    const uint8_t *b;         /* panel: taps * quads quads */
    ptrdiff_t apart;          /* bytes from a vector of columns to the next, in this panel or another, if they lie apart */
    const int32_t *sums;      /* of the columns of B, for */
    int32_t times;            /* ... what accumulators begin with: times * sums, 0 without sums */
    int32_t *c;
    ptrdiff_t ldc;            /* elements between rows of C */
    int accumulate;           /* add to C instead of replacing it */
    int fetch;                /* C lies far away; for amx, B does */
    int is_signed;            /* A is s8: amx takes a, tile too if it takes_signed, else a + 128; not for those that widen */
    int is_unsigned;          /* B is u8 */
    int *set_up;              /* what the tiles of the matrix unit are set up for, 0 nothing; NULL: vectors multiply */
} gemm_tile;

/* A panel that its first tile packs on the way; its b and sums are written then, so they are here. */
typedef struct {
    const int8_t *b;          /* row-major */
    ptrdiff_t ldb;            /* bytes between rows */
    uint8_t *panel;
    int32_t *sums;            /* of the columns, if A is s8 */
} gemm_raw;

typedef struct {
    ptrdiff_t lanes, vectors; /* columns a vector, vectors a whole panel */
    int widens;               /* A and B are packed as int16 */
    int takes_signed;         /* tile takes an A of s8 as it is */
    /* C tile of `rows` rows and `vectors` vectors */
    void (*tile)(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors);
    /* the same of any number of rows and panels on the matrix unit, of A that is u8 or s8; NULL if there is none */
    void (*amx[2])(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors);
    int is_unsigned;          /* B is u8; if there is amx it does all then, and tile too is on the matrix unit */
    /* packs whole quads of `columns` columns (a multiple of lanes) of row-major B */
    void (*pack)(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel);
    /* the same of vectors that lie apart; NULL if they do not */
    void (*pack_apart)(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel,
                       ptrdiff_t apart);
    /* the same of up to GEMM_ROWS rows, one fewer if A is s8, and packs a whole panel; NULL if there is none */
    void (*pack_tile)(const gemm_tile *t, const gemm_raw *raw, ptrdiff_t rows);
    /* few rows, B not packed: acc[rows][64 * groups], columns shuffled as stream.h says; NULL if there is none */
    void (*stream)(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, const int8_t *b, ptrdiff_t ldb,
                   ptrdiff_t blocks, ptrdiff_t quads, ptrdiff_t groups, int32_t *acc);
    /* a row of pixels, exact, as gemm_depthwise.h says; NULL if there is none, as for kernels that widen */
    ptrdiff_t (*depthwise)(const uint8_t *x, ptrdiff_t step, ptrdiff_t pixels, const ptrdiff_t *tap, ptrdiff_t taps,
                           const int32_t *w, const int32_t *sums, int32_t times, ptrdiff_t channels, int32_t *y);
} gemm_kernel;

#endif
