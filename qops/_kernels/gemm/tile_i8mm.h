/* The tile of tile.h with MMLA(acc, a, b), which adds the dot products of 8 bytes (two quads) of 2 rows of A and 2
 * columns of B to 2 x 2 accumulators. A vector of columns is zipped with that of the next quad, which gives two
 * vectors of 2 columns each; a last quad without a partner is zipped with zeros. If the number of rows is odd, the
 * last row is taken twice. If SHIFTS, a signed A is taken as a + 128. Here p counts groups of two rows. Rows are stored
 * one after the other, as each may go beyond its columns, where the next one begins. */

#define ALL_TWO_ROWS(X) X(0) if (rows > 2) { X(1) } if (rows > 4) { X(2) }
#define ALL_VECTORS(X, ...) X(__VA_ARGS__, 0) if (vectors > 1) { X(__VA_ARGS__, 1) } \
    if (vectors > 2) { X(__VA_ARGS__, 2) } if (vectors > 3) { X(__VA_ARGS__, 3) }
#define DECLARE(p) int32x4_t c##p##0l = {0}, c##p##0h = {0}, c##p##1l = {0}, c##p##1h = {0}, \
    c##p##2l = {0}, c##p##2h = {0}, c##p##3l = {0}, c##p##3h = {0};
#define SECOND(p) (rows > 2 * p + 1 ? lda : 0)
#define LOAD_TWO_ROWS(p) x##p = veorq_u8(vcombine_u8(vld1_u8(a + 2 * p * lda), \
                                                     vld1_u8(a + 2 * p * lda + SECOND(p))), flip);
#define LOAD_LAST_QUAD(p) x##p = veorq_u8(vcombine_u8(vcreate_u8(gemm_word(a + 2 * p * lda)), \
                                                 vcreate_u8(gemm_word(a + 2 * p * lda + SECOND(p)))), flip);
#define DOT_TWO_ROWS(p, v) if (rows > 2 * p) { \
        c##p##v##l = MMLA(c##p##v##l, x##p, low); \
        c##p##v##h = MMLA(c##p##v##h, x##p, high); \
    }
#define DOT_VECTOR(next, v) { \
        const uint32x4_t b0 = (uint32x4_t)LOAD(b + 4 * LANES * v), b1 = next(v); \
        const int8x16_t low = (int8x16_t)vzip1q_u32(b0, b1), high = (int8x16_t)vzip2q_u32(b0, b1); \
        DOT_TWO_ROWS(0, v) DOT_TWO_ROWS(1, v) DOT_TWO_ROWS(2, v) \
    }
#define NEXT_QUAD(v) (uint32x4_t)LOAD(b + 4 * LANES * (vectors + v))
#define NO_QUAD(v) vdupq_n_u32(0)
#define STORE_ONE(p, r, v, sums_of_row) { \
        V sum = (V)sums_of_row + s##v; \
        if (accumulate) sum += LOAD(c + (2 * p + r) * ldc + v * LANES); \
        STORE(c + (2 * p + r) * ldc + v * LANES, sum); \
    }
#define STORE_FIRST(p, v) STORE_ONE(p, 0, v, vzip1q_s64((int64x2_t)c##p##v##l, (int64x2_t)c##p##v##h))
#define STORE_SECOND(p, v) STORE_ONE(p, 1, v, vzip2q_s64((int64x2_t)c##p##v##l, (int64x2_t)c##p##v##h))
#define STORE_TWO_ROWS(p) ALL_VECTORS(STORE_FIRST, p) if (rows > 2 * p + 1) { ALL_VECTORS(STORE_SECOND, p) }
#define FIRST(v) (t->times && vectors > v ? LOAD(t->sums + v * LANES) * (uint32_t)t->times : (V){0})

static inline __attribute__((always_inline)) TARGET
void NAME(body)(const gemm_tile *t, const int rows, const int vectors, const int shift)
{
    const ptrdiff_t lda = t->lda, ldc = t->ldc;
    const int accumulate = t->accumulate;
    const uint8x16_t flip = vdupq_n_u8(SHIFTS && shift ? 128 : 0);
    const V s0 = FIRST(0), s1 = FIRST(1), s2 = FIRST(2), s3 = FIRST(3);
    int32_t *c = t->c;
    for (ptrdiff_t n = 0; n < t->tiles; ++n, c += rows * ldc) {
        DECLARE(0) DECLARE(1) DECLARE(2)
        uint8x16_t x0 = flip, x1 = flip, x2 = flip;
        const uint8_t *b = t->b;
        for (ptrdiff_t i = 0; i < t->taps; ++i) {
            const uint8_t *a = t->a + n * rows * lda + t->tap[i];
            for (ptrdiff_t q = t->quads; q >= 2; q -= 2) {
                ALL_TWO_ROWS(LOAD_TWO_ROWS)
                ALL_VECTORS(DOT_VECTOR, NEXT_QUAD)
                a += 8;
                b += 8 * LANES * vectors;
            }
            if (t->quads % 2) {
                ALL_TWO_ROWS(LOAD_LAST_QUAD)
                ALL_VECTORS(DOT_VECTOR, NO_QUAD)
                b += 4 * LANES * vectors;
            }
        }
        ALL_TWO_ROWS(STORE_TWO_ROWS)
    }
}

#include "gemm/tile_shapes.h"

#undef NAME
#undef SHIFTS
#undef MMLA
