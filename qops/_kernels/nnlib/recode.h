/* The loop of nnlib/recode.pyx, a vector at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(recode_u8)(const uint8_t *x, uint8_t *c, ptrdiff_t n, recode_params p)
{
    const vec offset = set1_s16((int16_t)p.offset), multiplier = set1_s16((int16_t)p.multiplier);
    const vec zero = set1_s16((int16_t)p.zero), unit = set1_s16((int16_t)(1 << (15 - p.right_shift)));

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec q = load(x + i);
        const vec low = mulhrs_s16(mullo_s16(add_s16(widen_lo_u8_s16(q), offset), unit), multiplier);
        const vec high = mulhrs_s16(mullo_s16(add_s16(widen_hi_u8_s16(q), offset), unit), multiplier);
        store(c + i, narrow_s16_u8(add_sat_s16(low, zero), add_sat_s16(high, zero)));
    }
    return n;
}

#else
#ifndef QOPS_NNLIB_RECODE_H
#define QOPS_NNLIB_RECODE_H
#include <stdint.h>

typedef struct { int32_t offset, wraps, multiplier, right_shift, zero; } recode_params;

#define QOPS_BODY "nnlib/recode.h"
#include "lanes/tiers.h"

SIMD(recode_u8, (const uint8_t *x, uint8_t *c, ptrdiff_t n, recode_params p), x, c, n, p)
#endif
#endif
