/* The loop of requantize.pyx, many lanes at a time. */
#ifdef TIER

/* clamp(x) - centre fits 32 bits shifted, and offset alone decides the low half of the product */
TARGET static inline vec TIER(clamped)(const int32_t *x, requantize_32 p)
{
    const vec near = min_s32(max_s32(load(x), set1_s32(p.lowest)), set1_s32(p.highest));
    const vec shifted = sll_s32(sub_s32(near, set1_s32(p.centre)), p.left_shift);
    return sra_s32(add_s32(mulhi_s32(shifted, set1_s32(p.multiplier)), set1_s32(p.offset)), 19);
}

/* (x * multiplier + term) >> (51 - left_shift): the same before saturation, all in 64 bits. Loaded from one further on,
 * the odd elements lie in the even lanes: cheaper than a move, but x must have one element more than the vector. */
TARGET static inline vec TIER(unclamped)(const int32_t *x, vec multiplier, vec term, int right_shift)
{
    const vec even = add_s64(mul_even_s32(load(x), multiplier), term);
    const vec odd = add_s64(mul_even_s32(load(x + 1), multiplier), term);
    return sra_s32_by(weave_high_s32(even, odd), right_shift - 32);
}

/* x * m + term in float32, rounded to an integer */
TARGET static inline vec TIER(near)(const int32_t *x, vecf m, vecf term)
{
    return f32_to_s32_rint(fma_f32(s32_to_f32(load(x)), m, term));
}

TARGET static inline vec TIER(exact)(const int32_t *x, vec multiplier, vec term, int right_shift)
{
    const ptrdiff_t w = LANES / 4;
    return narrow_s32_u8(TIER(unclamped)(x, multiplier, term, right_shift),
                         TIER(unclamped)(x + w, multiplier, term, right_shift),
                         TIER(unclamped)(x + 2 * w, multiplier, term, right_shift),
                         TIER(unclamped)(x + 3 * w, multiplier, term, right_shift));
}

/* In 2^-16 output steps float32 is off by less than 8: where the code does not saturate, the rounding of x and that of m
 * cost at most 2.01, those of t and of the sum 1.01, rint 0.5. With 8 added the result is 0 to 16 too high, so its high
 * half is the code unless its low half is below 16: one vector in 64, which is done again exactly. */
TARGET static ptrdiff_t TIER(by_float)(const int32_t *x, uint8_t *c, ptrdiff_t n, vec multiplier, vec term,
                                       int right_shift, float m, float t, int stream)
{
    const ptrdiff_t w = LANES / 4;
    const vec sure = set1_s32(0xFFF0);
    const vecf mf = set1_f32(m), tf = set1_f32(t);

    FOR_VECTORS(i, n, LANES, c) {
        const vec q0 = TIER(near)(x + i, mf, tf), q1 = TIER(near)(x + i + w, mf, tf);
        const vec q2 = TIER(near)(x + i + 2 * w, mf, tf), q3 = TIER(near)(x + i + 3 * w, mf, tf);
        vec code = in_order(narrow_s16_u8(narrow_high_s32_s16(q0, q1), narrow_high_s32_s16(q2, q3)));
        if (any_lacks_s32(q0, sure) | any_lacks_s32(q1, sure) | any_lacks_s32(q2, sure) | any_lacks_s32(q3, sure))
            code = TIER(exact)(x + i, multiplier, term, right_shift);
        store(c + i, code, stream);
    }
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(requantize_s32_u8)(const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_32 p, int stream)
{
    const ptrdiff_t w = LANES / 4;

    if (--n < LANES) /* the last element is left to the plain loop */
        return 0;
    if (p.left_shift <= 19 && -(1 << 30) <= p.centre && p.centre <= 1 << 30) { /* every sum below 2^63, code below 2^31 */
        const int64_t sum = (int64_t)p.offset * (1LL << (32 - p.left_shift)) - (int64_t)p.centre * p.multiplier;
        const int shift = 51 - p.left_shift;
        const double unit = 1.0 / (double)(1LL << (shift - 16)), t = (double)sum * unit, m = p.multiplier * unit;
        const vec multiplier = set1_s32(p.multiplier), term = set1_s64(sum);
        /* t within 256 steps, no float beyond int32; AVX2, whose test of bits is a mask of bytes, is faster without */
        if (LANES == 64 && -(1 << 24) <= t && t <= 1 << 24 && m <= 0.5)
            return TIER(by_float)(x, c, n, multiplier, term, shift, (float)m, (float)(t + 8), stream);
        FOR_VECTORS(i, n, LANES, c)
            store(c + i, TIER(exact)(x + i, multiplier, term, shift), stream);
    } else {
        FOR_VECTORS(i, n, LANES, c)
            store(c + i, narrow_s32_u8(TIER(clamped)(x + i, p), TIER(clamped)(x + i + w, p),
                                       TIER(clamped)(x + i + 2 * w, p), TIER(clamped)(x + i + 3 * w, p)), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_REQUANTIZE_H
#define QOPS_REQUANTIZE_H
#include <stdint.h>

typedef struct { int32_t lowest, highest, centre, left_shift, multiplier, offset; } requantize_32;

#define QOPS_BODY "frontdoor/requantize.h"
#include "core/tiers.h"

static inline ptrdiff_t requantize_s32_u8__simd(int tier, const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_32 p,
                                                int stream)
{
    return RUN_TIER(tier, requantize_s32_u8, x, c, n, p, stream);
}
#endif
#endif
