/* The parameters of the float stage, and what the SIMD loops ask of them. float_stage.pxd explains the fields. */
#ifndef QOPS_FLOAT_PARAMS_H
#define QOPS_FLOAT_PARAMS_H
#include "stage/code_clamp.h"
#include "stage/rounding.h"
#include <math.h>

typedef enum { FLOAT_TIMES, FLOAT_FUSED, FLOAT_OVER } float_form;
typedef enum { BEYOND_SATURATES, BEYOND_LOWEST, BEYOND_LOWEST_WRAPS, BEYOND_CUT_WRAPS } float_beyond;
typedef struct {
    float lowest_x, highest_x, minus, before, scale, after, plus;
    double shift, lowest, highest;
    qops_rounding rounding;
    float_form form;
    float_beyond beyond;
    int wide;
} float_params;

enum { FLOAT_CUT = 1, FLOAT_PLUS = 2, FLOAT_ONCE = 4, FLOAT_BY = 8, FLOAT_WIDE = 16, FLOAT_THRICE = 32,
       FLOAT_BEYOND = 64 };

/* Whether a rounded value may be beyond int32 in a stage that does not saturate it. */
static inline int goes_beyond(float_params p, int is_int)
{
    const int stays = is_int && p.before == 1 && p.after == 1 && fabsf(p.scale) <= 0.99f && fabsf(p.plus) < 1 << 24;
    return p.beyond != BEYOND_SATURATES && !stays;
}

/* What the stage does besides scaling. A NaN has to be cut, unless the scale is above 0: then it becomes the lowest code. */
static inline int float_flags(float_params p, int is_int)
{
    const int cuts = p.lowest_x > -INFINITY || p.highest_x < INFINITY || p.minus || !(is_int || p.scale > 0);
    return FLOAT_CUT * cuts + FLOAT_PLUS * (p.plus != 0) + FLOAT_ONCE * (p.form == FLOAT_FUSED) +
           FLOAT_BY * (p.form == FLOAT_OVER) + FLOAT_WIDE * p.wide + FLOAT_THRICE * (p.before != 1 || p.after != 1) +
           FLOAT_BEYOND * goes_beyond(p, is_int);
}

/* Whether SIMD loops can do all of it. With BEYOND_LOWEST, sums with the shift, and ends less the shift, must not wrap. */
static inline int is_for_lanes(float_params p, int flags)
{
    return !(flags & FLOAT_BEYOND) || p.beyond != BEYOND_LOWEST || (fabs(p.shift) <= UINT16_MAX && p.lowest >= INT16_MIN && p.highest <= UINT16_MAX);
}

static inline int has_float_clamp(float_params p, int is_signed, code_clamp *to)
{
    *to = (code_clamp){0, 0, 0, 0};
    if (!(fabs(p.shift) < 32000 && fabs(p.lowest) < 256 && fabs(p.highest) < 256))
        return 0;
    const int32_t shift = (int32_t)p.shift, lowest = (int32_t)p.lowest, highest = (int32_t)p.highest;
    return shift == p.shift && lowest == p.lowest && highest == p.highest &&
           has_code_clamp(shift, lowest, highest, is_signed, to);
}
#endif
