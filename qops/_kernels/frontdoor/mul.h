/* The loops of mul.pyx, a vector at a time. */
#ifdef TIER

typedef struct { vec highest, high, low, high_of_product, low_of_product, k; } TIER(mul_parts);

/* (k + a * ka + b * kb + a * b * kab) >> 23 in lanes of 16 and 32 bits. A factor is split into 2^22 * highest + 2^15 * high
 * + low. a * b needs 16 unsigned bits; a * b - 2^15 fits s16. The other half of that lane is 1, for the low part of k. */
TARGET static inline vec TIER(product_32)(vec codes, const TIER(mul_parts) *p)
{
    const vec products = mullo_s16(codes, srl_s32_lanes(codes, set1_s32(16)));
    const vec product = xor_bits(products, set1_s32(two_factors(-32768, 1)));
    const vec low = add_s32(dot2_s16(codes, p->low), dot2_s16(product, p->low_of_product));
    const vec high = add_s32(add_s32(sll_s32(dot2_s16(codes, p->highest), 7), dot2_s16(codes, p->high)),
                             add_s32(dot2_s16(product, p->high_of_product), p->k));
    return sra_s32(add_s32(high, sra_s32(low, 15)), 8);
}

TARGET static ptrdiff_t TIER(mul_u8u8_s32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, mul_terms p,
                                           code_flips flips)
{
    const int64_t k = p.k + (p.kab * 32768);
    const TIER(mul_parts) parts = {
        set1_s32(two_factors(p.ka >> 22, p.kb >> 22)), set1_s32(two_factors(p.ka >> 15 & 127, p.kb >> 15 & 127)),
        set1_s32(two_factors(p.ka & 32767, p.kb & 32767)), set1_s32(two_factors(p.kab >> 15, 0)),
        set1_s32(two_factors(p.kab & 32767, k & 32767)), set1_s32((int32_t)(k >> 15))};

    if (n < LANES)
        return 0;
    STORE_BINARY(TIER(product_32), &parts, a, b, set1_s16(two_bytes(flips.a, flips.b)), c, n)
    return n;
}

/* int32 holds every sum. Single terms may wrap, which cancels in the sum. */
TARGET static ptrdiff_t TIER(mul_u8u8_u8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, mul_terms p,
                                          code_flips flips, int32_t *lowest, int32_t *highest)
{
    const vec k = set1_s32((int32_t)p.k), ka = set1_s32((int32_t)p.ka);
    const vec kb = set1_s32((int32_t)p.kb), kab = set1_s32((int32_t)p.kab);
    const vec flip_a = set1_s32(flips.a), flip_b = set1_s32(flips.b), flip_c = set1_u8(flips.c);
    const ptrdiff_t w = LANES / 4;
    vec low = set1_s32(INT32_MAX), high = set1_s32(INT32_MIN), q[4];

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++) {
            const vec qa = xor_bits(load_u8_s32(a + i + j * w), flip_a);
            const vec qb = xor_bits(load_u8_s32(b + i + j * w), flip_b);
            const vec of_b = add_s32(k, mullo_s32(qb, kb)), of_a = add_s32(ka, mullo_s32(qb, kab));
            const vec x = add_s32(of_b, mullo_s32(qa, of_a));
            low = min_s32(low, x);
            high = max_s32(high, x);
            q[j] = sra_s32(x, 20);
        }
        store(c + i, xor_bits(narrow_s32_u8(q[0], q[1], q[2], q[3]), flip_c));
    }
    DRAW_OUT(int32_t, low, high, lowest, highest);
    return n;
}

#else
#ifndef QOPS_FRONTDOOR_MUL_H
#define QOPS_FRONTDOOR_MUL_H
#include "frontdoor/passes.h"
#include "lanes/binary.h"

typedef struct { int64_t k, ka, kb, kab; } mul_terms;

#define QOPS_BODY "frontdoor/mul.h"
#include "lanes/tiers.h"

SIMD(mul_u8u8_s32, (const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, mul_terms p, code_flips flips),
     a, b, c, n, p, flips)
SIMD(mul_u8u8_u8, (const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, mul_terms p, code_flips flips,
                   int32_t *lowest, int32_t *highest),
     a, b, c, n, p, flips, lowest, highest)
#endif
#endif
