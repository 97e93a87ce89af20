/* The loops of quantize.pyx, many lanes at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(quantize_f32_u8)(const float *x, uint8_t *c, ptrdiff_t n, float inv_scale, int32_t zero_point,
                                              int stream)
{
    const vecf inv = set1_f32(inv_scale), top = set1_f32((float)(255 - zero_point));
    const vec zero = set1_s32(zero_point);
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        /* min keeps a NaN, which becomes the lowest int32 and saturates to 0 as everything too low does */
        const vec a = f32_to_s32_rint(min_f32(top, mul_f32(load_f32(x + i), inv)));
        const vec b = f32_to_s32_rint(min_f32(top, mul_f32(load_f32(x + i + w), inv)));
        const vec d = f32_to_s32_rint(min_f32(top, mul_f32(load_f32(x + i + 2 * w), inv)));
        const vec e = f32_to_s32_rint(min_f32(top, mul_f32(load_f32(x + i + 3 * w), inv)));
        store(c + i, narrow_s32_u8(add_s32(a, zero), add_s32(b, zero), add_s32(d, zero), add_s32(e, zero)), stream);
    }
    return n;
}

TARGET static ptrdiff_t TIER(dequantize_u8_f32)(const uint8_t *c, float *x, ptrdiff_t n, dequantize_u8 p, int stream)
{
    const vec zero = set1_s32(p.zero_point);
    const vecf scale = set1_f32(p.scale), base = set1_f32(p.base);

    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, x)
        store_f32(x + i, add_f32(mul_f32(s32_to_f32(sub_s32(load_u8_s32(c + i), zero)), scale), base), stream);
    return n;
}

#else
#ifndef QOPS_QUANTIZE_H
#define QOPS_QUANTIZE_H
#include <stdint.h>

typedef struct { int32_t zero_point; float scale, base; } dequantize_u8;

#define QOPS_BODY "quantize.h"
#include "tiers.h"

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
