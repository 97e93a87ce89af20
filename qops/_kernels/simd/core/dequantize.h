/* The loop of dequantize.pyx, many lanes at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(dequantize_u8_f32)(const uint8_t *c, float *x, ptrdiff_t n, code_values p, int stream)
{
    const vecf plus = set1_f32(p.plus), scale = set1_f32(p.scale), base = set1_f32(p.base);

    if (n < LANES / 4)
        return 0;
    if (p.base == 0 && p.scale > 0) { /* no product is -0, which adding 0 would change */
        FOR_VECTORS(i, n, LANES / 4, x)
            store_f32(x + i, mul_f32(add_f32(s32_to_f32(load_u8_s32(c + i)), plus), scale), stream);
    } else {
        FOR_VECTORS(i, n, LANES / 4, x)
            store_f32(x + i, add_f32(mul_f32(add_f32(s32_to_f32(load_u8_s32(c + i)), plus), scale), base), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_DEQUANTIZE_H
#define QOPS_DEQUANTIZE_H
#include <stdint.h>

typedef struct { float plus, scale, base; int32_t through_int32; } code_values;

#define QOPS_BODY "core/dequantize.h"
#include "core/tiers.h"

static inline ptrdiff_t dequantize_u8_f32__simd(int tier, const uint8_t *c, float *x, ptrdiff_t n, code_values p,
                                                int stream)
{
    return RUN_TIER(tier, dequantize_u8_f32, c, x, n, p, stream);
}
#endif
#endif
