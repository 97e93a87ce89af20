/* The loops of range.pyx, many lanes at a time: no order among the elements, so the vectors need none either. */
#ifdef TIER

TARGET static ptrdiff_t TIER(range_s32)(const int32_t *x, ptrdiff_t n, int32_t *lowest, int32_t *highest)
{
    const ptrdiff_t w = LANES / 4;

    if (n < 4 * w)
        return 0;
    vec low = load(x), high = low, low2 = low, high2 = low;
    FOR_VECTORS(i, n, 4 * w, x) {
        const vec a = load(x + i), b = load(x + i + w), c = load(x + i + 2 * w), d = load(x + i + 3 * w);
        low = min_s32(low, min_s32(a, b));
        high = max_s32(high, max_s32(a, b));
        low2 = min_s32(low2, min_s32(c, d));
        high2 = max_s32(high2, max_s32(c, d));
    }
    low = min_s32(low, low2);
    high = max_s32(high, high2);
    DRAW_OUT(int32_t, low, high, lowest, highest);
    return n;
}

TARGET static ptrdiff_t TIER(range_f32)(const float *x, ptrdiff_t n, float *lowest, float *highest, float *nonfinite)
{
    const ptrdiff_t w = LANES / 4;
    float odd[LANES / 4], some = 0;

    if (n < 2 * w)
        return 0;
    vecf low = load_f32(x), high = low, strange = sub_f32(low, low);
    FOR_VECTORS(i, n, 2 * w, x) {
        const vecf a = load_f32(x + i), b = load_f32(x + i + w);
        low = min_f32(low, min_f32(a, b));
        high = max_f32(high, max_f32(a, b));
        strange = add_f32(strange, add_f32(sub_f32(a, a), sub_f32(b, b)));
    }
    DRAW_OUT(float, low, high, lowest, highest);
    store_f32(odd, strange);
    for (int j = 0; j < w; j++)
        some += odd[j];
    *nonfinite += some;
    return n;
}

/* the largest magnitude, as an integer of its bits; that of a NaN is above that of an infinity */
TARGET static ptrdiff_t TIER(magnitude_f32)(const float *x, ptrdiff_t n, int32_t *largest)
{
    const ptrdiff_t w = LANES / 4;
    const vec no_sign = set1_s32(INT32_MAX);
    int32_t each[LANES / 4];
    if (n < 4 * w)
        return 0;
    vec m = set1_s32(0), m2 = m;
    FOR_VECTORS(i, n, 4 * w, x) {
        const float *const p = x + i;
        m = max_s32(m, max_s32(and_bits(load(p), no_sign), and_bits(load(p + w), no_sign)));
        m2 = max_s32(m2, max_s32(and_bits(load(p + 2 * w), no_sign), and_bits(load(p + 3 * w), no_sign)));
    }
    store(each, max_s32(m, m2));
    for (int j = 0; j < w; j++)
        *largest = each[j] > *largest ? each[j] : *largest;
    return n;
}

#else
#ifndef QOPS_RANGE_H
#define QOPS_RANGE_H

#define QOPS_BODY "stage/range.h"
#include "lanes/tiers.h"

SIMD(range_s32, (const int32_t *x, ptrdiff_t n, int32_t *lowest, int32_t *highest), x, n, lowest, highest)
SIMD(range_f32, (const float *x, ptrdiff_t n, float *lowest, float *highest, float *nonfinite), x, n, lowest, highest,
     nonfinite)
SIMD(magnitude_f32, (const float *x, ptrdiff_t n, int32_t *largest), x, n, largest)
#endif
#endif
