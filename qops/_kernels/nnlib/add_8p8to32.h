/* The loop of nnlib/add_8p8to32.pyx, a vector at a time. */
#ifdef TIER

typedef struct { vec factors, offset; } TIER(difference_parts);

TARGET static inline vec TIER(sum_less_offset)(vec codes, const TIER(difference_parts) *p)
{
    return sub_s32(dot2_s16(codes, p->factors), p->offset);
}

TARGET static ptrdiff_t TIER(add_8p8to32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                          add_8p8to32_params p)
{
    const TIER(difference_parts) parts = {set1_s32(two_factors(p.ka, p.kb)), set1_s32(p.offset)};

    if (n < LANES)
        return 0;
    STORE_BINARY(TIER(sum_less_offset), &parts, a, b, set1_s16(0), c, n)
    return n;
}

#else
#ifndef QOPS_NNLIB_ADD_8P8TO32_H
#define QOPS_NNLIB_ADD_8P8TO32_H
#include "lanes/binary.h"

typedef struct { int32_t ka, kb, offset; float max; } add_8p8to32_params; /* |ka|, |kb| below 2^15 */

#define QOPS_BODY "nnlib/add_8p8to32.h"
#include "lanes/tiers.h"

SIMD(add_8p8to32, (const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_8p8to32_params p),
     a, b, c, n, p)
#endif
#endif
