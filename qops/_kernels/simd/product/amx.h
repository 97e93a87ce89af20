/* Rows of A times a panel on the matrix unit (AMX): one instruction adds to 16 x 16 sums of C the products of 16 rows
 * of A, 64 bytes each, with 16 quads of 16 columns of B, exactly, for any signs.
 *
 * Two registers (tiles) of A times two of B are four of C, so what is loaded is used twice; 16 rows or fewer at the end
 * are one tile of A times up to four of B. Tiles are set up when first used, and given back before the product returns
 * (gemm_amx_release), so no other code ever meets them.
 *
 * gcc is not told that these instructions read memory, so what was written for them is fenced: AMX_WRITTEN. */
#include "core/amx.h"

#if QOPS_HAS_AMX
#define AMX_TARGET __attribute__((target("amx-tile,amx-int8,avx512f,avx512bw")))
#define AMX_INLINE static inline __attribute__((always_inline)) AMX_TARGET
#define AMX_WRITTEN() __asm__ volatile("" : : : "memory")

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

/* How the quads of a tap are taken: `steps` times `quads`, then the `rest`, which are fewer. */
typedef struct { ptrdiff_t steps, quads, rest; } amx_steps;

static amx_steps amx_steps_of(ptrdiff_t quads)
{
    const ptrdiff_t steps = (quads + AMX_QUADS - 1) / AMX_QUADS;
    if (steps && quads % steps == 0)
        return (amx_steps){steps, quads / steps, 0};
    return (amx_steps){quads / AMX_QUADS, AMX_QUADS, quads % AMX_QUADS};
}

/* The last 64 bytes of a tap, zeros in place of what is multiplied already. */
static AMX_TARGET void amx_last_bytes(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, ptrdiff_t rest, uint8_t *last)
{
    const __mmask64 mask = ~(__mmask64)0 << (AMX_BYTES - 4 * rest);
    for (ptrdiff_t i = 0; i < rows; ++i)
        _mm512_storeu_si512(last + AMX_BYTES * i, _mm512_maskz_loadu_epi8(mask, a + i * lda));
    AMX_WRITTEN();
}

/* Tiles of C and their columns: `tall`, two rows of up to two, else one row of up to four. */
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
    else if (kind == 2) { _tile_dpbuud(i, a, b); } else { _tile_dpbsud(i, a, b); }

AMX_INLINE void amx_begin(const gemm_tile *t, const int32_t *c, ptrdiff_t column, const int tall, const int vectors)
{
    const ptrdiff_t ldc = t->ldc;
    uint32_t first[64];
    if (t->accumulate) {
        AMX_TILES(AMX_LOAD)
    } else if (t->times) {
        for (int j = 0; j < 16 * vectors; ++j)
            first[j] = (uint32_t)t->times * (uint32_t)t->sums[column + j];
        AMX_WRITTEN();
        AMX_TILES(AMX_BEGIN)
        AMX_WRITTEN();
    } else {
        AMX_TILES(AMX_ZERO)
    }
}

AMX_INLINE void amx_step(const uint8_t *a, ptrdiff_t lda, const uint8_t *b, ptrdiff_t ldb, const int tall,
                         const int vectors, const int kind)
{
    _tile_loadd(6, b, ldb);
    _tile_loadd(4, a, lda);
    AMX_DOT(0, 4, 6)
    if (vectors > 1) {
        _tile_loadd(7, b + AMX_BYTES, ldb);
        AMX_DOT(1, 4, 7)
    }
    if (tall) {
        _tile_loadd(5, a + AMX_ROWS * lda, lda);
        AMX_DOT(2, 5, 6)
        if (vectors > 1) {
            AMX_DOT(3, 5, 7)
        }
    } else if (vectors > 2) {
        _tile_loadd(6, b + 2 * AMX_BYTES, ldb);
        AMX_DOT(2, 4, 6)
        if (vectors > 3) {
            _tile_loadd(7, b + 3 * AMX_BYTES, ldb);
            AMX_DOT(3, 4, 7)
        }
    }
}

/* Up to 4 tiles of C, that of row 0 and this column first; ldb: bytes between quads of the panel. */
AMX_INLINE void amx_block(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t column, ptrdiff_t ldb,
                          const int tall, const int vectors, const int kind)
{
    uint8_t last[2 * AMX_ROWS * AMX_BYTES] __attribute__((aligned(64)));
    const ptrdiff_t lda = t->lda, ldc = t->ldc;
    const uint8_t *b = t->b + 4 * column;
    int32_t *c = t->c + column;
    amx_begin(t, c, column, tall, vectors);
    for (ptrdiff_t i = 0; i < t->taps; ++i) {
        const uint8_t *a = t->a + t->tap[i];
        for (ptrdiff_t s = 0; s < steps.steps; ++s) {
            amx_step(a, lda, b, ldb, tall, vectors, kind);
            a += 4 * steps.quads;
            b += ldb * steps.quads;
        }
        if (steps.rest) {
            b += ldb * steps.rest;
            amx_last_bytes(a + 4 * steps.rest - AMX_BYTES, lda, rows, steps.rest, last);
            amx_step(last, AMX_BYTES, b - ldb * AMX_QUADS, ldb, tall, vectors, kind);
        }
    }
    AMX_TILES(AMX_STORE)
}

AMX_INLINE void amx_tall(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    ptrdiff_t v = 0;
    for (; v + 2 <= vectors; v += 2)
        amx_block(t, steps, rows, 16 * v, AMX_BYTES * vectors, 1, 2, kind);
    if (v < vectors)
        amx_block(t, steps, rows, 16 * v, AMX_BYTES * vectors, 1, 1, kind);
}

AMX_INLINE void amx_flat(const gemm_tile *t, amx_steps steps, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    switch (vectors) {
    case 1: amx_block(t, steps, rows, 0, AMX_BYTES, 0, 1, kind); break;
    case 2: amx_block(t, steps, rows, 0, 2 * AMX_BYTES, 0, 2, kind); break;
    case 3: amx_block(t, steps, rows, 0, 3 * AMX_BYTES, 0, 3, kind); break;
    default: amx_block(t, steps, rows, 0, 4 * AMX_BYTES, 0, 4, kind);
    }
}

AMX_INLINE void amx_rows(const gemm_tile *of_panel, ptrdiff_t rows, ptrdiff_t vectors, const int kind)
{
    const amx_steps steps = amx_steps_of(of_panel->quads);
    gemm_tile t = *of_panel;
    for (ptrdiff_t first = 0; first < rows; first += 2 * AMX_ROWS) {
        const ptrdiff_t some = rows - first < 2 * AMX_ROWS ? rows - first : 2 * AMX_ROWS;
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
