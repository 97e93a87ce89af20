/* The loop of mul.pyx, a vector at a time. */
#ifdef TIER

/* Both factors fit 16 bits. The upper half of b's lane is cleared, so that one of the two products of dot2 is 0. */
TARGET static ptrdiff_t TIER(products)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, product_params r)
{
    const vec a_offset = set1_s32(r.a_offset * (1 << r.left_shift)), b_offset = set1_s32(r.b_offset);
    const vec low_half = set1_s32(0xFFFF);

    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, c) {
        const vec da = sub_s32(sll_s32(load_u8_s32(a + i), r.left_shift), a_offset);
        const vec db = and_bits(sub_s32(load_u8_s32(b + i), b_offset), low_half);
        store(c + i, dot2_s16(da, db));
    }
    return n;
}

#else
#ifndef QOPS_PRODUCT_MUL_H
#define QOPS_PRODUCT_MUL_H
#include <stdint.h>

typedef struct { int32_t a_offset, b_offset, left_shift; } product_params;

#define QOPS_BODY "stage/mul.h"
#include "lanes/tiers.h"

SIMD(products, (const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, product_params r),
     a, b, c, n, r)
#endif
#endif
