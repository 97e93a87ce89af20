/* The loops of integer_stage.pyx, a vector at a time. Most rules need lanes of 32 bits only; with AVX-512, lanes of 64
 * bits do the others. */
#ifdef TIER

/* Parameters in the lanes of vectors; `one` and `other` are for the products of each half of the lanes. */
typedef struct { vec add, if_negative, low; } TIER(term);
typedef struct { vec m, lowest, highest, centre, left, high, half; TIER(term) one, other; } TIER(numbers);

TARGET static inline TIER(numbers) TIER(same_in_all)(const integer_params *p)
{
    const int shift = p->first.right_shift;
    const TIER(term) term = {set1_s64(p->first.add), set1_s64(p->first.if_negative), set1_s64(shift < 32 ? 32 - shift : 0)};
    return (TIER(numbers)){set1_s32((int32_t)p->multiplier), set1_s32(p->lowest), set1_s32(p->highest), set1_s32(p->centre),
                           set1_s32(p->left_shift), set1_s32(p->product_wraps ? shift : shift > 32 ? shift - 32 : 0),
                           set1_s32((int32_t)p->first.add), term, term};
}

/* The same with parameters for each channel; the first element has parameters number `at`. */
TARGET static inline __attribute__((always_inline)) TIER(numbers) TIER(each_its_own)(params_of_lanes r, ptrdiff_t at,
                                                                                     TIER(numbers) k)
{
    const ptrdiff_t from = at / HALVES_APART;
    const vec high = load(r.high + at);
    k.m = load(r.m + at);
    k.left = load(r.left + at);
    k.high = high;
    k.half = srl_s32(sll_s32_lanes(set1_s32(1), high), 1);
    k.one = (TIER(term)){load(r.add[0] + from), load(r.if_negative[0] + from), load(r.low[0] + from)};
    k.other = (TIER(term)){load(r.add[1] + from), load(r.if_negative[1] + from), load(r.low[1] + from)};
    return k;
}

/* Products of half of the lanes and their terms, shifted left until their low 32 bits are the high word. */
TARGET static inline __attribute__((always_inline)) vec TIER(product)(vec p, TIER(term) k, int flags)
{
    if (flags & INTEGER_NEGATIVE)
        p = add_where_negative_s64(p, k.if_negative);
    p = add_s64(p, k.add);
    return flags & INTEGER_LOW ? sll_s64_lanes(p, k.low) : p;
}

/* All that comes before the zero point. `flags` is a constant in the common loops. */
TARGET static inline __attribute__((always_inline)) vec TIER(high)(const int32_t *x, TIER(numbers) k, int flags)
{
    vec near = load(x), high;
    if (flags & INTEGER_CUT)
        near = sub_s32(min_s32(max_s32(near, k.lowest), k.highest), k.centre);
    if (flags & INTEGER_LEFT)
        near = sll_s32_lanes(near, k.left);
    if (flags & INTEGER_WRAPS)
        high = add_s32(mullo_s32(near, k.m), k.half);
    else
        high = weave_high_s32(TIER(product)(mul_half_s32(near, k.m), k.one, flags),
                              TIER(product)(mul_other_half_s32(near, k.m), k.other, flags));
    return flags & (INTEGER_HIGH | INTEGER_WRAPS) ? sra_s32_lanes(high, k.high) : high;
}

/* Int32 codes. The clamp comes before the zero point is added, so that nothing wraps. */
TARGET static inline vec TIER(clamped)(vec high, integer_clamp to)
{
    return add_s32(min_s32(max_s32(high, set1_s32(to.lowest)), set1_s32(to.highest)), set1_s32(to.zero_point));
}

TARGET static inline __attribute__((always_inline)) vec TIER(codes_8)(const int32_t *x, TIER(numbers) k, code_clamp to, int flags)
{
    vec q[4];
    for (int j = 0; j < 4; j++)
        q[j] = TIER(high)(x + j * (LANES / 4), k, flags);
    return narrow_s32_codes(q, to);
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(loop_s32)(const int32_t *x, int32_t *y, ptrdiff_t n,
                                                                            const integer_params *p, integer_clamp to, int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    FOR_VECTORS_UNROLLED(i, n, LANES / 4, y)
        store(y + i, TIER(clamped)(TIER(high)(x + i, k, flags), to));
    return n;
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(loop_8)(const int32_t *x, uint8_t *c, ptrdiff_t n,
                                                                          const integer_params *p, code_clamp to, int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    FOR_VECTORS(i, n, LANES, x)
        store(c + i, TIER(codes_8)(x + i, k, to, flags));
    return n;
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(loop_16)(const int32_t *x, uint16_t *c, ptrdiff_t n,
                                                                           const integer_params *p, integer_clamp to, int is_signed,
                                                                           int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    FOR_VECTORS(i, n, LANES / 2, x) {
        vec q[2];
        for (int j = 0; j < 2; j++)
            q[j] = TIER(clamped)(TIER(high)(x + i + j * (LANES / 4), k, flags), to);
        store(c + i, narrow_s32_16(q[0], q[1], is_signed));
    }
    return n;
}

/* Calls a loop with constant flags where they are common. A flag that the parameters do not need changes nothing. */
#define BY_FLAGS(loop, ...)                                                                              \
    (!(flags & ~INTEGER_HIGH)                      ? loop(__VA_ARGS__, INTEGER_HIGH)                     \
     : !(flags & ~(INTEGER_HIGH | INTEGER_NEGATIVE)) ? loop(__VA_ARGS__, INTEGER_HIGH | INTEGER_NEGATIVE) \
     : flags == INTEGER_LOW                        ? loop(__VA_ARGS__, INTEGER_LOW)                      \
     : flags == (INTEGER_LOW | INTEGER_CUT)        ? loop(__VA_ARGS__, INTEGER_LOW | INTEGER_CUT)        \
     : flags == INTEGER_WRAPS                      ? loop(__VA_ARGS__, INTEGER_WRAPS)                    \
                                                   : loop(__VA_ARGS__, flags))

TARGET static ptrdiff_t TIER(stage_s32)(const int32_t *x, int32_t *y, ptrdiff_t n, const integer_params *p, integer_clamp to, int flags)
{
    return BY_FLAGS(TIER(loop_s32), x, y, n, p, to);
}

TARGET static ptrdiff_t TIER(stage_16)(const int32_t *x, uint16_t *c, ptrdiff_t n, const integer_params *p, integer_clamp to,
                                       int is_signed, int flags)
{
    return BY_FLAGS(TIER(loop_16), x, c, n, p, to, is_signed);
}

TARGET static ptrdiff_t TIER(stage_8)(const int32_t *x, uint8_t *c, ptrdiff_t n, const integer_params *p, code_clamp to, int flags)
{
    return BY_FLAGS(TIER(loop_8), x, c, n, p, to);
}
#undef BY_FLAGS

/* All whole vectors. The first element has parameters number `at`, the next one the next; after `period` they begin
 * again. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(each_loop)(const int32_t *x, int32_t *y, ptrdiff_t n,
                                                                             params_of_lanes r, ptrdiff_t period, ptrdiff_t at,
                                                                             const integer_params *p, integer_clamp to, int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w) {
        store(y + i, TIER(clamped)(TIER(high)(x + i, TIER(each_its_own)(r, at, k), flags), to));
        at += w;
        at -= at >= period ? period : 0;
    }
    return i;
}

/* The same, to codes of 8 bits, which fill whole vectors. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(each_loop_8)(const int32_t *x, uint8_t *c, ptrdiff_t n,
                                                                               params_of_lanes r, ptrdiff_t period,
                                                                               ptrdiff_t at, const integer_params *p,
                                                                               code_clamp to, int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec q[4];
        for (int j = 0; j < 4; j++) {
            q[j] = TIER(high)(x + i + j * w, TIER(each_its_own)(r, at, k), flags);
            at += w;
            at -= at >= period ? period : 0;
        }
        store(c + i, narrow_s32_codes(q, to));
    }
    return i;
}

TARGET static ptrdiff_t TIER(stage_each_8)(const int32_t *x, uint8_t *c, ptrdiff_t n, params_of_lanes r, ptrdiff_t period,
                                           ptrdiff_t at, const integer_params *p, code_clamp to, int flags)
{
    const int common = INTEGER_HIGH | INTEGER_NEGATIVE;
    return flags & ~common ? TIER(each_loop_8)(x, c, n, r, period, at, p, to, flags) : TIER(each_loop_8)(x, c, n, r, period, at, p, to, common);
}

TARGET static ptrdiff_t TIER(stage_each)(const int32_t *x, int32_t *y, ptrdiff_t n, params_of_lanes r, ptrdiff_t period,
                                         ptrdiff_t at, const integer_params *p, integer_clamp to, int flags)
{
    const int common = INTEGER_HIGH | INTEGER_NEGATIVE;
    return flags & ~common ? TIER(each_loop)(x, y, n, r, period, at, p, to, flags) : TIER(each_loop)(x, y, n, r, period, at, p, to, common);
}

#include "stage/wide_params.h"

#else
#ifndef QOPS_INTEGER_STAGE_H
#define QOPS_INTEGER_STAGE_H
#include "stage/integer_params.h"

#define QOPS_BODY "stage/integer_stage.h"
#include "lanes/tiers.h"

#if QOPS_X86
#define ANY_PARAMS(tier, ...) ((tier) >= QOPS_AVX512 ? avx512_any_params(__VA_ARGS__) : 0)
#else
#define ANY_PARAMS(tier, ...) 0
#endif

static inline ptrdiff_t stage_s64__simd(int tier, const int64_t *x, int32_t *y, ptrdiff_t n, const integer_params *p)
{
    return ANY_PARAMS(tier, x, 1, y, n, p);
}

static inline ptrdiff_t stage_s32__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n, const integer_params *p)
{
    integer_params room;
    integer_clamp to;
    if (n < LANES_OF(tier) / 2) /* the plain loop is as quick for a single vector */
        return 0;
    const integer_params *const once = in_one_shift(p, &room);
    const int flags = flags_of(once);
    return flags >= 0 && whole_range(p) && has_integer_clamp(p, &to) ? RUN_TIER(tier, stage_s32, x, y, n, once, to, flags)
                                                                   : ANY_PARAMS(tier, x, 0, y, n, p);
}

static inline ptrdiff_t stage_16__simd(int tier, const int32_t *x, void *c, int is_signed, ptrdiff_t n, const integer_params *p)
{
    integer_params room;
    integer_clamp to;
    if (n < LANES_OF(tier) / 2)
        return 0;
    const integer_params *const once = in_one_shift(p, &room);
    const int flags = flags_of(once);
    return flags >= 0 && whole_range(p) && has_integer_clamp(p, &to)
               ? RUN_TIER(tier, stage_16, x, c, n, once, to, is_signed, flags) : 0;
}

static inline ptrdiff_t stage_each__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n, params_of_lanes r,
                                         ptrdiff_t period, ptrdiff_t at, const integer_params *p, int flags)
{
    integer_clamp to;
    return whole_range(p) && has_integer_clamp(p, &to) ? RUN_TIER(tier, stage_each, x, y, n, r, period, at, p, to, flags) : 0;
}

static inline ptrdiff_t stage_each_8__simd(int tier, const int32_t *x, void *c, int is_signed, ptrdiff_t n,
                                           params_of_lanes r, ptrdiff_t period, ptrdiff_t at, const integer_params *p,
                                           int flags)
{
    code_clamp to;
    return whole_range(p) && !p->code_wraps &&
                   has_code_clamp(p->zero_point, p->lowest_code, p->highest_code, is_signed, &to)
               ? RUN_TIER(tier, stage_each_8, x, c, n, r, period, at, p, to, flags) : 0;
}

static inline ptrdiff_t stage_8__simd(int tier, const int32_t *x, void *c, int is_signed, ptrdiff_t n,
                                      const integer_params *p)
{
    integer_params room;
    code_clamp to;
    if (n < LANES_OF(tier))
        return 0;
    const integer_params *const once = in_one_shift(p, &room);
    const int flags = flags_of(once);
    return flags >= 0 && (whole_range(p) || range_16(p)) && !p->code_wraps &&
                   has_code_clamp(p->zero_point, p->lowest_code, p->highest_code, is_signed, &to)
               ? RUN_TIER(tier, stage_8, x, c, n, once, to, flags) : 0;
}
#endif
#endif
