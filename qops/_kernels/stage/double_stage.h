/* The loops of double_stage.pyx, many lanes at a time: half of an int32 vector fills one of doubles. */
#ifdef TIER

/* Values in steps of the result, rounded. A value above the highest is cut to it, one below int32 becomes INT32_MIN. */
TARGET static inline vecd TIER(double_whole)(vecd x, vecd scale, double_params p, vecd highest, qops_rounding rounding)
{
    const vecd steps = mul_f64(x, scale), cut = min_f64(p.plus ? add_f64(steps, set1_f64(p.plus)) : steps, highest);
    return rounding == QOPS_HALF_EVEN ? cut : add_f64(cut, with_sign_f64(set1_f64(0.49999999999999994), cut));
}

TARGET static inline vec TIER(double_high)(const int32_t *x, vecd low_scale, vecd high_scale, double_params p, vecd highest,
                                           qops_rounding rounding)
{
    const vecd low = TIER(double_whole)(load_s32_f64(x), low_scale, p, highest, rounding);
    const vecd high = TIER(double_whole)(load_s32_f64(x + LANES / 8), high_scale, p, highest, rounding);
    return rounding == QOPS_HALF_EVEN ? f64_to_s32_rint(low, high) : f64_to_s32_trunc(low, high);
}

TARGET static inline vec TIER(double_ended)(vec high, vec lowest, vec shift)
{
    return add_s32(max_s32(high, lowest), shift);
}

/* Int32 codes; of channels only whole vectors. `rounding` is a constant of the calls. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(double_loop)(const int32_t *x, int32_t *y, ptrdiff_t n,
                                                                               double_params p, double_clamp to,
                                                                               channel_scales s, qops_rounding rounding)
{
    const ptrdiff_t w = LANES / 4;
    const vecd scale = set1_f64(p.scale), highest = set1_f64(to.highest);
    const vec lowest = set1_s32(to.lowest), shift = set1_s32(to.shift);
    ptrdiff_t end = 0, at = s.at;
    for (; s.each && end + w <= n; end += w) {
        const double *own = (const double *)s.each + at;
        const vec high = TIER(double_high)(x + end, load_f64(own), load_f64(own + w / 2), p, highest, rounding);
        store(y + end, TIER(double_ended)(high, lowest, shift));
        at += w;
        at -= at >= s.period ? s.period : 0;
    }
    if (s.each)
        return end;
    FOR_VECTORS(i, n, w, y)
        store(y + i, TIER(double_ended)(TIER(double_high)(x + i, scale, scale, p, highest, rounding), lowest, shift));
    return n;
}

TARGET static ptrdiff_t TIER(double_codes)(const int32_t *x, int32_t *y, ptrdiff_t n, double_params p, double_clamp to,
                                           channel_scales s)
{
    return p.rounding == QOPS_HALF_EVEN ? TIER(double_loop)(x, y, n, p, to, s, QOPS_HALF_EVEN)
                                        : TIER(double_loop)(x, y, n, p, to, s, QOPS_HALF_AWAY);
}

/* A vector of 8-bit codes. Values may be cut to 2^20, as that saturates too. */
TARGET static inline __attribute__((always_inline)) vec TIER(double_exact)(const int32_t *x, double_params p, code_clamp to,
                                                                          qops_rounding rounding)
{
    const vecd scale = set1_f64(p.scale), highest = set1_f64(1 << 20);
    vec q[4];
    for (int j = 0; j < 4; j++)
        q[j] = TIER(double_high)(x + j * (LANES / 4), scale, scale, p, highest, rounding);
    return narrow_s32_codes(q, to);
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(double_loop_8)(const int32_t *x, uint8_t *c, ptrdiff_t n,
                                                                                 double_params p, code_clamp to,
                                                                                 qops_rounding rounding)
{
    FOR_VECTORS(i, n, LANES, x)
        store(c + i, TIER(double_exact)(x + i, p, to, rounding));
    return n;
}

TARGET static ptrdiff_t TIER(double_codes_8)(const int32_t *x, uint8_t *c, ptrdiff_t n, double_params p, code_clamp to)
{
    return p.rounding == QOPS_HALF_EVEN ? TIER(double_loop_8)(x, c, n, p, to, QOPS_HALF_EVEN)
                                        : TIER(double_loop_8)(x, c, n, p, to, QOPS_HALF_AWAY);
}

#else
#ifndef QOPS_DOUBLE_STAGE_H
#define QOPS_DOUBLE_STAGE_H
#include "stage/batch.h"
#include "stage/code_clamp.h"
#include "stage/rounding.h"
#include <math.h>

typedef struct { double scale, plus, shift, lowest, highest; qops_rounding rounding; } double_params;
typedef struct { double highest; int32_t lowest, shift; } double_clamp; /* the ends less the shift, which is added behind the clamp */

#define QOPS_BODY "stage/double_stage.h"
#include "lanes/tiers.h"

static inline int has_double_rounding(double_params p)
{
    return (p.rounding == QOPS_HALF_EVEN || p.rounding == QOPS_HALF_AWAY) && fabs(p.shift) <= INT32_MAX;
}

/* Whether 32 bits hold a value that is rounded and cut to the ends. The ends are whole numbers, so values may be cut before they
 * are rounded. With scales up to 1 (`largest`) no rounded value needs more than 32 bits. */
static inline int has_double_clamp(double_params p, double largest, double_clamp *to)
{
    const double lowest = p.lowest - p.shift, highest = p.highest - p.shift;
    *to = (double_clamp){highest < INT32_MAX ? highest : INT32_MAX, (int32_t)(lowest > INT32_MIN ? lowest : INT32_MIN),
                       (int32_t)p.shift};
    return has_double_rounding(p) && lowest <= INT32_MAX && highest >= INT32_MIN &&
           ((lowest >= INT32_MIN && highest <= INT32_MAX) || (largest <= 1 && p.plus == 0));
}

/* The first codes of a batch, and how many. */
static inline ptrdiff_t double_codes__simd(int tier, const double_params *p, channel_scales s, const stage_batch *b)
{
    double_clamp to;
    code_clamp to_8;
    if (b->from == FROM_S64 || b->n < LANES_OF(tier) / b->size)
        return 0;
    if (b->size == 4)
        return has_double_clamp(*p, s.each ? INFINITY : fabs(p->scale), &to)
                   ? RUN_TIER(tier, double_codes, b->x, b->c, b->n, *p, to, s) : 0;
    return b->size == 1 && !s.each && has_double_rounding(*p) && p->shift == rint(p->shift) &&
                   has_code_clamp((int64_t)p->shift, (int64_t)p->lowest, (int64_t)p->highest, b->is_signed, &to_8)
               ? RUN_TIER(tier, double_codes_8, b->x, b->c, b->n, *p, to_8) : 0;
}
#endif
#endif
