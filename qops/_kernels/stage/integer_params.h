/* The parameters of the integer stage, and what the SIMD loops ask of them. integer_stage.pxd explains the fields. */
#ifndef QOPS_INTEGER_PARAMS_H
#define QOPS_INTEGER_PARAMS_H
#include "stage/code_clamp.h"
#include "machine/cpu.h"
#include <stddef.h>
#include <stdint.h>

typedef struct { int64_t add, if_negative, if_odd; int32_t right_shift; } integer_shift;
typedef struct {
    int32_t lowest, highest, centre, left_shift, through_f32;
    int64_t multiplier;
    integer_shift first, second;
    int64_t least, most;
    int32_t zero_point, lowest_code, highest_code;
    int32_t product_wraps, high_wraps, code_wraps; /* to 32 bits */
} integer_params;

/* what SIMD loops do besides multiplying and shifting by 32 */
enum { INTEGER_CUT = 1, INTEGER_LEFT = 2, INTEGER_NEGATIVE = 4, INTEGER_LOW = 8, INTEGER_HIGH = 16, INTEGER_WRAPS = 32 };

/* The parameters of channels, one set for each element of a period. Numbers of 64 bits are kept in two arrays, one for
 * each half of a vector: on x86 one for even and one for odd elements. On ARM the halves are the lower and the upper
 * elements, so the second array is the first from its third element on. */
typedef struct {
    int32_t *left, *m, *high;
    int64_t *add[2], *if_negative[2], *low[2];
} params_of_lanes;
enum { HALVES_APART = QOPS_ARM ? 1 : 2 };
typedef struct { params_of_lanes params; ptrdiff_t period; int are_of_use, flags; } integer_lanes; /* see integer_stage.pxd */
enum { BYTES_OF_LANES = 3 * sizeof(int32_t) + 3 * sizeof(int64_t) }; /* of each element */

typedef struct { int32_t lowest, highest, zero_point; } integer_clamp; /* the ends less the zero point, which is added behind the clamp */

static inline int by_addend(integer_shift s) { return !s.if_negative && !s.if_odd; }
static inline int does_nothing(integer_shift s) { return by_addend(s) && !s.add && !s.right_shift; }
static inline int whole_range(const integer_params *p) { return p->least <= INT32_MIN && p->most >= INT32_MAX; }
static inline int range_16(const integer_params *p) { return p->least == INT16_MIN && p->most == INT16_MAX; }
static inline int leaves_x(const integer_params *p) { return p->lowest == INT32_MIN && p->highest == INT32_MAX && !p->centre; }
static inline int has_one_shift(const integer_params *p)
{
    return leaves_x(p) && !p->left_shift && !p->through_f32 && does_nothing(p->second) && p->least == INT64_MIN &&
           p->most == INT64_MAX && !p->product_wraps && !p->high_wraps && !p->code_wraps;
}

/* What a shift adds, to any x and to one below 0, is less than one step of its result. */
static inline int adds_less_than_one(integer_shift s)
{
    const int64_t one = 1LL << s.right_shift, negative = s.add + s.if_negative;
    return 0 <= s.add && s.add < one && 0 <= negative && negative < one;
}

/* Whether 32 bits hold (x * m + term) >> shift of every int32 x. */
static inline int holds_high(const integer_params *p)
{
    const int64_t m = p->multiplier, one = 1LL << p->first.right_shift;
    const int drops_32_bits = p->first.right_shift >= 32;
    const int never_grows = -one < m && m <= one;
    return drops_32_bits || (never_grows && adds_less_than_one(p->first));
}

/* Whether the second rounding is one with the first; there is a second. */
static inline int has_joint_shift(const integer_params *p)
{
    const integer_shift first = p->first, second = p->second;
    const int first_adds_one_term = by_addend(first) && 0 <= first.add && first.add >> first.right_shift == 0;
    const int second_adds_terms = !second.if_odd && adds_less_than_one(second);
    const int sum_is_not_cut = p->least == INT64_MIN && p->most == INT64_MAX;
    const int wraps = p->product_wraps || (p->high_wraps && !holds_high(p));
    const int fits_64_bits = first.right_shift + second.right_shift <= 62;
    return first_adds_one_term && second_adds_terms && sum_is_not_cut && !wraps && fits_64_bits;
}

/* A second rounding of h = (x * m + a) >> s, by b and, below 0, b + c, becomes one with the first:
 *     (h + b + c * (h < 0)) >> r  =  (x * m + a + (b + c * (x * m < 0)) * 2^s) >> (s + r)
 * Where x * m < 0 but h is not, h is 0, and both b and b + c become 0. `once` is memory for the parameters of that one shift. */
static inline const integer_params *in_one_shift(const integer_params *p, integer_params *once)
{
    const int shift = p->first.right_shift;
    if (does_nothing(p->second) || !has_joint_shift(p))
        return p;
    *once = *p;
    once->first.add += p->second.add * (1LL << shift);
    once->first.if_negative = p->second.if_negative * (1LL << shift);
    once->first.right_shift = shift + p->second.right_shift;
    once->second = (integer_shift){0, 0, 0, 0};
    once->high_wraps = 0;
    return once;
}

/* Whether lanes of 32 bits can do all that comes before the zero point. */
static inline int is_for_lanes_32(const integer_params *p)
{
    const int64_t m = p->multiplier, most = 1LL << 62, add = p->first.add, negative = add + p->first.if_negative;
    const int shift = p->first.right_shift;
    const int shifts_once = does_nothing(p->second) && !p->first.if_odd;
    const int is_whole = !p->through_f32 && p->left_shift <= 31;
    const int has_multiplier = INT32_MIN < m && m <= INT32_MAX;
    const int has_terms = -most < add && add < most && -most < negative && negative < most;
    const int is_half_up = shift < 32 && by_addend(p->first) && add == (1LL << shift) >> 1;
    const int has_high = p->product_wraps ? is_half_up : p->high_wraps || holds_high(p);
    return shifts_once && is_whole && has_multiplier && has_terms && has_high;
}

/* What the loop has to do for parameters that lanes of 32 bits can do. */
static inline int flags_of(const integer_params *p)
{
    const int shift = p->first.right_shift, near = INTEGER_CUT * !leaves_x(p) + INTEGER_LEFT * !!p->left_shift;
    if (p->product_wraps)
        return near + INTEGER_WRAPS;
    return near + INTEGER_NEGATIVE * !!p->first.if_negative + INTEGER_LOW * (shift < 32) + INTEGER_HIGH * (shift > 32);
}

/* Whether one loop can do two channels. A channel without another flag has a number there that has no effect. */
static inline int go_together(int flags, int others) { return !((flags ^ others) & (INTEGER_CUT | INTEGER_WRAPS)); }

/* Sets `to`. It is false if the code may wrap, or the ends less the zero point are all below or all above int32. */
static inline int has_integer_clamp(const integer_params *p, integer_clamp *to)
{
    const int64_t lowest = (int64_t)p->lowest_code - p->zero_point, highest = (int64_t)p->highest_code - p->zero_point;
    *to = (integer_clamp){(int32_t)(lowest < INT32_MIN ? INT32_MIN : lowest),
                        (int32_t)(highest > INT32_MAX ? INT32_MAX : highest), p->zero_point};
    return lowest <= INT32_MAX && highest >= INT32_MIN && lowest <= highest && !p->code_wraps;
}

/* The parts of `memory` that hold the parameters of `count` elements; `count` is even. */
static inline params_of_lanes params_in(void *memory, ptrdiff_t count)
{
    int64_t *const wide = memory;
    int32_t *const narrow = (int32_t *)(wide + 3 * count);
    const ptrdiff_t other = QOPS_ARM ? 2 : count / 2;
    return (params_of_lanes){narrow, narrow + count, narrow + 2 * count, {wide, wide + other},
                          {wide + count, wide + count + other}, {wide + 2 * count, wide + 2 * count + other}};
}

/* Sets the parameters of elements from `i` on, in steps of `step` up to `end`. */
static inline void put_params(params_of_lanes r, ptrdiff_t i, ptrdiff_t step, ptrdiff_t end, const integer_params *p)
{
    const int shift = p->first.right_shift;
    const int32_t left = p->left_shift, m = (int32_t)p->multiplier, high = p->product_wraps ? shift : shift > 32 ? shift - 32 : 0;
    const int64_t add = p->first.add, if_negative = p->first.if_negative, low = shift < 32 ? 32 - shift : 0;
    for (; i < end; i += step) {
        const size_t at = (size_t)i / HALVES_APART + (size_t)i % HALVES_APART * (r.add[1] - r.add[0]);
        r.left[i] = left;
        r.m[i] = m;
        r.high[i] = high;
        r.add[0][at] = add;
        r.if_negative[0][at] = if_negative;
        r.low[0][at] = low;
    }
}
#endif
