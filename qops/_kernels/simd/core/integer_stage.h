/* The loops of integer_stage.pyx, many lanes at a time: of rows whose steps fit 32 bits, and with AVX-512 of any row. */
#ifdef TIER

/* The numbers of a row in the lanes of a vector; those of products of the even and of the odd lanes. */
typedef struct { vec lowest, highest, centre, left, m, m_odd, add, add_odd, if_negative, low, low_odd, high, less; } TIER(numbers);

TARGET static inline TIER(numbers) TIER(same_in_all)(integer_row p)
{
    const int shift = p.first.right_shift;
    const vec m = set1_s32((int32_t)p.multiplier), add = set1_s64(p.first.add), low = set1_s64(shift < 32 ? 32 - shift : 0);
    return (TIER(numbers)){
        set1_s32((int32_t)p.lowest), set1_s32((int32_t)p.highest), set1_s32(p.centre), set1_s32(p.left_shift), m, m, add, add,
        set1_s64(p.first.if_negative), low, low, set1_s32(shift > 32 ? shift - 32 : 0), set1_s32(p.second.right_shift - 1)};
}

/* Those of a vector's elements, one row each. */
TARGET static inline TIER(numbers) TIER(each_its_own)(const integer_group *g, ptrdiff_t i, TIER(numbers) k)
{
    const ptrdiff_t at = i % GROUP;
    k.left = load(g->left + at);
    k.m = load(g->m + at);
    k.m_odd = odd_to_even(k.m);
    k.add = load(g->add[0] + at / 2);
    k.add_odd = load(g->add[1] + at / 2);
    k.low = load(g->low[0] + at / 2);
    k.low_odd = load(g->low[1] + at / 2);
    k.high = load(g->high + at);
    k.less = load(g->less + at);
    return k;
}

/* All that comes before the zero point. (x * m + term) >> shift is shifted left until its low 32 bits are the high word,
 * then on to the right. The second rounding, of h by n: one less below 0 if half away, then half up by
 * ((h >> (n - 1)) + 1) >> 1, which a h of 2^31 - 1 must not wrap. `steps`, a constant in the common loops, says which of
 * the steps the row has. */
TARGET static inline __attribute__((always_inline)) vec TIER(high)(const int32_t *x, TIER(numbers) k, int steps)
{
    vec near = load(x), even, odd, high;
    if (steps & STEP_CUT)
        near = sub_s32(min_s32(max_s32(near, k.lowest), k.highest), k.centre);
    if (steps & STEP_LEFT)
        near = sll_s32_lanes(near, k.left);
    even = mul_even_s32(near, k.m);
    odd = mul_even_s32(odd_to_even(near), k.m_odd);
    if (steps & STEP_NEGATIVE) {
        even = add_s64(even, and_bits(negative_s64(even), k.if_negative));
        odd = add_s64(odd, and_bits(negative_s64(odd), k.if_negative));
    }
    even = add_s64(even, k.add);
    odd = add_s64(odd, k.add_odd);
    if (steps & STEP_LOW) {
        even = sll_s64_lanes(even, k.low);
        odd = sll_s64_lanes(odd, k.low_odd);
    }
    high = weave_high_s32(even, odd);
    if (steps & STEP_HIGH)
        high = sra_s32_lanes(high, k.high);
    if (steps & STEP_AWAY)
        high = add_s32(high, sra_s32(high, 31));
    if (steps & STEP_AGAIN) {
        high = sra_s32_lanes(high, k.less);
        high = sub_s32(high, sra_s32(high, 1));
    }
    return high;
}

/* int32 codes: clamped, then the zero point added, so that nothing wraps */
TARGET static inline vec TIER(ended)(vec high, integer_ends e)
{
    return add_s32(min_s32(max_s32(high, set1_s32(e.lowest)), set1_s32(e.highest)), set1_s32(e.zero_point));
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(loop_s32)(const int32_t *x, int32_t *y, ptrdiff_t n,
                                                                            integer_row p, integer_ends e, int steps,
                                                                            int stream)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    if (e.bare)
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(high)(x + i, k, steps), stream);
    else
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(ended)(TIER(high)(x + i, k, steps), e), stream);
    return done(n, stream);
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(loop_8)(const int32_t *x, uint8_t *c, ptrdiff_t n,
                                                                          integer_row p, code_ends e, int steps, int stream)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    vec q[4];
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++)
            q[j] = TIER(high)(x + i + j * (LANES / 4), k, steps);
        store(c + i, narrow_s32_codes(q, e), stream);
    }
    return done(n, stream);
}

#define BY_STEPS(loop, ...)                                                                                            \
    (steps == 0                                    ? loop(__VA_ARGS__, 0, stream)                                      \
     : steps == STEP_LOW                           ? loop(__VA_ARGS__, STEP_LOW, stream)                               \
     : steps == STEP_HIGH                          ? loop(__VA_ARGS__, STEP_HIGH, stream)                              \
     : steps == (STEP_LOW | STEP_CUT)              ? loop(__VA_ARGS__, STEP_LOW | STEP_CUT, stream)                    \
     : steps == (STEP_LOW | STEP_AGAIN)            ? loop(__VA_ARGS__, STEP_LOW | STEP_AGAIN, stream)                  \
     : steps == (STEP_LOW | STEP_AGAIN | STEP_AWAY) ? loop(__VA_ARGS__, STEP_LOW | STEP_AGAIN | STEP_AWAY, stream)     \
                                                   : loop(__VA_ARGS__, steps, stream))

TARGET static ptrdiff_t TIER(stage_s32)(const int32_t *x, int32_t *y, ptrdiff_t n, integer_row p, integer_ends e, int steps,
                                        int stream)
{
    return n < LANES / 4 ? 0 : BY_STEPS(TIER(loop_s32), x, y, n, p, e);
}

TARGET static ptrdiff_t TIER(stage_8)(const int32_t *x, uint8_t *c, ptrdiff_t n, integer_row p, code_ends e, int steps,
                                      int stream)
{
    return n < LANES ? 0 : BY_STEPS(TIER(loop_8), x, c, n, p, e);
}
#undef BY_STEPS

/* A row for each element, GROUP of them in a group: as many whole vectors as there are. */
TARGET static ptrdiff_t TIER(stage_each)(const int32_t *x, int32_t *y, ptrdiff_t n, const integer_group *g, integer_row p,
                                         integer_ends e, int steps)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w)
        store(y + i, TIER(ended)(TIER(high)(x + i, TIER(each_its_own)(g + i / GROUP, i, k), steps), e), 0);
    return i;
}

/* (x * m + term) >> shift in 64 bits. Loaded from one further on, the odd elements lie in the even lanes: cheaper than a
 * move, but x must have one element more than the vector. */
TARGET static inline vec TIER(whole)(const int32_t *x, vec m, vec term, vec shift)
{
    const vec even = add_s64(mul_even_s32(load(x), m), term);
    const vec odd = add_s64(mul_even_s32(load(x + 1), m), term);
    return sra_s32_lanes(weave_high_s32(even, odd), shift);
}

TARGET static inline vec TIER(whole_codes)(const int32_t *x, vec m, vec term, vec shift)
{
    const ptrdiff_t w = LANES / 4;
    return narrow_s32_u8(TIER(whole)(x, m, term, shift), TIER(whole)(x + w, m, term, shift),
                         TIER(whole)(x + 2 * w, m, term, shift), TIER(whole)(x + 3 * w, m, term, shift));
}

/* x * m + term in float32, rounded to an integer */
TARGET static inline vec TIER(near)(const int32_t *x, vecf m, vecf term)
{
    return f32_to_s32_rint(fma_f32(s32_to_f32(load(x)), m, term));
}

/* In 2^-16 output steps float32 is off by less than 8: where the code does not saturate, the rounding of x and that of m
 * cost at most 2.01, those of t and of the sum 1.01, rint 0.5. With 8 added the result is 0 to 16 too high, so its high
 * half is the code unless its low half is below 16: one vector in 64, which is done again exactly. */
TARGET static ptrdiff_t TIER(by_float)(const int32_t *x, uint8_t *c, ptrdiff_t n, integer_row p, float m, float t, code_ends e,
                                       int stream)
{
    const ptrdiff_t w = LANES / 4;
    const vec sure = set1_s32(0xFFF0), multiplier = set1_s32((int32_t)p.multiplier), term = set1_s64(p.first.add);
    const vecf mf = set1_f32(m), tf = set1_f32(t);

    FOR_VECTORS(i, n, LANES, c) {
        const vec q0 = TIER(near)(x + i, mf, tf), q1 = TIER(near)(x + i + w, mf, tf);
        const vec q2 = TIER(near)(x + i + 2 * w, mf, tf), q3 = TIER(near)(x + i + 3 * w, mf, tf);
        vec code = in_order(narrow_s16_u8(narrow_high_s32_s16(q0, q1), narrow_high_s32_s16(q2, q3)));
        if (any_lacks_s32(q0, sure) | any_lacks_s32(q1, sure) | any_lacks_s32(q2, sure) | any_lacks_s32(q3, sure))
            code = TIER(whole_codes)(x + i, multiplier, term, set1_s32(p.first.right_shift - 32));
        store(c + i, clamp_codes(code, e), stream);
    }
    return done(n, stream);
}

/* Rows that leave x as it is: every sum below 2^63, every code below 2^31, the lowest of the type 0 by the term. The last
 * element is left to the plain loop. */
TARGET static ptrdiff_t TIER(stage_8_whole)(const int32_t *x, uint8_t *c, ptrdiff_t n, integer_row p, code_ends e, int stream)
{
    const int shift = p.first.right_shift;
    const double unit = 1.0 / (double)(1LL << (shift - 16)), t = (double)p.first.add * unit, m = p.multiplier * unit;
    const vec multiplier = set1_s32((int32_t)p.multiplier), term = set1_s64(p.first.add), rest = set1_s32(shift - 32);

    if (--n < LANES)
        return 0;
    /* t within 256 steps, no float beyond int32; AVX2, whose test of bits is a mask of bytes, is faster without */
    if (LANES == 64 && -(1 << 24) <= t && t <= 1 << 24 && -0.5 <= m && m <= 0.5)
        return TIER(by_float)(x, c, n, p, (float)m, (float)(t + 8), e, stream);
    FOR_VECTORS(i, n, LANES, c)
        store(c + i, clamp_codes(TIER(whole_codes)(x + i, multiplier, term, rest), e), stream);
    return done(n, stream);
}

#if LANES == 64
/* Any row: every step in 64 bits. */
TARGET static inline vec TIER(with_term)(vec x, integer_shift s)
{
    const vec odd = and_bits(_mm512_sra_epi64(x, _mm_cvtsi32_si128(s.right_shift)), set1_s64(s.if_odd));
    return add_s64(add_s64(x, set1_s64(s.add)), add_s64(and_bits(negative_s64(x), set1_s64(s.if_negative)), odd));
}

TARGET static inline vec TIER(clamp_s64)(vec x, int64_t lowest, int64_t highest)
{
    return _mm512_min_epi64(_mm512_max_epi64(x, set1_s64(lowest)), set1_s64(highest));
}

TARGET static inline vec TIER(wrap_s32)(vec x, int wraps)
{
    return wraps ? _mm512_cvtepi32_epi64(_mm512_cvtepi64_epi32(x)) : x;
}

TARGET static inline vec TIER(any_code)(vec x, integer_row p)
{
    vec near = leaves_x(p) ? x : _mm512_sub_epi64(TIER(clamp_s64)(x, p.lowest, p.highest), set1_s64(p.centre));
    near = p.left_shift ? TIER(wrap_s32)(sll_s64(near, p.left_shift), 1) : near;
    near = p.through_f32 ? _mm512_cvtps_epi64(_mm512_cvtepi64_ps(near)) : near;
    const vec product = TIER(wrap_s32)(_mm512_mullo_epi64(near, set1_s64(p.multiplier)), p.product_wraps);
    const vec rounded = TIER(wrap_s32)(TIER(with_term)(product, p.first), p.product_wraps);
    vec high = TIER(wrap_s32)(_mm512_sra_epi64(rounded, _mm_cvtsi32_si128(p.first.right_shift)), p.high_wraps);
    if (!does_nothing(p.second) || p.least != INT64_MIN || p.most != INT64_MAX) {
        high = TIER(clamp_s64)(TIER(with_term)(high, p.second), p.least, p.most);
        high = _mm512_sra_epi64(high, _mm_cvtsi32_si128(p.second.right_shift));
    }
    const vec code = TIER(wrap_s32)(add_s64(high, set1_s64(p.zero_point)), p.code_wraps);
    return TIER(clamp_s64)(code, p.lowest_code, p.highest_code);
}

TARGET static ptrdiff_t TIER(any_row)(const void *x, int is_wide, int32_t *y, ptrdiff_t n, integer_row p)
{
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const vec wide = is_wide ? load((const int64_t *)x + i)
                                 : _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)((const int32_t *)x + i)));
        _mm256_storeu_si256((__m256i *)(y + i), _mm512_cvtepi64_epi32(TIER(any_code)(wide, p)));
    }
    return i;
}
#endif

#else
#ifndef QOPS_INTEGER_STAGE_H
#define QOPS_INTEGER_STAGE_H
#include "core/integer_row.h"

#define QOPS_BODY "core/integer_stage.h"
#include "core/tiers.h"

#if QOPS_X86
#define ANY_ROW(tier, ...) ((tier) >= QOPS_AVX512 ? avx512_any_row(__VA_ARGS__) : 0)
#else
#define ANY_ROW(tier, ...) 0
#endif

static inline ptrdiff_t stage_s64__simd(int tier, const int64_t *x, int32_t *y, ptrdiff_t n, integer_row p)
{
    return ANY_ROW(tier, x, 1, y, n, p);
}

static inline ptrdiff_t stage_s32__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n, integer_row p, int stream)
{
    const int steps = steps_of(p);
    integer_ends e;
    return steps >= 0 && whole_range(p) && has_integer_ends(p, &e) ? RUN_TIER(tier, stage_s32, x, y, n, p, e, steps, stream)
                                                                   : ANY_ROW(tier, x, 0, y, n, p);
}

static inline ptrdiff_t stage_each__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n, const integer_group *g,
                                         integer_row p, int steps)
{
    integer_ends e;
    return has_integer_ends(p, &e) ? RUN_TIER(tier, stage_each, x, y, n, g, p, e, steps) : 0;
}

static inline ptrdiff_t stage_8__simd(int tier, const int32_t *x, void *c, int is_signed, ptrdiff_t n, integer_row p,
                                      int stream)
{
    const int steps = steps_of(p);
    code_ends e;
    if (steps < 0 || !has_code_ends(p.zero_point, p.lowest_code, p.highest_code, is_signed, &e) || p.code_wraps)
        return 0;
    integer_row once = p;
    if (whole_range(p) && to_whole(&once, e.zero))
        return RUN_TIER(tier, stage_8_whole, x, c, n, once, e, stream);
    return whole_range(p) || range_16(p) ? RUN_TIER(tier, stage_8, x, c, n, p, e, steps, stream) : 0;
}
#endif
#endif
