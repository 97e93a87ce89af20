/* Multiplies rows of A by panels of B on the matrix unit (AMX). One instruction adds to 16 x 16 accumulators of C
 * the products of 16 rows of A, 64 bytes each, with 16 quads of 16 columns of B, exactly and for any signs. Here a
 * tile is a register of the unit.
 *
 * Two tiles of A times two of B are four of C, a square, so each tile that is loaded is used twice. The last rows,
 * if they are 16 or fewer, are one tile of A times up to four of B. 32 rows are multiplied by all panels of a strip
 * before the next 32: where k <= 512, they stay in L1 meanwhile, and only B is read from L2. The limits of the speed
 * are this and C, which is written to L2 at 16 bytes a cycle. The unit is set up when it is first used and given
 * back before the product returns (gemm_amx_release), so no other code sees it in use.
 *
 * On Sapphire Rapids the unit has less than half of its speed until it has been busy for a while, and at times
 * later. Its instructions then take 1.5 times as long if no others lie between them: AMX_SPACING puts some there. At
 * full speed that costs nothing.
 *
 * gcc does not know that these instructions read memory, so AMX_WRITTEN is a fence after writes that they read. */
#include "machine/amx.h"

#if QOPS_HAS_AMX
#define AMX_TARGET __attribute__((target("amx-tile,amx-int8,avx512f,avx512bw")))
#define AMX_INLINE static inline __attribute__((always_inline)) AMX_TARGET
#define AMX_WRITTEN() __asm__ volatile("" : : : "memory")
#define AMX_SPACING __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");

enum { AMX_TILE_ROWS = 16, AMX_QUADS = 16, AMX_BYTES = 64 };

/* Sets the sizes of the tiles. Tiles 0 to 3 are of C, 4 and 5 of A, 6 and 7 of B. A block of up to 16 rows uses tile
 * 4 of A only. */
static AMX_TARGET void amx_set_up(ptrdiff_t first_rows, ptrdiff_t second_rows, ptrdiff_t quads)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } setup = {.palette = 1};
    for (int i = 0; i < 6; ++i) {
        setup.rows[i] = i == 0 || i == 1 || i == 4 ? first_rows : second_rows;
        setup.bytes[i] = i < 4 ? AMX_BYTES : 4 * quads;
    }
    setup.rows[6] = setup.rows[7] = quads;
    setup.bytes[6] = setup.bytes[7] = AMX_BYTES;
    AMX_WRITTEN();
    _tile_loadconfig(&setup);
}

/* How the quads of a tap are cut: `chunks` chunks of `quads` quads, then one of `rest` quads, which are fewer. */
typedef struct { ptrdiff_t chunks, quads, rest; } amx_chunks;

static amx_chunks amx_chunks_of(ptrdiff_t quads)
{
    const ptrdiff_t chunks = (quads + AMX_QUADS - 1) / AMX_QUADS;
    if (chunks && quads % chunks == 0)
        return (amx_chunks){chunks, quads / chunks, 0};
    return (amx_chunks){quads / AMX_QUADS, AMX_QUADS, quads % AMX_QUADS};
}

/* Copies the last 64 bytes of a tap, of each row, with zeros in place of the bytes that are multiplied already. */
static AMX_TARGET void amx_last_bytes(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, ptrdiff_t rest, uint8_t *last)
{
    const __mmask64 mask = ~(__mmask64)0 << (AMX_BYTES - 4 * rest);
    for (ptrdiff_t i = 0; i < rows; ++i)
        _mm512_storeu_si512(last + AMX_BYTES * i, _mm512_maskz_loadu_epi8(mask, a + i * lda));
    AMX_WRITTEN();
}

/* Does X(tile, vector of columns) for the tiles of C: if `tall`, up to two by two tiles, else up to four side by side. */
#define AMX_TILES(X) X(0, 0) if (vectors > 1) { X(1, 1) } \
    if (tall) { X(2, 0) } else if (vectors > 2) { X(2, 2) } \
    if (tall && vectors > 1) { X(3, 1) } else if (vectors > 3) { X(3, 3) }
#define AMX_PLACE(i, v) (c + (tall && i > 1 ? AMX_TILE_ROWS * ldc : 0) + 16 * v)
#define AMX_ZERO(i, v) _tile_zero(i);
#define AMX_LOAD(i, v) _tile_loadd(i, AMX_PLACE(i, v), 4 * ldc);
#define AMX_BEGIN(i, v) _tile_loadd(i, first + 16 * v, 0);
#define AMX_STORE(i, v) _tile_stored(i, AMX_PLACE(i, v), 4 * ldc);
#define AMX_DOT(i, a, b) \
    if (kind == 0) { _tile_dpbusd(i, a, b); } else if (kind == 1) { _tile_dpbssd(i, a, b); } \
    else if (kind == 2) { _tile_dpbuud(i, a, b); } else { _tile_dpbsud(i, a, b); } \
    AMX_SPACING
#define AMX_READ(i, from, bytes) { _tile_loadd(i, from, bytes); AMX_SPACING }

/* Sets `first` to times * sums, with which the accumulators of some vectors of columns begin. */
AMX_INLINE void amx_first(const gemm_tile *t, ptrdiff_t v, const int vectors, uint32_t *first)
{
    for (int j = 0; j < 16 * vectors; ++j)
        first[j] = (uint32_t)t->times * (uint32_t)t->sums[16 * v + j];
    AMX_WRITTEN();
}

/* Sets the tiles of C to their start: C itself, times * sums, or 0. */
AMX_INLINE void amx_begin(const gemm_tile *t, const int32_t *c, ptrdiff_t v, const int tall, const int vectors)
{
    const ptrdiff_t ldc = t->ldc;
    uint32_t first[64];
    if (t->accumulate) {
        AMX_TILES(AMX_LOAD)
    } else if (t->times) {
        amx_first(t, v, vectors, first);
        AMX_TILES(AMX_BEGIN)
        AMX_WRITTEN();
    } else {
        AMX_TILES(AMX_ZERO)
    }
}

/* Multiplies one chunk of quads of A and B, and adds the products to the tiles of C. */
AMX_INLINE void amx_chunk(const uint8_t *a, ptrdiff_t lda, const uint8_t *b, ptrdiff_t vector_stride, const int tall,
                         const int vectors, const int kind)
{
    AMX_READ(6, b, AMX_BYTES)
    AMX_READ(4, a, lda)
    AMX_DOT(0, 4, 6)
    if (vectors > 1) {
        AMX_READ(7, b + vector_stride, AMX_BYTES)
        AMX_DOT(1, 4, 7)
    }
    if (tall) {
        AMX_READ(5, a + AMX_TILE_ROWS * lda, lda)
        AMX_DOT(2, 5, 6)
        if (vectors > 1) {
            AMX_DOT(3, 5, 7)
        }
    } else if (vectors > 2) {
        AMX_READ(6, b + 2 * vector_stride, AMX_BYTES)
        AMX_DOT(2, 4, 6)
        if (vectors > 3) {
            AMX_READ(7, b + 3 * vector_stride, AMX_BYTES)
            AMX_DOT(3, 4, 7)
        }
    }
}

/* Prefetches the part of B that is multiplied two chunks later. On Sapphire Rapids this halves the time of 16 rows by a
 * packed 4096 x 4096, which L2 does not hold. */
AMX_INLINE void amx_prefetch(const uint8_t *b, ptrdiff_t vector_stride, const int vectors)
{
    for (int v = 0; v < vectors; ++v)
        for (int q = 2 * AMX_QUADS; q < 3 * AMX_QUADS; ++q)
            _mm_prefetch(b + v * vector_stride + AMX_BYTES * q, _MM_HINT_T0);
}

/* Computes up to 4 tiles of C; the first one is at row 0 and column 16 v. */
AMX_INLINE void amx_block(const gemm_tile *t, amx_chunks chunks, ptrdiff_t rows, ptrdiff_t v, const int tall,
                          const int vectors, const int kind)
{
    uint8_t last[2 * AMX_TILE_ROWS * AMX_BYTES] __attribute__((aligned(64)));
    const ptrdiff_t lda = t->lda, ldc = t->ldc;
    const uint8_t *b = t->b + v * t->vector_stride;
    int32_t *c = t->c + 16 * v;
    amx_begin(t, c, v, tall, vectors);
    for (ptrdiff_t i = 0; i < t->taps; ++i) {
        const uint8_t *a = t->a + t->tap[i];
        for (ptrdiff_t s = 0; s < chunks.chunks; ++s) {
            if (t->prefetch)
                amx_prefetch(b, t->vector_stride, vectors);
            amx_chunk(a, lda, b, t->vector_stride, tall, vectors, kind);
            a += 4 * chunks.quads;
            b += AMX_BYTES * chunks.quads;
        }
        if (chunks.rest) {
            b += AMX_BYTES * chunks.rest;
            amx_last_bytes(a + 4 * chunks.rest - AMX_BYTES, lda, rows, chunks.rest, last);
            amx_chunk(last, AMX_BYTES, b - AMX_BYTES * AMX_QUADS, t->vector_stride, tall, vectors, kind);
        }
    }
    AMX_TILES(AMX_STORE)
}

#define AMX_SQUARE(X) X(0, 4, 6) X(1, 4, 7) X(2, 5, 6) X(3, 5, 7)
#define AMX_CORNER(c, i) ((c) + (i > 1 ? AMX_TILE_ROWS * ldc : 0) + i % 2 * 16)
#define AMX_PUT(i, a, b) _tile_stored(i, AMX_CORNER(before, i), 4 * ldc);
#define AMX_NEXT(i, a, b) \
    if (before) { AMX_PUT(i, a, b) } \
    if (t->accumulate) { _tile_loadd(i, AMX_CORNER(c, i), 4 * ldc); } \
    else if (t->times) { _tile_loadd(i, first + i % 2 * 16, 0); } \
    else { _tile_zero(i); } \
    AMX_DOT(i, a, b)

/* Multiplies the first chunk of a square. Each tile of the square `before` is stored just before it is used again:
 * stores all at once would make the multiplications wait. */
AMX_INLINE void amx_next(const gemm_tile *t, const uint8_t *b, ptrdiff_t v, int32_t *before, const int kind)
{
    const ptrdiff_t lda = t->lda, ldc = t->ldc, vector_stride = t->vector_stride;
    const uint8_t *a = t->a + t->tap[0];
    const int32_t *c = t->c + 16 * v;
    uint32_t first[32];
    if (t->times)
        amx_first(t, v, 2, first);
    AMX_READ(6, b, AMX_BYTES)
    AMX_READ(4, a, lda)
    AMX_READ(7, b + vector_stride, AMX_BYTES)
    AMX_READ(5, a + AMX_TILE_ROWS * lda, lda)
    AMX_SQUARE(AMX_NEXT)
    AMX_WRITTEN();
}

/* Computes the square of columns from 16 v on, and leaves it in the tiles; amx_next stores the square `before`. */
AMX_INLINE void amx_square(const gemm_tile *t, amx_chunks chunks, ptrdiff_t rows, ptrdiff_t v, int32_t *before,
                           const int kind)
{
    uint8_t last[2 * AMX_TILE_ROWS * AMX_BYTES] __attribute__((aligned(64)));
    const uint8_t *b = t->b + v * t->vector_stride;
    for (ptrdiff_t i = 0; i < t->taps; ++i) {
        const uint8_t *a = t->a + t->tap[i];
        for (ptrdiff_t s = 0; s < chunks.chunks; ++s) {
            if (t->prefetch)
                amx_prefetch(b, t->vector_stride, 2);
            if (s || i)
                amx_chunk(a, t->lda, b, t->vector_stride, 1, 2, kind);
            else
                amx_next(t, b, v, before, kind);
            a += 4 * chunks.quads;
            b += AMX_BYTES * chunks.quads;
        }
        if (chunks.rest) {
            b += AMX_BYTES * chunks.rest;
            amx_last_bytes(a + 4 * chunks.rest - AMX_BYTES, t->lda, rows, chunks.rest, last);
            amx_chunk(last, AMX_BYTES, b - AMX_BYTES * AMX_QUADS, t->vector_stride, 1, 2, kind);
        }
    }
}

/* Computes 17 to 32 rows, square by square. */
AMX_INLINE void amx_tall(const gemm_tile *t, amx_chunks chunks, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    const ptrdiff_t ldc = t->ldc, squares = t->taps && chunks.chunks ? vectors / 2 * 2 : 0;
    int32_t *before = NULL;
    ptrdiff_t v = 0;
    for (; v < squares; v += 2) {
        amx_square(t, chunks, rows, v, before, kind);
        before = t->c + 16 * v;
    }
    if (before) {
        AMX_SQUARE(AMX_PUT)
    }
    for (; v < vectors; ++v)
        amx_block(t, chunks, rows, v, 1, 1, kind);
}

/* Computes up to 16 rows. */
AMX_INLINE void amx_flat(const gemm_tile *t, amx_chunks chunks, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    ptrdiff_t v = 0;
    for (; v + 4 <= vectors; v += 4)
        amx_block(t, chunks, rows, v, 0, 4, kind);
    switch (vectors - v) {
    case 3: amx_block(t, chunks, rows, v, 0, 3, kind); break;
    case 2: amx_block(t, chunks, rows, v, 0, 2, kind); break;
    case 1: amx_block(t, chunks, rows, v, 0, 1, kind);
    }
}

/* Computes any number of rows, in parts of equal height if possible, because another height needs another set-up. */
AMX_INLINE void amx_rows(const gemm_tile *of_panel, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    const amx_chunks chunks = amx_chunks_of(of_panel->quads);
    gemm_tile t = *of_panel;
    const ptrdiff_t tiles = (rows + 2 * AMX_TILE_ROWS - 1) / (2 * AMX_TILE_ROWS), most = (rows + tiles - 1) / tiles;
    for (ptrdiff_t first = 0; first < rows; first += most) {
        const ptrdiff_t some = rows - first < most ? rows - first : most;
        const int tall = some > AMX_TILE_ROWS;
        const int wanted = (int)(some << 8 | chunks.quads);
        if (*t.set_up != wanted)
            amx_set_up(tall ? AMX_TILE_ROWS : some, tall ? some - AMX_TILE_ROWS : some, chunks.quads);
        *t.set_up = wanted;
        if (tall)
            amx_tall(&t, chunks, some, vectors, kind);
        else
            amx_flat(&t, chunks, some, vectors, kind);
        t.a += some * t.lda;
        t.c += some * t.ldc;
        t.prefetch = 0;
    }
}

static AMX_TARGET void gemm_amx_u8s8(const gemm_tile *t, ptrdiff_t m, ptrdiff_t v) { amx_rows(t, m, v, 0); }
static AMX_TARGET void gemm_amx_s8s8(const gemm_tile *t, ptrdiff_t m, ptrdiff_t v) { amx_rows(t, m, v, 1); }
static AMX_TARGET void gemm_amx_u8u8(const gemm_tile *t, ptrdiff_t m, ptrdiff_t v) { amx_rows(t, m, v, 2); }
static AMX_TARGET void gemm_amx_s8u8(const gemm_tile *t, ptrdiff_t m, ptrdiff_t v) { amx_rows(t, m, v, 3); }
static AMX_TARGET void gemm_amx_release(void) { _tile_release(); }
#else
static void gemm_amx_release(void) {}
#endif
