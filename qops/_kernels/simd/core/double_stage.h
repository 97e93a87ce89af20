/* The loops of double_stage.pyx, many lanes at a time: half of an int32 vector fills one of doubles. */
#ifdef TIER

/* the ends, less the shift, are those that 32 bits hold */
TARGET static inline vecd TIER(double_whole)(vecd x, vecd scale, double_row p, qops_rounding rounding)
{
    const vecd lowest = max_f64(set1_f64(p.lowest - p.shift), set1_f64(INT32_MIN));
    const vecd highest = min_f64(set1_f64(p.highest - p.shift), set1_f64(INT32_MAX));
    const vecd steps = add_f64(mul_f64(x, scale), set1_f64(p.plus)), cut = min_f64(max_f64(steps, lowest), highest);
    return rounding == QOPS_HALF_EVEN ? cut : add_f64(cut, with_sign_f64(set1_f64(0.49999999999999994), cut));
}

TARGET static inline vec TIER(double_code)(const int32_t *x, vecd low_scale, vecd high_scale, double_row p,
                                           qops_rounding rounding)
{
    const vec near = load(x);
    const vecd low = TIER(double_whole)(low_s32_to_f64(near), low_scale, p, rounding);
    const vecd high = TIER(double_whole)(high_s32_to_f64(near), high_scale, p, rounding);
    const vec whole = rounding == QOPS_HALF_EVEN ? f64_to_s32_rint(low, high) : f64_to_s32_trunc(low, high);
    return add_s32(whole, set1_s32((int32_t)p.shift));
}

/* `each`, if any, and `rounding` are constants of each call */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(double_loop)(const int32_t *x, int32_t *y, ptrdiff_t n,
                                                                               double_row p, const double *each,
                                                                               qops_rounding rounding)
{
    const ptrdiff_t w = LANES / 8;
    const vecd scale = set1_f64(p.scale);
    FOR_VECTORS(i, n, 2 * w, y)
        store(y + i, TIER(double_code)(x + i, each ? load_f64(each + i) : scale, each ? load_f64(each + i + w) : scale, p,
                                       rounding), 0);
    return n;
}

TARGET static ptrdiff_t TIER(double_codes)(const int32_t *x, int32_t *y, ptrdiff_t n, double_row p, const double *each)
{
    if (n < LANES / 4)
        return 0;
    if (p.rounding == QOPS_HALF_EVEN)
        return each ? TIER(double_loop)(x, y, n, p, each, QOPS_HALF_EVEN) : TIER(double_loop)(x, y, n, p, 0, QOPS_HALF_EVEN);
    return each ? TIER(double_loop)(x, y, n, p, each, QOPS_HALF_AWAY) : TIER(double_loop)(x, y, n, p, 0, QOPS_HALF_AWAY);
}

#else
#ifndef QOPS_DOUBLE_STAGE_H
#define QOPS_DOUBLE_STAGE_H
#include "core/rounding.h"
#include <math.h>

typedef struct { double scale, plus, shift, lowest, highest; qops_rounding rounding; } double_row;

#define QOPS_BODY "core/double_stage.h"
#include "core/tiers.h"

/* `each`: a scale for each element, NULL if the row's is that of all. The ends are whole numbers, so what is cut before it
 * is rounded is the same. Steps of a scale up to 1 need no more than 32 bits. */
static inline ptrdiff_t double_codes__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n, double_row p,
                                           const double *each)
{
    const double lowest = p.lowest - p.shift, highest = p.highest - p.shift;
    const int knows = p.rounding == QOPS_HALF_EVEN || p.rounding == QOPS_HALF_AWAY;
    const int fits = lowest >= INT32_MIN && highest <= INT32_MAX, small = !each && fabs(p.scale) <= 1 && p.plus == 0;
    return knows && fabs(p.shift) <= INT32_MAX && lowest <= INT32_MAX && highest >= INT32_MIN && (fits || small)
               ? RUN_TIER(tier, double_codes, x, y, n, p, each) : 0;
}
#endif
#endif
