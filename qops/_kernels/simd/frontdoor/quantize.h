/* The loops of quantize.pyx, many lanes at a time. */
#ifdef TIER

/* min keeps a NaN, which becomes the lowest int32 and saturates to 0 as everything too low does */
TARGET static inline vec TIER(rounded)(const float *x, vecf inv_scale, vecf top)
{
    return f32_to_s32_rint(min_f32(top, mul_f32(load_f32(x), inv_scale)));
}

TARGET static ptrdiff_t TIER(quantize_f32_u8)(const float *x, uint8_t *c, ptrdiff_t n, float inv_scale, int32_t zero_point,
                                              int stream)
{
    const vecf inv = set1_f32(inv_scale), top = set1_f32((float)(255 - zero_point));
    const vec zero = set1_s16((int16_t)zero_point);
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec lo = narrow_s32_s16(TIER(rounded)(x + i, inv, top), TIER(rounded)(x + i + w, inv, top));
        const vec hi = narrow_s32_s16(TIER(rounded)(x + i + 2 * w, inv, top), TIER(rounded)(x + i + 3 * w, inv, top));
        store(c + i, in_order(narrow_s16_u8(add_sat_s16(lo, zero), add_sat_s16(hi, zero))), stream);
    }
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(dequantize_u8_f32)(const uint8_t *c, float *x, ptrdiff_t n, dequantize_u8 p, int stream)
{
    const vec zero = set1_s32(p.zero_point);
    const vecf scale = set1_f32(p.scale), base = set1_f32(p.base);

    if (n < LANES / 4)
        return 0;
    if (p.base == 0 && p.scale > 0) { /* no product is -0, which adding 0 would change */
        FOR_VECTORS(i, n, LANES / 4, x)
            store_f32(x + i, mul_f32(s32_to_f32(sub_s32(load_u8_s32(c + i), zero)), scale), stream);
    } else {
        FOR_VECTORS(i, n, LANES / 4, x)
            store_f32(x + i, add_f32(mul_f32(s32_to_f32(sub_s32(load_u8_s32(c + i), zero)), scale), base), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_QUANTIZE_H
#define QOPS_QUANTIZE_H
#include <stdint.h>

typedef struct { int32_t zero_point; float scale, base; } dequantize_u8;

#define QOPS_BODY "frontdoor/quantize.h"
#include "core/tiers.h"

static inline ptrdiff_t quantize_f32_u8__simd(int tier, const float *x, uint8_t *c, ptrdiff_t n, float inv_scale,
                                              int32_t zero_point, int stream)
{
    return RUN_TIER(tier, quantize_f32_u8, x, c, n, inv_scale, zero_point, stream);
}

static inline ptrdiff_t dequantize_u8_f32__simd(int tier, const uint8_t *c, float *x, ptrdiff_t n, dequantize_u8 p,
                                                int stream)
{
    return RUN_TIER(tier, dequantize_u8_f32, c, x, n, p, stream);
}
#endif
#endif
