/* Rows of A times a panel on the matrix unit (AMX): one instruction adds to 16 x 16 sums of C the products of 16 rows
 * of A, 64 bytes each, with 16 quads of 16 columns of B, exactly, for any signs.
 *
 * Two registers (tiles) of A times two of B are four of C, a square, so what is loaded is used twice; 16 rows or fewer
 * at the end are one tile of A times up to four of B. 32 rows are multiplied by all panels of a strip before the next
 * 32: where k <= 512 they stay in the first cache meanwhile, and only B is read from the second. That and C, which is
 * written to the second cache at 16 bytes a cycle, are the limit. Tiles are set up when first used, and given back
 * before the product returns (gemm_amx_release), so no other code ever meets them.
 *
 * On Sapphire Rapids the unit is at less than half of its speed until it has been busy for a while, and at times after.
 * Instructions that use tiles then take half as long again if no others lie between them, so AMX_APART does. At full
 * speed it costs nothing.
 *
 * gcc is not told that these instructions read memory, so what was written for them is fenced: AMX_WRITTEN. */
#include "machine/amx.h"

#if QOPS_HAS_AMX
#define AMX_TARGET __attribute__((target("amx-tile,amx-int8,avx512f,avx512bw")))
#define AMX_INLINE static inline __attribute__((always_inline)) AMX_TARGET
#define AMX_WRITTEN() __asm__ volatile("" : : : "memory")
#define AMX_APART __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");

enum { AMX_ROWS = 16, AMX_QUADS = 16, AMX_BYTES = 64 };

/* Tiles of C: 0 to 3; of A: 4 and 5; of B: 6 and 7. With one row of tiles in C, of A 4 only. */
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

/* How the quads of a tap are multiplied: `steps` times `quads` of them, then the `rest`, which are fewer. */
typedef struct { ptrdiff_t steps, quads, rest; } amx_steps;

static amx_steps amx_steps_of(ptrdiff_t quads)
{
    const ptrdiff_t steps = (quads + AMX_QUADS - 1) / AMX_QUADS;
    if (steps && quads % steps == 0)
        return (amx_steps){steps, quads / steps, 0};
    return (amx_steps){quads / AMX_QUADS, AMX_QUADS, quads % AMX_QUADS};
}

/* The last 64 bytes of a tap, with zeros in place of the bytes that are multiplied already. */
static AMX_TARGET void amx_last_bytes(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, ptrdiff_t rest, uint8_t *last)
{
    const __mmask64 mask = ~(__mmask64)0 << (AMX_BYTES - 4 * rest);
    for (ptrdiff_t i = 0; i < rows; ++i)
        _mm512_storeu_si512(last + AMX_BYTES * i, _mm512_maskz_loadu_epi8(mask, a + i * lda));
    AMX_WRITTEN();
}

/* Tiles of C and their columns: if `tall`, two rows of up to two tiles, else one row of up to four. */
#define AMX_TILES(X) X(0, 0) if (vectors > 1) { X(1, 1) } \
    if (tall) { X(2, 0) } else if (vectors > 2) { X(2, 2) } \
    if (tall && vectors > 1) { X(3, 1) } else if (vectors > 3) { X(3, 3) }
#define AMX_PLACE(i, v) (c + (tall && i > 1 ? AMX_ROWS * ldc : 0) + 16 * v)
#define AMX_ZERO(i, v) _tile_zero(i);
#define AMX_LOAD(i, v) _tile_loadd(i, AMX_PLACE(i, v), 4 * ldc);
#define AMX_BEGIN(i, v) _tile_loadd(i, first + 16 * v, 0);
#define AMX_STORE(i, v) _tile_stored(i, AMX_PLACE(i, v), 4 * ldc);
#define AMX_DOT(i, a, b) \
    if (kind == 0) { _tile_dpbusd(i, a, b); } else if (kind == 1) { _tile_dpbssd(i, a, b); } \
    else if (kind == 2) { _tile_dpbuud(i, a, b); } else { _tile_dpbsud(i, a, b); } \
    AMX_APART
#define AMX_READ(i, from, bytes) { _tile_loadd(i, from, bytes); AMX_APART }

/* The numbers that the sums of some vectors of columns begin with, if these are not 0. */
AMX_INLINE void amx_first(const gemm_tile *t, ptrdiff_t v, const int vectors, uint32_t *first)
{
    for (int j = 0; j < 16 * vectors; ++j)
        first[j] = (uint32_t)t->times * (uint32_t)t->sums[16 * v + j];
    AMX_WRITTEN();
}

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

AMX_INLINE void amx_step(const uint8_t *a, ptrdiff_t lda, const uint8_t *b, ptrdiff_t apart, const int tall,
                         const int vectors, const int kind)
{
    AMX_READ(6, b, AMX_BYTES)
    AMX_READ(4, a, lda)
    AMX_DOT(0, 4, 6)
    if (vectors > 1) {
        AMX_READ(7, b + apart, AMX_BYTES)
        AMX_DOT(1, 4, 7)
    }
    if (tall) {
        AMX_READ(5, a + AMX_ROWS * lda, lda)
        AMX_DOT(2, 5, 6)
        if (vectors > 1) {
            AMX_DOT(3, 5, 7)
        }
    } else if (vectors > 2) {
        AMX_READ(6, b + 2 * apart, AMX_BYTES)
        AMX_DOT(2, 4, 6)
        if (vectors > 3) {
            AMX_READ(7, b + 3 * apart, AMX_BYTES)
            AMX_DOT(3, 4, 7)
        }
    }
}

/* Prefetches what is multiplied two steps later. On Sapphire Rapids 16 rows by a packed 4096 x 4096, which L2 does not
 * hold, take half the time with it. */
AMX_INLINE void amx_fetch(const uint8_t *b, ptrdiff_t apart, const int vectors)
{
    for (int v = 0; v < vectors; ++v)
        for (int q = 2 * AMX_QUADS; q < 3 * AMX_QUADS; ++q)
            _mm_prefetch(b + v * apart + AMX_BYTES * q, _MM_HINT_T0);
}

/* Up to 4 tiles of C, that of row 0 and column 16 v first. */
AMX_INLINE void amx_block(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t v, const int tall,
                          const int vectors, const int kind)
{
    uint8_t last[2 * AMX_ROWS * AMX_BYTES] __attribute__((aligned(64)));
    const ptrdiff_t lda = t->lda, ldc = t->ldc;
    const uint8_t *b = t->b + v * t->apart;
    int32_t *c = t->c + 16 * v;
    amx_begin(t, c, v, tall, vectors);
    for (ptrdiff_t i = 0; i < t->taps; ++i) {
        const uint8_t *a = t->a + t->tap[i];
        for (ptrdiff_t s = 0; s < steps.steps; ++s) {
            if (t->fetch)
                amx_fetch(b, t->apart, vectors);
            amx_step(a, lda, b, t->apart, tall, vectors, kind);
            a += 4 * steps.quads;
            b += AMX_BYTES * steps.quads;
        }
        if (steps.rest) {
            b += AMX_BYTES * steps.rest;
            amx_last_bytes(a + 4 * steps.rest - AMX_BYTES, lda, rows, steps.rest, last);
            amx_step(last, AMX_BYTES, b - AMX_BYTES * AMX_QUADS, t->apart, tall, vectors, kind);
        }
    }
    AMX_TILES(AMX_STORE)
}

#define AMX_SQUARE(X) X(0, 4, 6) X(1, 4, 7) X(2, 5, 6) X(3, 5, 7)
#define AMX_CORNER(c, i) ((c) + (i > 1 ? AMX_ROWS * ldc : 0) + i % 2 * 16)
#define AMX_PUT(i, a, b) _tile_stored(i, AMX_CORNER(before, i), 4 * ldc);
#define AMX_NEXT(i, a, b) \
    if (before) { AMX_PUT(i, a, b) } \
    if (t->accumulate) { _tile_loadd(i, AMX_CORNER(c, i), 4 * ldc); } \
    else if (t->times) { _tile_loadd(i, first + i % 2 * 16, 0); } \
    else { _tile_zero(i); } \
    AMX_DOT(i, a, b)

/* The first step of a square. The tiles of the square `before` are stored one by one as they are wanted again: stores
 * all at once would let nothing pass them, and the multiplications would wait. */
AMX_INLINE void amx_next(const gemm_tile *t, const uint8_t *b, ptrdiff_t v, int32_t *before, const int kind)
{
    const ptrdiff_t lda = t->lda, ldc = t->ldc, apart = t->apart;
    const uint8_t *a = t->a + t->tap[0];
    const int32_t *c = t->c + 16 * v;
    uint32_t first[32];
    if (t->times)
        amx_first(t, v, 2, first);
    AMX_READ(6, b, AMX_BYTES)
    AMX_READ(4, a, lda)
    AMX_READ(7, b + apart, AMX_BYTES)
    AMX_READ(5, a + AMX_ROWS * lda, lda)
    AMX_SQUARE(AMX_NEXT)
    AMX_WRITTEN();
}

/* The square of columns 16 v, which is left in the tiles. */
AMX_INLINE void amx_square(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t v, int32_t *before,
                           const int kind)
{
    uint8_t last[2 * AMX_ROWS * AMX_BYTES] __attribute__((aligned(64)));
    const uint8_t *b = t->b + v * t->apart;
    for (ptrdiff_t i = 0; i < t->taps; ++i) {
        const uint8_t *a = t->a + t->tap[i];
        for (ptrdiff_t s = 0; s < steps.steps; ++s) {
            if (t->fetch)
                amx_fetch(b, t->apart, 2);
            if (s || i)
                amx_step(a, t->lda, b, t->apart, 1, 2, kind);
            else
                amx_next(t, b, v, before, kind);
            a += 4 * steps.quads;
            b += AMX_BYTES * steps.quads;
        }
        if (steps.rest) {
            b += AMX_BYTES * steps.rest;
            amx_last_bytes(a + 4 * steps.rest - AMX_BYTES, t->lda, rows, steps.rest, last);
            amx_step(last, AMX_BYTES, b - AMX_BYTES * AMX_QUADS, t->apart, 1, 2, kind);
        }
    }
}

AMX_INLINE void amx_tall(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    const ptrdiff_t ldc = t->ldc, squares = t->taps && steps.steps ? vectors / 2 * 2 : 0;
    int32_t *before = NULL;
    ptrdiff_t v = 0;
    for (; v < squares; v += 2) {
        amx_square(t, steps, rows, v, before, kind);
        before = t->c + 16 * v;
    }
    if (before) {
        AMX_SQUARE(AMX_PUT)
    }
    for (; v < vectors; ++v)
        amx_block(t, steps, rows, v, 1, 1, kind);
}

AMX_INLINE void amx_flat(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    ptrdiff_t v = 0;
    for (; v + 4 <= vectors; v += 4)
        amx_block(t, steps, rows, v, 0, 4, kind);
    switch (vectors - v) {
    case 3: amx_block(t, steps, rows, v, 0, 3, kind); break;
    case 2: amx_block(t, steps, rows, v, 0, 2, kind); break;
    case 1: amx_block(t, steps, rows, v, 0, 1, kind);
    }
}

/* Rows in parts of the same height if possible, because another height needs another set-up. */
AMX_INLINE void amx_rows(const gemm_tile *of_panel, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    const amx_steps steps = amx_steps_of(of_panel->quads);
    gemm_tile t = *of_panel;
    const ptrdiff_t tiles = (rows + 2 * AMX_ROWS - 1) / (2 * AMX_ROWS), most = (rows + tiles - 1) / tiles;
    for (ptrdiff_t first = 0; first < rows; first += most) {
        const ptrdiff_t some = rows - first < most ? rows - first : most;
        const int tall = some > AMX_ROWS;
        const int wanted = (int)(some << 8 | steps.quads);
        if (*t.set_up != wanted)
            amx_set_up(tall ? AMX_ROWS : some, tall ? some - AMX_ROWS : some, steps.quads);
        *t.set_up = wanted;
        if (tall)
            amx_tall(&t, steps, some, vectors, kind);
        else
            amx_flat(&t, steps, some, vectors, kind);
        t.a += some * t.lda;
        t.c += some * t.ldc;
        t.fetch = 0;
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
