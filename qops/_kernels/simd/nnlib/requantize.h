/* The loop of nnlib_requantize.pyx, many lanes at a time, for the rules of long arrays. */
#ifdef TIER

/* sat_s32(x - start): x is cut to what may be subtracted from */
TARGET static inline vec TIER(moved)(const int32_t *x, vec start, vec lowest, vec highest)
{
    return sub_s32(min_s32(max_s32(load(x), lowest), highest), start);
}

/* vmpye and vmpyo:<<1:rnd:sat of (x - start) and multiplier, which together round once, half up; then + offset */
TARGET static ptrdiff_t TIER(requantize_vmpy)(const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_vmpy p, int stream)
{
    const vec from = set1_s32(p.start), m = set1_s32(p.multiplier), half = set1_s64(1LL << 30);
    const vec lowest = set1_s32(p.start > 0 ? INT32_MIN + p.start : INT32_MIN);
    const vec highest = set1_s32(p.start < 0 ? INT32_MAX + p.start : INT32_MAX);
    const vec offset = set1_s16(p.offset);
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec q0 = TIER(scaled_low)(TIER(moved)(x + i, from, lowest, highest), m, half, 31);
        const vec q1 = TIER(scaled_low)(TIER(moved)(x + i + w, from, lowest, highest), m, half, 31);
        const vec q2 = TIER(scaled_low)(TIER(moved)(x + i + 2 * w, from, lowest, highest), m, half, 31);
        const vec q3 = TIER(scaled_low)(TIER(moved)(x + i + 3 * w, from, lowest, highest), m, half, 31);
        const vec lo = add_sat_s16(narrow_s32_s16(q0, q1), offset), hi = add_sat_s16(narrow_s32_s16(q2, q3), offset);
        store(c + i, in_order(narrow_s16_u8(lo, hi)), stream);
    }
    return done(n, stream);
}

/* beyond 256 all codes are 255; of what is below int32, or a NaN, which min keeps, x86 makes the lowest, and the code is 0 */
TARGET static inline vec TIER(real_code)(const int32_t *x, vecf gain, vecf bias)
{
    return f32_to_s32_trunc(min_f32(set1_f32(256), add_f32(mul_f32(s32_to_f32(load(x)), gain), bias)));
}

TARGET static ptrdiff_t TIER(requantize_real)(const int32_t *x, uint8_t *c, ptrdiff_t n, float gain, float bias, int stream)
{
    const vecf g = set1_f32(gain), b = set1_f32(bias);
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c)
        store(c + i, narrow_s32_u8(TIER(real_code)(x + i, g, b), TIER(real_code)(x + i + w, g, b),
                                   TIER(real_code)(x + i + 2 * w, g, b), TIER(real_code)(x + i + 3 * w, g, b)), stream);
    return done(n, stream);
}

#else
#ifndef QOPS_NNLIB_REQUANTIZE_H
#define QOPS_NNLIB_REQUANTIZE_H
#include "core/multiply_shift.h"

typedef struct { int32_t start, multiplier; int16_t offset; } requantize_vmpy;

#define QOPS_BODY "nnlib/requantize.h"
#include "core/tiers.h"

static inline ptrdiff_t requantize_vmpy__simd(int tier, const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_vmpy p,
                                              int stream)
{
    return RUN_TIER(tier, requantize_vmpy, x, c, n, p, stream);
}

static inline ptrdiff_t requantize_real__simd(int tier, const int32_t *x, uint8_t *c, ptrdiff_t n, float gain, float bias,
                                              int stream)
{
    return RUN_TIER(tier, requantize_real, x, c, n, gain, bias, stream);
}
#endif
#endif
