/* The loop of weighted_sum.pyx, a vector at a time. */
#ifdef TIER

typedef struct { vec high, low, k; int right_shift; } TIER(sum_parts);

#if QOPS_ARM
/* (k + a * ka + b * kb) >> right_shift in 32-bit lanes. NEON multiplies and adds these as fast as narrower lanes. */
TARGET static inline vec TIER(wide_sum)(vec codes, const TIER(sum_parts) *p)
{
    const vec a = and_bits(codes, set1_s32(0xFFFF)), b = srl_s32(codes, 16);
    return sra_s32_by(add_s32(add_s32(p->k, mullo_s32(a, p->low)), mullo_s32(b, p->high)), p->right_shift);
}

static inline TIER(sum_parts) TIER(parts_of)(weighted_sum p)
{
    return (TIER(sum_parts)){set1_s32(p.kb), set1_s32(p.ka), set1_s32(p.k), p.right_shift};
}
#else
/* This sum in 16-bit lanes. A factor has 23 bits, so it is split into 256 * high + low. */
TARGET static inline vec TIER(wide_sum)(vec codes, const TIER(sum_parts) *p)
{
    const vec sum = add_s32(add_s32(sll_s32(dot2_s16(codes, p->high), 8), p->k), dot2_s16(codes, p->low));
    return sra_s32_by(sum, p->right_shift);
}

/* k + a * ka + b * kb, with factors of 16 bits */
TARGET static inline vec TIER(near_sum)(vec codes, const TIER(sum_parts) *p)
{
    return add_s32(dot2_s16(codes, p->low), p->k);
}

TARGET static inline TIER(sum_parts) TIER(parts_of)(weighted_sum p)
{
    const int32_t low = p.right_shift ? two_factors(p.ka & 255, p.kb & 255) : two_factors(p.ka, p.kb);
    return (TIER(sum_parts)){set1_s32(two_factors(p.ka >> 8, p.kb >> 8)), set1_s32(low), set1_s32(p.k), p.right_shift};
}
#endif

TARGET static ptrdiff_t TIER(weighted_sum)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, weighted_sum p)
{
    const TIER(sum_parts) parts = TIER(parts_of)(p);
    const vec flips = set1_s16(two_bytes(p.flip_a, p.flip_b));

    if (n < LANES)
        return 0;
#if !QOPS_ARM
    if (p.right_shift == 0) {
        STORE_BINARY(TIER(near_sum), &parts, a, b, flips, c, n)
        return n;
    }
#endif
    STORE_BINARY(TIER(wide_sum), &parts, a, b, flips, c, n)
    return n;
}

#else
#ifndef QOPS_WEIGHTED_SUM_H
#define QOPS_WEIGHTED_SUM_H
#include "lanes/binary.h"

typedef struct { int32_t ka, kb, k, right_shift; uint8_t flip_a, flip_b; } weighted_sum;

#define QOPS_BODY "stage/weighted_sum.h"
#include "lanes/tiers.h"

SIMD(weighted_sum, (const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, weighted_sum p), a, b, c, n, p)
#endif
#endif
