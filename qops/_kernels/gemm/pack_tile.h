/* Packs a panel while it computes the panel's first tile: it makes quads of B in registers, multiplies them, and
 * stores them for the tiles that follow, so B is read while multiplications go on. Packing beforehand takes
 * 1.3 to 1.5 times as long for 6 to 16 rows by 512 x 512, and as long for 1024 x 1024.
 * This is included once for each kernel, as tile.h is, for 16 lanes and 4 vectors.
 *
 * If A is signed, a row of ones takes the place of the sixth row. It gives the column sums, and the tile subtracts 128
 * times these. */

#define IF_ROW(r, X) if (rows > r) { X(r) }
#define ALL_ROWS(X) IF_ROW(0, X) IF_ROW(1, X) IF_ROW(2, X) IF_ROW(3, X) IF_ROW(4, X) IF_ROW(5, X)
#define ALL_VECTORS(X, r) X(r, 0) X(r, 1) X(r, 2) X(r, 3)
#define DECLARE(r) V c##r##0 = {0}, c##r##1 = {0}, c##r##2 = {0}, c##r##3 = {0};
#define ROW_OF_A(r) ((r < 3 ? a0 : a3) + r % 3 * lda)
#define DOT_ONE(r, v) c##r##v = DOT(c##r##v, x, b##v);
#define DOT_ROW(r) const V x = BROADCAST(ROW_OF_A(r)) ^ flip; ALL_VECTORS(DOT_ONE, r)
#define SUM_ONE(r, v) STORE(raw->sums + v * LANES, c##r##v);
#define STORE_ONE(r, v) \
    if (shift) c##r##v += c5##v * times; \
    if (accumulate) c##r##v += LOAD(c + r * ldc + v * LANES); \
    STORE(c + r * ldc + v * LANES, c##r##v);
#define STORE_ROW(r) ALL_VECTORS(STORE_ONE, r)

static inline __attribute__((always_inline)) TARGET
void NAME(pack_body)(const gemm_tile *t, const gemm_raw *raw, const int rows, const int shift)
{
    const ptrdiff_t lda = t->lda, ldb = raw->ldb, ldc = t->ldc, vector_stride = VECTOR_STRIDE;
    const int accumulate = t->accumulate;
    const uint32_t times = t->times;
    const uint8_t *a0 = t->a, *a3 = a0 + 3 * lda;
    const int8_t *b = raw->b;
    uint8_t *panel = raw->panel;
    int32_t *c = t->c;
    const V ones = (V)_mm512_set1_epi8(1), flip = (V)_mm512_set1_epi8(shift ? -128 : 0);
    DECLARE(0) DECLARE(1) DECLARE(2) DECLARE(3) DECLARE(4) DECLARE(5)
    for (ptrdiff_t q = t->quads; q > 0; --q) {
        const gemm_quads quads = gemm_quads_of(b, ldb);
        const V b0 = (V)quads.v0, b1 = (V)quads.v1, b2 = (V)quads.v2, b3 = (V)quads.v3;
        ALL_ROWS(DOT_ROW)
        if (shift) {
            const V x = ones;
            ALL_VECTORS(DOT_ONE, 5)
        }
        gemm_put_quads(quads, panel, vector_stride);
        a0 += 4;
        a3 += 4;
        b += 4 * ldb;
        panel += QUAD_STRIDE(4);
    }
    if (shift) {
        ALL_VECTORS(SUM_ONE, 5)
    }
    ALL_ROWS(STORE_ROW)
}

#define ROWS(n) \
    static TARGET void NAME(pack_##n)(const gemm_tile *t, const gemm_raw *raw) { NAME(pack_body)(t, raw, n, 0); }
#define ROWS_SHIFTED(n) \
    static TARGET void NAME(pack_shifted_##n)(const gemm_tile *t, const gemm_raw *raw) { NAME(pack_body)(t, raw, n, 1); }
ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6)
ROWS_SHIFTED(1) ROWS_SHIFTED(2) ROWS_SHIFTED(3) ROWS_SHIFTED(4) ROWS_SHIFTED(5)

static void NAME(pack_tile)(const gemm_tile *t, const gemm_raw *raw, ptrdiff_t rows)
{
    static void (*const of[2][GEMM_ROWS])(const gemm_tile *, const gemm_raw *) = {
        { NAME(pack_1), NAME(pack_2), NAME(pack_3), NAME(pack_4), NAME(pack_5), NAME(pack_6) },
        { NAME(pack_shifted_1), NAME(pack_shifted_2), NAME(pack_shifted_3), NAME(pack_shifted_4), NAME(pack_shifted_5) },
    };
    of[t->is_signed][rows - 1](t, raw);
}

#undef IF_ROW
#undef ALL_ROWS
#undef ALL_VECTORS
#undef DECLARE
#undef ROW_OF_A
#undef DOT_ONE
#undef DOT_ROW
#undef SUM_ONE
#undef STORE_ONE
#undef STORE_ROW
#undef ROWS
#undef ROWS_SHIFTED
