/* The loop of bias_add.pyx, a vector at a time. */
#ifdef TIER

/* (code - zero) * m for LANES / 4 codes */
TARGET static inline vecf TIER(term)(const uint8_t *codes, int32_t zero, float m)
{
    return mul_f32(s32_to_f32(sub_s32(load_u8_s32(codes), set1_s32(zero))), set1_f32(m));
}

TARGET static ptrdiff_t TIER(bias_add_u8u8_s32)(const uint8_t *x, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                                bias_add_s32 p)
{
    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, c) {
        const vecf first = add_f32(set1_f32(0.5f), TIER(term)(x + i, p.zx, p.mx));
        store(c + i, f32_to_s32_trunc(add_f32(first, TIER(term)(b + i, p.zb, p.mb))));
    }
    return n;
}

#else
#ifndef QOPS_BIAS_ADD_H
#define QOPS_BIAS_ADD_H
#include <stdint.h>

typedef struct { int32_t zx, zb; float mx, mb, max; } bias_add_s32;

#define QOPS_BODY "nnlib/bias_add.h"
#include "lanes/tiers.h"

SIMD(bias_add_u8u8_s32, (const uint8_t *x, const uint8_t *b, int32_t *c, ptrdiff_t n, bias_add_s32 p),
     x, b, c, n, p)
#endif
#endif
