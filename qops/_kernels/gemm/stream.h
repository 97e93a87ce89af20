/* Products of up to 4 rows of A. Each value of B is used once, so B is not packed: it is read row by row, in blocks
 * of `quads` quads by 64 columns, and made into quads in registers. This is included once for each kernel, as tile.h
 * is, for 16 lanes. For one row by 512 x 512 to 4096 x 1024, pack_tile.h takes 1.3 to 1.8 times as long, and packing
 * beforehand 2.1 to 2.4 times; for four rows by 1024 x 1024 pack_tile.h takes 1.5 times as long.
 *
 * Unpacking works inside 128-bit lanes, so of each 64 columns acc holds column 16 L + 4 v + i at 16 v + 4 L + i. The
 * caller restores the order once, when the last block is done. */

#define DOT_ONE(r, v) c##r##v = DOT(c##r##v, x, b##v);
#define DOT_ROW(r) if (rows > r) { \
        const V x = BROADCAST(a + r * lda + 4 * q); \
        DOT_ONE(r, 0) DOT_ONE(r, 1) DOT_ONE(r, 2) DOT_ONE(r, 3) \
    }
#define LOAD_ONE(r, v) V c##r##v = LOAD(acc + (rows > r ? r : 0) * ldacc + 16 * v);
#define LOAD_ROW(r) LOAD_ONE(r, 0) LOAD_ONE(r, 1) LOAD_ONE(r, 2) LOAD_ONE(r, 3)
#define STORE_ONE(r, v) STORE(acc + r * ldacc + 16 * v, c##r##v);
#define STORE_ROW(r) if (rows > r) { STORE_ONE(r, 0) STORE_ONE(r, 1) STORE_ONE(r, 2) STORE_ONE(r, 3) }

/* Multiplies `rows` rows of A by one block of B, 4 * quads rows of 64 columns, and adds the products to acc. */
static inline __attribute__((always_inline)) TARGET
void NAME(stream_64)(const uint8_t *a, ptrdiff_t lda, const int rows, const int8_t *b, ptrdiff_t ldb,
                     ptrdiff_t quads, int32_t *acc, ptrdiff_t ldacc)
{
    LOAD_ROW(0) LOAD_ROW(1) LOAD_ROW(2) LOAD_ROW(3)
    for (ptrdiff_t q = 0; q < quads; ++q, b += 4 * ldb) {
        const gemm_quads r = gemm_unpacked(_mm512_loadu_si512(b), _mm512_loadu_si512(b + ldb),
                                           _mm512_loadu_si512(b + 2 * ldb), _mm512_loadu_si512(b + 3 * ldb));
        const V b0 = (V)r.v0, b1 = (V)r.v1, b2 = (V)r.v2, b3 = (V)r.v3;
        DOT_ROW(0) DOT_ROW(1) DOT_ROW(2) DOT_ROW(3)
    }
    STORE_ROW(0) STORE_ROW(1) STORE_ROW(2) STORE_ROW(3)
}

#define ROWS(n) \
    static TARGET void NAME(stream_##n)(const uint8_t *a, ptrdiff_t lda, const int8_t *b, ptrdiff_t ldb, \
                                        ptrdiff_t blocks, ptrdiff_t quads, ptrdiff_t groups, int32_t *acc) \
    { \
        for (ptrdiff_t i = 0; i < blocks; ++i) \
            for (ptrdiff_t j = 0; j < groups; ++j) \
                NAME(stream_64)(a + 4 * quads * i, lda, n, b + 4 * quads * i * ldb + 64 * j, ldb, quads, \
                                acc + 64 * j, 64 * groups); \
    }
ROWS(1)
ROWS(2)
ROWS(3)
ROWS(4)
#undef ROWS

static void NAME(stream)(const uint8_t *a, ptrdiff_t lda, ptrdiff_t rows, const int8_t *b, ptrdiff_t ldb,
                         ptrdiff_t blocks, ptrdiff_t quads, ptrdiff_t groups, int32_t *acc)
{
    static void (*const of[GEMM_STREAM_ROWS])(const uint8_t *, ptrdiff_t, const int8_t *, ptrdiff_t,
                                              ptrdiff_t, ptrdiff_t, ptrdiff_t, int32_t *) =
        { NAME(stream_1), NAME(stream_2), NAME(stream_3), NAME(stream_4) };
    of[rows - 1](a, lda, b, ldb, blocks, quads, groups, acc);
}

#undef DOT_ONE
#undef DOT_ROW
#undef LOAD_ONE
#undef LOAD_ROW
#undef STORE_ONE
#undef STORE_ROW
