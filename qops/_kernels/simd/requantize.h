/* The loop of requantize.pyx, many lanes at a time. */
#ifdef TIER

TARGET static inline vec TIER(requantized)(const int32_t *x, requantize_32 p)
{
    const vec near = min_s32(max_s32(load(x), set1_s32(p.lowest)), set1_s32(p.highest));
    const vec shifted = sll_s32(sub_s32(near, set1_s32(p.centre)), p.left_shift);
    return sra_s32(add_s32(mulhi_s32(shifted, set1_s32(p.multiplier)), set1_s32(p.offset)), 19);
}

TARGET static ptrdiff_t TIER(requantize_s32_u8)(const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_32 p, int stream)
{
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c)
        store(c + i, narrow_s32_u8(TIER(requantized)(x + i, p), TIER(requantized)(x + i + w, p),
                                   TIER(requantized)(x + i + 2 * w, p), TIER(requantized)(x + i + 3 * w, p)), stream);
    return n;
}

#else
#ifndef QOPS_REQUANTIZE_H
#define QOPS_REQUANTIZE_H
#include <stdint.h>

typedef struct { int32_t lowest, highest, centre, left_shift, multiplier, offset; } requantize_32;

#define QOPS_BODY "requantize.h"
#include "tiers.h"

static inline ptrdiff_t requantize_s32_u8__simd(int tier, const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_32 p,
                                                int stream)
{
    return RUN_TIER(tier, requantize_s32_u8, x, c, n, p, stream);
}
#endif
#endif
