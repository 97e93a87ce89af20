/* What the loops of gemm/blocks.pyx, gemm/stream.pyx and conv/rows.pyx pass to a kernel.
 *
 * A quad is 4 bytes that are neighbours along k: four 8-bit elements, or two 16-bit ones for the kernels that widen.
 * B is packed in panels of up to vectors * lanes columns, [quad][column][4 bytes], so one vector holds one quad of
 * `lanes` columns and is multiplied by one quad of A, broadcast. A matrix unit takes 16 quads of a vector of columns at
 * once, so for it the quads of a vector are neighbours: [vector][quad][lane][4 bytes]. */
#ifndef QOPS_GEMM_TYPES_H
#define QOPS_GEMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum { GEMM_ROWS = 6 };       /* most rows of a tile: 6 x 4 vectors fill 24 of 32 registers, 6 x 2 fill 12 of 16 */
enum { GEMM_STREAM_ROWS = 4 };

typedef struct {
    const uint8_t *a;         /* quads of row 0 */
    ptrdiff_t lda;            /* bytes between rows of A */
    const ptrdiff_t *tap;     /* where in A each run of quads begins, in bytes: {0}, or one for each tap of a convolution */
    ptrdiff_t taps, quads;    /* number of runs, and of quads in a run */
    const uint8_t *b;         /* panel: taps * quads quads */
    ptrdiff_t apart;          /* bytes from a vector of columns to the next, in this panel or another, if they are apart */
    const int32_t *sums;      /* sums of the columns of B, or NULL */
    int32_t times;            /* accumulators begin with times * sums; 0 without sums, and where amx adds to C */
    int32_t *c;
    ptrdiff_t ldc;            /* elements between rows of C */
    int accumulate;           /* add to C instead of replacing it */
    int fetch;                /* B does not fit L2: amx prefetches it */
    int is_signed;            /* A is s8; amx, and tile if it takes_signed, read it so, others as a + 128; 0 if widened */
    int is_unsigned;          /* B is u8 */
    int *set_up;              /* what the matrix unit is set up for, 0: nothing yet; NULL: vectors multiply */
} gemm_tile;

/* A panel that pack_tile packs. It writes the panel and the sums, so they are not const here. */
typedef struct {
    const int8_t *b;          /* row-major */
    ptrdiff_t ldb;            /* bytes between rows */
    uint8_t *panel;
    int32_t *sums;            /* sums of the columns, if A is s8 */
} gemm_raw;

typedef struct gemm_kernel {
    ptrdiff_t lanes, vectors; /* columns in a vector, vectors in a whole panel */
    int widens;               /* A and B are packed as int16 */
    int takes_signed;         /* tile takes an A of s8 as it is */
    /* makes a tile of C of `rows` rows and `vectors` vectors */
    void (*tile)(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors);
    /* the same on the matrix unit for any number of rows and panels, [0] for A of u8, [1] for s8; NULL if there is none */
    void (*amx[2])(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors);
    const struct gemm_kernel *by_vectors;  /* multiplies by a B that is not packed yet, where amx does not pay; or NULL */
    int is_unsigned;          /* B is u8; if there is amx, it then makes all products, also those of tile */
    /* packs whole quads of `columns` columns (a multiple of lanes) of row-major B */
    void (*pack)(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel);
    /* the same for vectors that are apart; NULL if they are not */
    void (*pack_apart)(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel,
                       ptrdiff_t apart);
    /* makes a tile of up to GEMM_ROWS rows, one fewer if A is s8, and packs its whole panel; NULL if there is none */
    void (*pack_tile)(const gemm_tile *t, const gemm_raw *raw, ptrdiff_t rows);
    /* multiplies few rows by B as it is: acc[rows][64 * groups], columns in the order of stream.h; NULL if there is none */
    void (*stream)(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, const int8_t *b, ptrdiff_t ldb,
                   ptrdiff_t blocks, ptrdiff_t quads, ptrdiff_t groups, int32_t *acc);
    /* convolves a row of pixels, exactly, as gemm_depthwise.h says; NULL if there is none, as for kernels that widen */
    ptrdiff_t (*depthwise)(const uint8_t *x, ptrdiff_t step, ptrdiff_t pixels, const ptrdiff_t *tap, ptrdiff_t taps,
                           const int32_t *w, const int32_t *sums, int32_t times, ptrdiff_t channels, int32_t *y);
} gemm_kernel;

#endif
