/* The loops of nnlib/mul.pyx, a vector at a time. */
#ifdef TIER

/* p[0..3] = the products of LANES elements, as s32. Their order is permuted; narrowing restores it. */
#define PRODUCTS(p, a, b, i, z)                                                                                   \
    do {                                                                                                          \
        const vec qa = load((a) + (i)), qb = load((b) + (i)), za = set1_s16(z.a), zb = set1_s16(z.b);             \
        const vec al = sub_s16(widen_lo_u8_s16(qa), za), ah = sub_s16(widen_hi_u8_s16(qa), za);                   \
        const vec bl = sub_s16(widen_lo_u8_s16(qb), zb), bh = sub_s16(widen_hi_u8_s16(qb), zb);                   \
        const vec ll = mullo_s16(al, bl), lh = mulhi_s16(al, bl), hl = mullo_s16(ah, bh), hh = mulhi_s16(ah, bh); \
        p[0] = interleave_lo_s16(ll, lh), p[1] = interleave_hi_s16(ll, lh);                                       \
        p[2] = interleave_lo_s16(hl, hh), p[3] = interleave_hi_s16(hl, hh);                                       \
    } while (0)

TARGET static ptrdiff_t TIER(mul_range)(const uint8_t *a, const uint8_t *b, ptrdiff_t n, mul_zeros z, int32_t *lowest,
                                        int32_t *highest)
{
    vec low = set1_s32(INT32_MAX), high = set1_s32(INT32_MIN);

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, a) {
        vec p[4];
        PRODUCTS(p, a, b, i, z);
        low = min_s32(low, min_s32(min_s32(p[0], p[1]), min_s32(p[2], p[3])));
        high = max_s32(high, max_s32(max_s32(p[0], p[1]), max_s32(p[2], p[3])));
    }
    DRAW_OUT(int32_t, low, high, lowest, highest);
    return n;
}

TARGET static ptrdiff_t TIER(mul_u8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, mul_params r)
{
    const vec multiplier = set1_s32(r.multiplier), offset = set1_s32(r.offset), word = set1_s32(0xFFFF);
    const vec top = set1_s32(255);

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        vec p[4];
        PRODUCTS(p, a, b, i, r.zeros);
        for (int j = 0; j < 4; j++) {
            p[j] = sra_s32_by(add_s32(mullo_s32(p[j], multiplier), offset), r.right_shift);
            p[j] = min_s32(and_bits(p[j], word), top);
        }
        store(c + i, narrow_s16_u8(narrow_s32_s16(p[0], p[1]), narrow_s32_s16(p[2], p[3])));
    }
    return n;
}
#undef PRODUCTS

#else
#ifndef QOPS_NNLIB_MUL_H
#define QOPS_NNLIB_MUL_H
#include <stdint.h>

typedef struct { int32_t a, b; } mul_zeros;
typedef struct { mul_zeros zeros; int32_t multiplier, offset, right_shift; float min, max; } mul_params;

#define QOPS_BODY "nnlib/mul.h"
#include "lanes/tiers.h"

SIMD(mul_range, (const uint8_t *a, const uint8_t *b, ptrdiff_t n, mul_zeros z, int32_t *lowest, int32_t *highest),
     a, b, n, z, lowest, highest)
SIMD(mul_u8, (const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, mul_params r),
     a, b, c, n, r)
#endif
#endif
