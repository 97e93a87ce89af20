/* The two loops of multiply_shift.pyx that have a SIMD body. */
#ifdef TIER

/* low 32 bits of (x * multiplier + half) >> shift, shift <= 32: no bit of the sign is needed */
TARGET static inline vec TIER(scaled_low)(vec x, vec multiplier, vec half, int shift)
{
    const vec even = srl_s64(add_s64(mul_even_s32(x, multiplier), half), shift);
    const vec odd = sll_s64(add_s64(mul_even_s32(odd_to_even(x), multiplier), half), 32 - shift);
    return weave_s32(even, odd);
}

TARGET static ptrdiff_t TIER(multiply_shift_once)(const int32_t *x, int32_t *y, ptrdiff_t n, int32_t multiplier,
                                                  int right_shift, int half_up, int stream)
{
    const vec m = set1_s32(multiplier);

    if (n < LANES / 4)
        return 0;
    if (right_shift <= 32) {
        const vec half = set1_s64(half_up && right_shift ? 1LL << (right_shift - 1) : 0);
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, TIER(scaled_low)(load(x + i), m, half, right_shift), stream);
    } else { /* half is a multiple of 2^32: the high words alone give the same */
        const vec half = set1_s32(half_up ? 1 << (right_shift - 33) : 0);
        FOR_VECTORS(i, n, LANES / 4, y)
            store(y + i, sra_s32_by(add_s32(mulhi_s32(load(x + i), m), half), right_shift - 32), stream);
    }
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(multiply_shift_gemmlowp)(const int32_t *x, int32_t *y, ptrdiff_t n, int32_t multiplier,
                                                      int left_shift, int right_shift, int stream)
{
    const vec m = set1_s32(multiplier), half = set1_s64(1LL << 30);

    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, y) {
        vec high = TIER(scaled_low)(sll_s32(load(x + i), left_shift), m, half, 31);
        if (right_shift) { /* half away from 0: one less below 0, then half up: (h + 1) >> 1, which h = 2^31 - 1 must not wrap */
            high = sra_s32_by(add_s32(high, sra_s32(high, 31)), right_shift - 1);
            high = sub_s32(high, sra_s32(high, 1));
        }
        store(y + i, high, stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_MULTIPLY_SHIFT_H
#define QOPS_MULTIPLY_SHIFT_H

#define QOPS_BODY "core/multiply_shift.h"
#include "core/tiers.h"

static inline ptrdiff_t multiply_shift_once__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n,
                                                  int32_t multiplier, int right_shift, int half_up, int stream)
{
    return RUN_TIER(tier, multiply_shift_once, x, y, n, multiplier, right_shift, half_up, stream);
}

static inline ptrdiff_t multiply_shift_gemmlowp__simd(int tier, const int32_t *x, int32_t *y, ptrdiff_t n,
                                                      int32_t multiplier, int left_shift, int right_shift, int stream)
{
    return RUN_TIER(tier, multiply_shift_gemmlowp, x, y, n, multiplier, left_shift, right_shift, stream);
}
#endif
#endif
