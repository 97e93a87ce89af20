/* The low bytes of int32 codes, many lanes at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(narrow_8)(const int32_t *codes, uint8_t *c, ptrdiff_t n)
{
    const ptrdiff_t w = LANES / 4;
    const vec low = set1_s32(0xFF);
    vec q[4];
    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, codes) {
        for (int j = 0; j < 4; j++)
            q[j] = and_bits(load(codes + i + j * w), low);
        store(c + i, narrow_s32_u8(q[0], q[1], q[2], q[3]));
    }
    return n;
}

TARGET static ptrdiff_t TIER(narrow_16)(const int32_t *codes, uint16_t *c, ptrdiff_t n)
{
    const ptrdiff_t w = LANES / 4;
    const vec low = set1_s32(0xFFFF);
    if (n < LANES / 2)
        return 0;
    FOR_VECTORS(i, n, LANES / 2, codes)
        store(c + i, narrow_s32_u16(and_bits(load(codes + i), low), and_bits(load(codes + i + w), low)));
    return n;
}

#else
#ifndef QOPS_NARROW_H
#define QOPS_NARROW_H

#define QOPS_BODY "stage/narrow.h"
#include "lanes/tiers.h"

SIMD(narrow_8, (const int32_t *codes, uint8_t *c, ptrdiff_t n), codes, c, n)
SIMD(narrow_16, (const int32_t *codes, uint16_t *c, ptrdiff_t n), codes, c, n)
#endif
#endif
