/* The loop of nnlib/add_8p8to32.pyx, many lanes at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(add_8p8to32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                          add_8p8to32_row p, int stream)
{
    const vec k = set1_s32((int32_t)((uint32_t)p.kb << 16 | (uint16_t)p.ka)), offset = set1_s32(p.offset);

    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, c) {
        const vec pairs = or_bits(load_u8_s32(a + i), sll_s32(load_u8_s32(b + i), 16));
        store(c + i, sub_s32(dot2_s16(pairs, k), offset), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_NNLIB_ADD_8P8TO32_H
#define QOPS_NNLIB_ADD_8P8TO32_H
#include <stdint.h>

typedef struct { int32_t ka, kb, offset; float max; } add_8p8to32_row; /* |ka|, |kb| below 2^15 */

#define QOPS_BODY "nnlib/add_8p8to32.h"
#include "core/tiers.h"

static inline ptrdiff_t add_8p8to32__simd(int tier, const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                          add_8p8to32_row p, int stream)
{
    return RUN_TIER(tier, add_8p8to32, a, b, c, n, p, stream);
}
#endif
#endif
