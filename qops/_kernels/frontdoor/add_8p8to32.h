/* The loop of add_8p8to32.pyx, a vector at a time. */
#ifdef TIER

#if QOPS_ARM
typedef struct { vec ka, kb, k; } TIER(sum_parts);

TARGET static inline TIER(sum_parts) TIER(parts_of)(add_s32 p)
{
    return (TIER(sum_parts)){set1_s32(p.ka), set1_s32(p.kb), set1_s32(p.k)};
}

/* (k + a * ka + b * kb) >> 15 in 32-bit lanes. NEON multiplies and adds these as fast as narrower lanes. */
TARGET static inline vec TIER(sum)(vec codes, const TIER(sum_parts) *p)
{
    const vec a = and_bits(codes, set1_s32(0xFFFF)), b = srl_s32(codes, 16);
    return sra_s32(add_s32(add_s32(p->k, mullo_s32(a, p->ka)), mullo_s32(b, p->kb)), 15);
}
#else
typedef struct { vec high, low, k; } TIER(sum_parts);

TARGET static inline TIER(sum_parts) TIER(parts_of)(add_s32 p)
{
    return (TIER(sum_parts)){set1_s32(two_factors(p.ka >> 8, p.kb >> 8)), set1_s32(two_factors(p.ka & 255, p.kb & 255)),
                             set1_s32(p.k)};
}

/* (k + a * ka + b * kb) >> 15 in 16-bit lanes. A factor has 23 bits, so it is split into 256 * high + low. */
TARGET static inline vec TIER(sum)(vec codes, const TIER(sum_parts) *p)
{
    return sra_s32(add_s32(add_s32(sll_s32(dot2_s16(codes, p->high), 8), p->k), dot2_s16(codes, p->low)), 15);
}
#endif

TARGET static ptrdiff_t TIER(add_u8u8_s32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_s32 p,
                                           code_flips flips)
{
    const TIER(sum_parts) parts = TIER(parts_of)(p);

    if (n < LANES)
        return 0;
    STORE_BINARY(TIER(sum), &parts, a, b, set1_s16(two_flips(flips)), c, n)
    return n;
}

#else
#ifndef QOPS_ADD_8P8TO32_H
#define QOPS_ADD_8P8TO32_H
#include "frontdoor/passes.h"
#include "lanes/binary.h"

typedef struct { int32_t ka, kb, k; } add_s32;

#define QOPS_BODY "frontdoor/add_8p8to32.h"
#include "lanes/tiers.h"

SIMD(add_u8u8_s32, (const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_s32 p, code_flips flips),
     a, b, c, n, p, flips)
#endif
#endif
