/* Computes tiles of C, one below the other, each rows x vectors accumulators in registers, over all of k. This is
 * included once for each kernel, which defines
 *   NAME(suffix)      the kernel's own name for a function
 *   TARGET            its target attribute
 *   V, LANES          vector of uint32 (unsigned: s32 sums wrap mod 2^32) and its number of lanes
 *   LOAD(p) STORE(p, v) BROADCAST(p)   load and store an unaligned vector; a quad of A in every lane
 *   DOT(acc, a, b)    acc plus the dot products of the quads
 *   SHAPES(X)         X(rows, vectors) for every tile shape
 *   WIDENS            if A and B are packed as 16-bit words
 *   START_ROW(r)      changes the start of the accumulators of a row of the tile at `a`, which is times * sums
 *   VECTOR_STRIDE, QUAD_STRIDE(v)    bytes from a vector of B to the next, and from a quad to the next of v vectors
 *   QUAD(p) QUADS(p)  how A and B are loaded; by default, A is loaded as a + 128 if `shift` says that it is signed
 * Accumulators are named variables of a vector_size type, because gcc 12 would keep arrays of them, or __m512i, in
 * memory.
 *
 * Large tiles do their last 4 quads row by row and store each row as soon as it is ready: multiplications would wait
 * for 24 stores in succession, and spread out, stores cost little. */

#define IF_ROW(r, ...) if (rows > r) { __VA_ARGS__ }
#define ALL_ROWS(X) IF_ROW(0, X(0)) IF_ROW(1, X(1)) IF_ROW(2, X(2)) IF_ROW(3, X(3)) IF_ROW(4, X(4)) IF_ROW(5, X(5))
#define ALL_VECTORS(X, ...) X(__VA_ARGS__, 0) if (vectors > 1) { X(__VA_ARGS__, 1) } \
    if (vectors > 2) { X(__VA_ARGS__, 2) } if (vectors > 3) { X(__VA_ARGS__, 3) }

#define FIRST(v) (times && vectors > v ? LOAD(sums + v * LANES) * times : (V){0})
#define DECLARE(r) V c##r##0 = s0, c##r##1 = s1, c##r##2 = s2, c##r##3 = s3;
#define ROW_OF_A(r) ((r < 3 ? a0 : a3) + r % 3 * lda)
#define DOT_ONE(r, v) c##r##v = DOT(c##r##v, x, b##v);
#ifndef QUAD
#define QUAD(p) (shift ? BROADCAST(p) ^ 0x80808080u : BROADCAST(p))
#endif
#ifndef QUADS
#define QUADS(p) LOAD(p)
#endif
#define DOT_ROW(r) const V x = QUAD(ROW_OF_A(r)); ALL_VECTORS(DOT_ONE, r)
#define LAST_ONE(r, q, v) c##r##v = DOT(c##r##v, x, QUADS(b + QUAD_STRIDE(vectors) * q + vector_stride * v));
#define LAST_QUAD(r, q) { const V x = QUAD(ROW_OF_A(r) + 4 * q); ALL_VECTORS(LAST_ONE, r, q) }
#define STORE_ONE(r, v) \
    if (accumulate) c##r##v += LOAD(c + r * ldc + v * LANES); \
    STORE(c + r * ldc + v * LANES, c##r##v);
#define LAST_ROW(r) \
    if (last) { LAST_QUAD(r, 0) LAST_QUAD(r, 1) LAST_QUAD(r, 2) LAST_QUAD(r, 3) } \
    ALL_VECTORS(STORE_ONE, r)

static inline __attribute__((always_inline)) TARGET
void NAME(body)(const gemm_tile *t, const int rows, const int vectors, const int shift)
{
    const ptrdiff_t lda = t->lda, ldc = t->ldc, vector_stride = VECTOR_STRIDE;
    const ptrdiff_t last = LANES > 4 && rows * vectors > 12 && t->taps && t->quads >= 4 ? 4 : 0;
    const int accumulate = t->accumulate;
    const int32_t *sums = t->sums;
    const uint32_t times = t->times;
    const uint8_t *a = t->a;
    int32_t *c = t->c;
    for (ptrdiff_t n = t->tiles; n > 0; --n, a += rows * lda, c += rows * ldc) {
        const V s0 = FIRST(0), s1 = FIRST(1), s2 = FIRST(2), s3 = FIRST(3); /* outside they would take registers */
        DECLARE(0) DECLARE(1) DECLARE(2) DECLARE(3) DECLARE(4) DECLARE(5)
        ALL_ROWS(START_ROW)
        const uint8_t *a0 = a, *a3 = a0, *b = t->b;
        for (ptrdiff_t i = 0; i < t->taps; ++i) {
            a0 = a + t->tap[i];
            a3 = a0 + 3 * lda;
            ptrdiff_t q = t->quads - (i + 1 == t->taps ? last : 0);
            for (; rows == 1 && q >= 4; q -= 4) { /* of one row, the steps of the loop would take as long as its products */
                LAST_QUAD(0, 0) LAST_QUAD(0, 1) LAST_QUAD(0, 2) LAST_QUAD(0, 3)
                a0 += 16;
                b += 4 * QUAD_STRIDE(vectors);
            }
            for (; q > 0; --q) {
                const V b0 = QUADS(b);
                const V b1 = vectors > 1 ? QUADS(b + vector_stride) : b0;
                const V b2 = vectors > 2 ? QUADS(b + 2 * vector_stride) : b0;
                const V b3 = vectors > 3 ? QUADS(b + 3 * vector_stride) : b0;
                ALL_ROWS(DOT_ROW)
                a0 += 4;
                a3 += 4;
                b += QUAD_STRIDE(vectors);
            }
        }
        ALL_ROWS(LAST_ROW)
    }
}

#include "gemm/tile_shapes.h"

#undef IF_ROW
#undef ALL_ROWS
#undef ALL_VECTORS
#undef DECLARE
#undef ROW_OF_A
#undef QUAD
#undef QUADS
#undef DOT_ONE
#undef DOT_ROW
#undef LAST_ONE
#undef LAST_QUAD
#undef FIRST
#undef STORE_ONE
#undef LAST_ROW
#undef NAME
#undef DOT
