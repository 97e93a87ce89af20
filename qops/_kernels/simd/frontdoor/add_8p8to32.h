/* The loop of add_8p8to32.pyx, many lanes at a time. */
#ifdef TIER

/* (k + a * ka + b * kb) >> 15 of pairs (a, b) in 16-bit lanes: k = 256 * high + low, as no lane multiplies 8 by 23 bits */
TARGET static inline vec TIER(sum)(vec pairs, vec high, vec low, vec k)
{
    return sra_s32(add_s32(add_s32(sll_s32(dot2_s16(pairs, high), 8), k), dot2_s16(pairs, low)), 15);
}

TARGET static ptrdiff_t TIER(add_u8u8_s32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_s32 p,
                                           int stream)
{
    const vec high = set1_s32((int32_t)((uint32_t)(p.kb >> 8) << 16 | (uint16_t)(p.ka >> 8)));
    const vec low = set1_s32((p.ka & 255) | (p.kb & 255) << 16);
    const vec k = set1_s32(p.k);
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec qa = to_widen(load(a + i)), qb = to_widen(load(b + i));
        const vec first = pair_lo_u8(qa, qb), second = pair_hi_u8(qa, qb);
        store(c + i, TIER(sum)(widen_lo_u8_s16(first), high, low, k), stream);
        store(c + i + w, TIER(sum)(widen_hi_u8_s16(first), high, low, k), stream);
        store(c + i + 2 * w, TIER(sum)(widen_lo_u8_s16(second), high, low, k), stream);
        store(c + i + 3 * w, TIER(sum)(widen_hi_u8_s16(second), high, low, k), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_ADD_8P8TO32_H
#define QOPS_ADD_8P8TO32_H
#include <stdint.h>

typedef struct { int32_t ka, kb, k; } add_s32;

#define QOPS_BODY "frontdoor/add_8p8to32.h"
#include "core/tiers.h"

static inline ptrdiff_t add_u8u8_s32__simd(int tier, const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                           add_s32 p, int stream)
{
    return RUN_TIER(tier, add_u8u8_s32, a, b, c, n, p, stream);
}
#endif
#endif
