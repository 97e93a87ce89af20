/* The loops of quantize.pyx, a vector at a time. */
#ifdef TIER

/* On x86, NaN and values from 2^31 on become INT32_MIN. `cuts` applies min first, which cuts high values and keeps NaN. */
TARGET static inline vec TIER(rounded)(const float *x, vecf inv_scale, vecf top, int cuts)
{
    const vecf scaled = mul_f32(load_f32(x), inv_scale);
    return f32_to_s32_rint(cuts ? min_f32(top, scaled) : scaled);
}

/* Makes u8 codes; if `lowest` is -128, it flips their top bits, which makes them s8 codes. It returns whether a value was
 * as low as a NaN or an uncut high value becomes. `cuts` is a constant in each call. */
TARGET static inline __attribute__((always_inline)) int TIER(quantize_loop)(const float *x, uint8_t *c, ptrdiff_t n,
                                                                           quantize_8 p, int cuts)
{
    const vecf inv = set1_f32(p.inv_scale), top = set1_f32((float)(255 - (p.zero_point - p.lowest)));
    const vec zero = set1_s16((int16_t)(p.zero_point - p.lowest)), flip = set1_s16(p.lowest ? (int16_t)0x8080 : 0);
    const ptrdiff_t w = LANES / 4;
    vec least = zero; /* lowest rounded value, in 16 bits */

    FOR_VECTORS(i, n, LANES, c) {
        const vec lo = narrow_s32_s16(TIER(rounded)(x + i, inv, top, cuts), TIER(rounded)(x + i + w, inv, top, cuts));
        const vec hi = narrow_s32_s16(TIER(rounded)(x + i + 2 * w, inv, top, cuts),
                                      TIER(rounded)(x + i + 3 * w, inv, top, cuts));
        const vec codes = in_order(narrow_s16_u8(add_sat_s16(lo, zero), add_sat_s16(hi, zero)));
        store(c + i, xor_bits(codes, flip));
        least = min_s16(least, min_s16(lo, hi));
    }
    return any_equal_s16(least, set1_s16(INT16_MIN));
}

TARGET static ptrdiff_t TIER(quantize_f32_8)(const float *x, uint8_t *c, ptrdiff_t n, quantize_8 p,
                                             int *saw_nan)
{
    if (n < LANES)
        return 0;
    if (TIER(quantize_loop)(x, c, n, p, 0))
        *saw_nan |= TIER(quantize_loop)(x, c, n, p, 1);
    return n;
}

#else
#ifndef QOPS_QUANTIZE_H
#define QOPS_QUANTIZE_H
#include <stdint.h>

typedef struct { float inv_scale; int zero_point, lowest; } quantize_8;

#define QOPS_BODY "frontdoor/quantize.h"
#include "lanes/tiers.h"

SIMD(quantize_f32_8, (const float *x, void *c, ptrdiff_t n, quantize_8 p, int *saw_nan),
     x, (uint8_t *)c, n, p, saw_nan)
#endif
#endif
