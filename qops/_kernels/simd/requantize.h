/* The loop of requantize.pyx, many lanes at a time. */
#ifdef TIER

/* clamp(x) - centre fits 32 bits shifted, and offset alone decides the low half of the product */
TARGET static inline vec TIER(clamped)(const int32_t *x, requantize_32 p)
{
    const vec near = min_s32(max_s32(load(x), set1_s32(p.lowest)), set1_s32(p.highest));
    const vec shifted = sll_s32(sub_s32(near, set1_s32(p.centre)), p.left_shift);
    return sra_s32(add_s32(mulhi_s32(shifted, set1_s32(p.multiplier)), set1_s32(p.offset)), 19);
}

/* (x * multiplier + term) >> (51 - left_shift): the same before saturation, all in 64 bits. Loaded from one further on, the
 * odd elements lie in the even lanes, so x has one element more than the vector: a load is cheaper than a move. */
TARGET static inline vec TIER(unclamped)(const int32_t *x, vec multiplier, vec term, int right_shift)
{
    const vec even = add_s64(mul_even_s32(load(x), multiplier), term);
    const vec odd = add_s64(mul_even_s32(load(x + 1), multiplier), term);
    return sra_s32_by(weave_high_s32(even, odd), right_shift - 32);
}

TARGET static inline vec TIER(saturated)(vec a, vec b, vec c, vec d)
{
    return in_order(narrow_s16_u8(narrow_s32_s16(a, b), narrow_s32_s16(c, d)));
}

TARGET static ptrdiff_t TIER(requantize_s32_u8)(const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_32 p, int stream)
{
    const ptrdiff_t w = LANES / 4;
    const vec m = set1_s32(p.multiplier);

    if (--n < LANES) /* the last element is left to the plain loop */
        return 0;
    if (p.left_shift <= 19 && -(1 << 30) <= p.centre && p.centre <= 1 << 30) { /* every sum below 2^63, code below 2^31 */
        const vec term = set1_s64((int64_t)p.offset * (1LL << (32 - p.left_shift)) - (int64_t)p.centre * p.multiplier);
        const int shift = 51 - p.left_shift;
        FOR_VECTORS(i, n, LANES, c)
            store(c + i, TIER(saturated)(TIER(unclamped)(x + i, m, term, shift), TIER(unclamped)(x + i + w, m, term, shift),
                                         TIER(unclamped)(x + i + 2 * w, m, term, shift),
                                         TIER(unclamped)(x + i + 3 * w, m, term, shift)), stream);
    } else {
        FOR_VECTORS(i, n, LANES, c)
            store(c + i, TIER(saturated)(TIER(clamped)(x + i, p), TIER(clamped)(x + i + w, p),
                                         TIER(clamped)(x + i + 2 * w, p), TIER(clamped)(x + i + 3 * w, p)), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_REQUANTIZE_H
#define QOPS_REQUANTIZE_H
#include <stdint.h>

typedef struct { int32_t lowest, highest, centre, left_shift, multiplier, offset; } requantize_32;

#define QOPS_BODY "requantize.h"
#include "tiers.h"

static inline ptrdiff_t requantize_s32_u8__simd(int tier, const int32_t *x, uint8_t *c, ptrdiff_t n, requantize_32 p,
                                                int stream)
{
    return RUN_TIER(tier, requantize_s32_u8, x, c, n, p, stream);
}
#endif
#endif
