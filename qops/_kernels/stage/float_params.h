/* The row of the float stage, and what the lanes ask of it: float_stage.pxd says what the fields mean. */
#ifndef QOPS_FLOAT_PARAMS_H
#define QOPS_FLOAT_PARAMS_H
#include "stage/code_ends.h"
#include "stage/rounding.h"
#include <math.h>

typedef enum { FLOAT_TIMES, FLOAT_FUSED, FLOAT_OVER } float_form;
typedef struct {
    float lowest_x, highest_x, minus, scale, plus;
    double shift, lowest, highest;
    qops_rounding rounding;
    float_form form;
    int wide;
} float_params;

enum { FLOAT_CUT = 1, FLOAT_PLUS = 2, FLOAT_ONCE = 4, FLOAT_BY = 8, FLOAT_WIDE = 16, FLOAT_INVERSE = 32 };
enum { INVERSE_TO = 1 << 21 };

/* What the row does besides scaling. NaN has to be cut, unless the scale is above 0: then it becomes the lowest code. */
static inline int float_steps(float_params p, int is_int)
{
    const int cuts = p.lowest_x > -INFINITY || p.highest_x < INFINITY || p.minus || !(is_int || p.scale > 0);
    return FLOAT_CUT * cuts + FLOAT_PLUS * (p.plus != 0) + FLOAT_ONCE * (p.form == FLOAT_FUSED) +
           FLOAT_BY * (p.form == FLOAT_OVER) + FLOAT_WIDE * p.wide;
}

static inline int has_float_ends(float_params p, int is_signed, code_ends *e)
{
    *e = (code_ends){0, 0, 0, 0};
    if (!(fabs(p.shift) < 32000 && fabs(p.lowest) < 256 && fabs(p.highest) < 256))
        return 0;
    const int32_t shift = (int32_t)p.shift, lowest = (int32_t)p.lowest, highest = (int32_t)p.highest;
    return shift == p.shift && lowest == p.lowest && highest == p.highest &&
           has_code_ends(shift, lowest, highest, is_signed, e);
}
#endif
