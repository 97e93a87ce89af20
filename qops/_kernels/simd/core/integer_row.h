/* The row of the integer stage, and what the lanes ask of it: integer_stage.pxd says what the fields mean. */
#ifndef QOPS_INTEGER_ROW_H
#define QOPS_INTEGER_ROW_H
#include "core/code_ends.h"
#include <stdint.h>

typedef struct { int64_t add, if_negative, if_odd; int32_t right_shift; } integer_shift;
typedef struct {
    int32_t lowest, highest, centre, left_shift, through_f32;
    int64_t multiplier;
    integer_shift first, second;
    int64_t least, most;
    int32_t zero_point, lowest_code, highest_code;
    int32_t product_wraps, high_wraps, code_wraps; /* to 32 bits */
} integer_row;

/* which steps a row has, for the lanes */
enum { STEP_CUT = 1, STEP_LEFT = 2, STEP_NEGATIVE = 4, STEP_LOW = 8, STEP_HIGH = 16, STEP_AGAIN = 32, STEP_AWAY = 64 };

/* The numbers of GROUP rows, a row for each element; of what the products need first those of the even elements. */
enum { GROUP = 16 };
typedef struct {
    int32_t left[GROUP], m[GROUP], high[GROUP], less[GROUP];
    int64_t add[2][GROUP / 2], low[2][GROUP / 2];
} integer_group;

typedef struct { int32_t lowest, highest, zero_point, bare; } integer_ends; /* the ends less the zero point */

static inline int by_addend(integer_shift s) { return !s.if_negative && !s.if_odd; }
static inline int does_nothing(integer_shift s) { return by_addend(s) && !s.add && !s.right_shift; }
static inline int whole_range(integer_row p) { return p.least <= INT32_MIN && p.most >= INT32_MAX; }
static inline int range_16(integer_row p) { return p.least == INT16_MIN && p.most == INT16_MAX; }
static inline int leaves_x(integer_row p) { return p.lowest == INT32_MIN && p.highest == INT32_MAX && !p.centre; }
static inline int has_one_step(integer_row p)
{
    return leaves_x(p) && !p.left_shift && !p.through_f32 && does_nothing(p.second) && p.least == INT64_MIN &&
           p.most == INT64_MAX && !p.product_wraps && !p.high_wraps && !p.code_wraps;
}

/* whether 32 bits hold (x * m + term) >> shift of every int32 x, or the row cuts it to them */
static inline int fits_32(integer_row p)
{
    const int64_t m = p.multiplier, one = 1LL << p.first.right_shift, most = 1LL << 62;
    const int64_t add = p.first.add, negative = add + p.first.if_negative;
    if (m <= INT32_MIN || m > INT32_MAX || -most >= add || add >= most || -most >= negative || negative >= most)
        return 0;
    return p.first.right_shift >= 32 || p.high_wraps ||
           (0 <= add && add < one && 0 <= negative && negative < one && -one < m && m <= one);
}

/* the steps of a row that 32 bits hold, -1 of others */
static inline int steps_of(integer_row p)
{
    const int again = p.second.right_shift, twice = !does_nothing(p.second), away = p.second.if_negative == -1;
    if (!fits_32(p) || p.through_f32 || p.product_wraps || p.first.if_odd || p.left_shift > 31)
        return -1;
    if (twice && (again < 1 || again > 31 || p.second.add != 1LL << (again - 1) || p.second.if_odd || p.least != INT64_MIN ||
                  p.most != INT64_MAX || (away ? p.first.right_shift < 31 || p.high_wraps : !!p.second.if_negative)))
        return -1;
    return STEP_CUT * !leaves_x(p) + STEP_LEFT * !!p.left_shift + STEP_NEGATIVE * !!p.first.if_negative +
           STEP_LOW * (p.first.right_shift < 32) + STEP_HIGH * (p.first.right_shift > 32) + STEP_AGAIN * twice +
           STEP_AWAY * (twice && away);
}

/* the steps of two rows that lanes do together, -1 if they cannot: a step that is not done by a number that changes nothing */
static inline int steps_of_both(int a, int b)
{
    const int same = STEP_CUT | STEP_NEGATIVE | STEP_AGAIN | STEP_AWAY;
    return a < 0 || b < 0 || (a & same) != (b & same) ? -1 : a | b;
}

static inline int has_integer_ends(integer_row p, integer_ends *e)
{
    const int64_t lowest = (int64_t)p.lowest_code - p.zero_point, highest = (int64_t)p.highest_code - p.zero_point;
    *e = (integer_ends){(int32_t)(lowest < INT32_MIN ? INT32_MIN : lowest),
                        (int32_t)(highest > INT32_MAX ? INT32_MAX : highest), p.zero_point,
                        lowest == INT32_MIN && highest == INT32_MAX};
    return lowest <= INT32_MAX && highest >= INT32_MIN && lowest <= highest && !p.code_wraps;
}

/* puts the zero point into the term of a row with one rounding; false if it does not fit or shifts by less than 32 */
static inline int to_whole(integer_row *p, int zero)
{
    const int shift = p->first.right_shift;
    if (!leaves_x(*p) || p->left_shift || !by_addend(p->first) || !does_nothing(p->second) || shift < 32 || (zero && shift > 46))
        return 0;
    p->first.add += zero * (1LL << shift);
    return -(1LL << 62) < p->first.add && p->first.add < 1LL << 62;
}

/* the row of element `i` of a group */
static inline void put_in_group(integer_group *g, int i, integer_row p)
{
    const int shift = p.first.right_shift;
    g->left[i] = p.left_shift;
    g->m[i] = (int32_t)p.multiplier;
    g->high[i] = shift > 32 ? shift - 32 : 0;
    g->less[i] = p.second.right_shift - 1;
    g->add[i % 2][i / 2] = p.first.add;
    g->low[i % 2][i / 2] = shift < 32 ? 32 - shift : 0;
}
#endif
