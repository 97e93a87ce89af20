/* The loops of integer_stage.pyx, many lanes at a time: of rows whose steps fit 32 bits, and with AVX-512 of any row. */
#ifdef TIER

/* (clamp(x) - centre) << left_shift */
TARGET static inline vec TIER(moved)(const int32_t *x, integer_row p)
{
    const vec cut = min_s32(max_s32(load(x), set1_s32(p.lowest)), set1_s32(p.highest));
    return sll_s32(sub_s32(cut, set1_s32(p.centre)), p.left_shift);
}

/* (x * m + term) >> shift, which fits 32 bits. Up to a shift of 32 no bit of the sign is needed; above, the term is a
 * multiple of 2^32, so the high words alone give the same. */
TARGET static inline vec TIER(scaled_low)(vec x, vec m, int64_t term, int shift)
{
    const vec even = srl_s64(add_s64(mul_even_s32(x, m), set1_s64(term)), shift);
    const vec odd = sll_s64(add_s64(mul_even_s32(odd_to_even(x), m), set1_s64(term)), 32 - shift);
    return weave_s32(even, odd);
}

TARGET static inline vec TIER(scaled_high)(vec x, vec m, int64_t term, int shift)
{
    return sra_s32_by(add_s32(mulhi_s32(x, m), set1_s32((int32_t)(term >> 32))), shift - 32);
}

/* half away from 0: one less below 0, then half up: (h + 1) >> 1, which h = 2^31 - 1 must not wrap */
TARGET static inline vec TIER(half_away)(vec h, int shift)
{
    const vec halves = sra_s32_by(add_s32(h, sra_s32(h, 31)), shift - 1);
    return sub_s32(halves, sra_s32(halves, 1));
}

TARGET static ptrdiff_t TIER(stage_s32)(const int32_t *x, int32_t *y, ptrdiff_t n, integer_row p, int stream)
{
    const vec m = set1_s32((int32_t)p.multiplier);
    const int shift = p.first.right_shift, again = p.second.right_shift, left = p.left_shift;
    const int64_t term = p.first.add;

    if (n < LANES / 4)
        return 0;
    if (again)
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(half_away)(TIER(scaled_low)(sll_s32(load(x + i), left), m, term, shift), again), stream);
    else if (left)
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(scaled_low)(sll_s32(load(x + i), left), m, term, shift), stream);
    else if (shift <= 32)
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(scaled_low)(load(x + i), m, term, shift), stream);
    else
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(scaled_high)(load(x + i), m, term, shift), stream);
    return done(n, stream);
}

/* (x * m + term) >> shift in 64 bits. Loaded from one further on, the odd elements lie in the even lanes: cheaper than a
 * move, but x must have one element more than the vector. */
TARGET static inline vec TIER(whole)(const int32_t *x, vec m, vec term, int shift)
{
    const vec even = add_s64(mul_even_s32(load(x), m), term);
    const vec odd = add_s64(mul_even_s32(load(x + 1), m), term);
    return sra_s32_by(weave_high_s32(even, odd), shift - 32);
}

TARGET static inline vec TIER(whole_codes)(const int32_t *x, vec m, vec term, int shift)
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
TARGET static ptrdiff_t TIER(by_float)(const int32_t *x, uint8_t *c, ptrdiff_t n, integer_row p, float m, float t, vec flip,
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
            code = TIER(whole_codes)(x + i, multiplier, term, p.first.right_shift);
        store(c + i, xor_bits(code, flip), stream);
    }
    return done(n, stream);
}

/* Rows that leave x as it is: every sum below 2^63, every code below 2^31. The last element is left to the plain loop. */
TARGET static ptrdiff_t TIER(stage_8_whole)(const int32_t *x, uint8_t *c, ptrdiff_t n, integer_row p, vec flip, int stream)
{
    const int shift = p.first.right_shift;
    const double unit = 1.0 / (double)(1LL << (shift - 16)), t = (double)p.first.add * unit, m = p.multiplier * unit;
    const vec multiplier = set1_s32((int32_t)p.multiplier), term = set1_s64(p.first.add);

    if (--n < LANES)
        return 0;
    /* t within 256 steps, no float beyond int32; AVX2, whose test of bits is a mask of bytes, is faster without */
    if (LANES == 64 && -(1 << 24) <= t && t <= 1 << 24 && -0.5 <= m && m <= 0.5)
        return TIER(by_float)(x, c, n, p, (float)m, (float)(t + 8), flip, stream);
    FOR_VECTORS(i, n, LANES, c)
        store(c + i, xor_bits(TIER(whole_codes)(x + i, multiplier, term, shift), flip), stream);
    return done(n, stream);
}

/* the codes of int8 are those of uint8 with another first bit */
TARGET static ptrdiff_t TIER(stage_8)(const int32_t *x, uint8_t *c, ptrdiff_t n, integer_row p, int whole, int stream)
{
    const int32_t first = p.zero_point - p.lowest_code;
    const vec m = set1_s32((int32_t)p.multiplier), zero = set1_s16((int16_t)first);
    const vec flip = set1_s32(p.lowest_code ? (int32_t)0x80808080 : 0);
    const ptrdiff_t w = LANES / 4;
    vec q[4];

    if (whole)
        return TIER(stage_8_whole)(x, c, n, p, flip, stream);
    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++) {
            const vec near = TIER(moved)(x + i + j * w, p);
            q[j] = p.first.right_shift > 32 ? TIER(scaled_high)(near, m, p.first.add, p.first.right_shift)
                                            : TIER(scaled_low)(near, m, p.first.add, p.first.right_shift);
        }
        const vec lo = add_sat_s16(narrow_s32_s16(q[0], q[1]), zero), hi = add_sat_s16(narrow_s32_s16(q[2], q[3]), zero);
        store(c + i, xor_bits(in_order(narrow_s16_u8(lo, hi)), flip), stream);
    }
    return done(n, stream);
}

#if LANES == 64
/* Any row: every step in 64 bits. */
TARGET static inline vec TIER(with_term)(vec x, integer_shift s)
{
    const vec negative = and_bits(_mm512_srai_epi64(x, 63), set1_s64(s.if_negative));
    const vec odd = and_bits(_mm512_sra_epi64(x, _mm_cvtsi32_si128(s.right_shift)), set1_s64(s.if_odd));
    return add_s64(add_s64(x, set1_s64(s.add)), add_s64(negative, odd));
}

TARGET static inline vec TIER(clamp_s64)(vec x, int64_t lowest, int64_t highest)
{
    return _mm512_min_epi64(_mm512_max_epi64(x, set1_s64(lowest)), set1_s64(highest));
}

TARGET static inline vec TIER(any_code)(const int32_t *x, integer_row p)
{
    const vec cut = TIER(clamp_s64)(_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)x)), p.lowest, p.highest);
    const vec moved = sll_s64(_mm512_sub_epi64(cut, set1_s64(p.centre)), p.left_shift);
    const vec wrapped = _mm512_cvtepi32_epi64(_mm512_cvtepi64_epi32(moved));
    const vec near = p.through_f32 ? _mm512_cvtps_epi64(_mm512_cvtepi64_ps(wrapped)) : wrapped;
    const vec product = TIER(with_term)(_mm512_mullo_epi64(near, set1_s64(p.multiplier)), p.first);
    const vec high = _mm512_sra_epi64(product, _mm_cvtsi32_si128(p.first.right_shift));
    const vec sum = TIER(clamp_s64)(TIER(with_term)(high, p.second), p.least, p.most);
    const vec code = _mm512_sra_epi64(sum, _mm_cvtsi32_si128(p.second.right_shift));
    return TIER(clamp_s64)(add_s64(code, set1_s64(p.zero_point)), p.lowest_code, p.highest_code);
}

TARGET static ptrdiff_t TIER(any_row)(const int32_t *x, void *c, int bytes, ptrdiff_t n, integer_row p)
{
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const vec code = TIER(any_code)(x + i, p);
        if (bytes == 1)
            _mm_storel_epi64((__m128i *)((uint8_t *)c + i), _mm512_cvtepi64_epi8(code));
        else
            _mm256_storeu_si256((__m256i *)((int32_t *)c + i), _mm512_cvtepi64_epi32(code));
    }
    return i;
}
#endif

#else
#ifndef QOPS_INTEGER_STAGE_H
#define QOPS_INTEGER_STAGE_H
#include <stdint.h>

typedef struct { int64_t add, if_negative, if_odd; int32_t right_shift; } integer_shift;
typedef struct {
    int32_t lowest, highest, centre, left_shift, through_f32;
    int64_t multiplier;
    integer_shift first, second;
    int64_t least, most;
    int32_t zero_point, lowest_code, highest_code;
} integer_row;

#define QOPS_BODY "core/integer_stage.h"
#include "core/tiers.h"

#if QOPS_X86
#define ANY_ROW(tier, ...) ((tier) >= QOPS_AVX512 ? avx512_any_row(__VA_ARGS__) : 0)
#else
#define ANY_ROW(tier, ...) 0
#endif

/* what a row must be for its steps to fit 32 bits */
static inline int by_addend(integer_shift s) { return !s.if_negative && !s.if_odd; }
static inline int does_nothing(integer_shift s) { return by_addend(s) && !s.add && !s.right_shift; }
static inline int whole_range(integer_row p) { return p.least <= INT32_MIN && p.most >= INT32_MAX; }
static inline int range_16(integer_row p) { return p.least == INT16_MIN && p.most == INT16_MAX; }
static inline int leaves_x(integer_row p)
{
    return p.lowest == INT32_MIN && p.highest == INT32_MAX && !p.centre && !p.through_f32;
}

static inline ptrdiff_t stage_s32__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n, integer_row p, int stream)
{
    const int64_t m = p.multiplier, one = 1LL << p.first.right_shift, term = p.first.add, again = p.second.right_shift;
    const int bare = leaves_x(p) && by_addend(p.first) && whole_range(p) && !p.zero_point && p.lowest_code == INT32_MIN &&
                     p.highest_code == INT32_MAX;
    const int once = does_nothing(p.second) && !p.left_shift && (term == 0 || term == one >> 1) && -one < m && m <= one;
    const int gemmlowp = p.first.right_shift == 31 && term == 1 << 30 && -(1LL << 31) < m && m < 1LL << 31 &&
                         (does_nothing(p.second) || (p.second.if_negative == -1 && p.second.add == 1LL << (again - 1)));
    return bare && (once || gemmlowp) ? RUN_TIER(tier, stage_s32, x, y, n, p, stream) : ANY_ROW(tier, x, y, 4, n, p);
}

static inline ptrdiff_t stage_8__simd(int tier, const int32_t *x, void *c, ptrdiff_t n, integer_row p, int stream)
{
    const int shift = p.first.right_shift, first = p.zero_point - p.lowest_code;
    const int64_t term = p.first.add;
    const int once = by_addend(p.first) && does_nothing(p.second) && !p.through_f32 && shift >= 31 &&
                     INT32_MIN < p.multiplier && p.multiplier <= INT32_MAX && p.highest_code - p.lowest_code == 255 &&
                     (first ? range_16(p) && INT16_MIN <= first && first <= INT16_MAX : range_16(p) || whole_range(p));
    const int whole = leaves_x(p) && !p.left_shift && !first && shift > 31 && -(1LL << 62) < term && term < 1LL << 62;
    const int fits = shift > 32 ? !(term & UINT32_MAX) && -(1LL << 60) < term && term < 1LL << 60
                                : 0 <= term && term <= 1 << 30;
    return once && (whole || fits) ? RUN_TIER(tier, stage_8, x, c, n, p, whole, stream) : ANY_ROW(tier, x, c, 1, n, p);
}
#endif
#endif
