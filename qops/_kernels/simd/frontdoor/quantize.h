/* The loops of quantize.pyx, many lanes at a time. */
#ifdef TIER

/* min keeps a NaN, which becomes the lowest int32 and saturates to 0 as everything too low does */
TARGET static inline vec TIER(rounded)(const float *x, vecf inv_scale, vecf top)
{
    return f32_to_s32_rint(min_f32(top, mul_f32(load_f32(x), inv_scale)));
}

/* codes of u8, moved to s8 where `lowest` is -128: that flips their top bits; `fetch` is a constant of each call */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(quantize_loop)(const float *x, uint8_t *c, ptrdiff_t n,
                                                                                 float inv_scale, int zero_point,
                                                                                 int lowest, int *saw_nan, int stream,
                                                                                 int fetch)
{
    const vecf inv = set1_f32(inv_scale), top = set1_f32((float)(255 - (zero_point - lowest)));
    const vec zero = set1_s16((int16_t)(zero_point - lowest)), flip = set1_s16(lowest ? (int16_t)0x8080 : 0);
    const ptrdiff_t w = LANES / 4;
    vec least = zero; /* of the steps, in 16 bits: the lowest of all if there is a NaN, or something very low */

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; fetch && j < LANES / 16; j++)
            __builtin_prefetch(x + i + AHEAD + 16 * j);
        const vec lo = narrow_s32_s16(TIER(rounded)(x + i, inv, top), TIER(rounded)(x + i + w, inv, top));
        const vec hi = narrow_s32_s16(TIER(rounded)(x + i + 2 * w, inv, top), TIER(rounded)(x + i + 3 * w, inv, top));
        const vec codes = in_order(narrow_s16_u8(add_sat_s16(lo, zero), add_sat_s16(hi, zero)));
        store(c + i, xor_bits(codes, flip), stream);
        least = min_s16(least, min_s16(lo, hi));
    }
    *saw_nan |= any_equal_s16(least, set1_s16(INT16_MIN));
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(quantize_f32_8)(const float *x, uint8_t *c, ptrdiff_t n, float inv_scale, int zero_point,
                                             int lowest, int *saw_nan, int stream, int fetch)
{
    return fetch ? TIER(quantize_loop)(x, c, n, inv_scale, zero_point, lowest, saw_nan, stream, 1)
                 : TIER(quantize_loop)(x, c, n, inv_scale, zero_point, lowest, saw_nan, stream, 0);
}

#else
#ifndef QOPS_QUANTIZE_H
#define QOPS_QUANTIZE_H
#include <stdint.h>

#define QOPS_BODY "frontdoor/quantize.h"
#include "core/tiers.h"

static inline ptrdiff_t quantize_f32_8__simd(int tier, const float *x, void *c, ptrdiff_t n, float inv_scale,
                                             int zero_point, int lowest, int *saw_nan, int stream, int fetch)
{
    return RUN_TIER(tier, quantize_f32_8, x, (uint8_t *)c, n, inv_scale, zero_point, lowest, saw_nan, stream, fetch);
}
#endif
#endif
