/* The loop of requantize_8.pyx, a vector at a time. */
#ifdef TIER

/* A vector of numbers from number i on; unless `each`, all of them are the first. */
TARGET static inline __attribute__((always_inline)) vecd TIER(recode_numbers)(const double *x, ptrdiff_t i, int each)
{
    return each ? load_f64(x + i) : set1_f64(*x);
}

/* round_half_even(q * of_code + added) for as many codes as a vector has s32 lanes. Narrowing the result clamps it. */
TARGET static inline __attribute__((always_inline)) vec TIER(recode_quarter)(
    const uint8_t *q, vec flip, const double *of_code, const double *added, ptrdiff_t i, int each)
{
    enum { HALF = LANES / 8 };
    const vecf x = s32_to_f32(xor_bits(load_u8_s32(q + i), flip));
    const vecd low = mul_f64(low_f32_f64(x), TIER(recode_numbers)(of_code, i, each));
    const vecd high = mul_f64(high_f32_f64(x), TIER(recode_numbers)(of_code, i + HALF, each));
    return f64_to_s32_rint(add_f64(low, TIER(recode_numbers)(added, i, each)),
                           add_f64(high, TIER(recode_numbers)(added, i + HALF, each)));
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(recode_loop)(
    const uint8_t *q, uint8_t flip, const double *of_code, const double *added, uint8_t *c, uint8_t c_flip, ptrdiff_t n,
    int each)
{
    const vec flips = set1_s32(flip), c_flips = set1_u8(c_flip);
    ptrdiff_t i = 0;
    vec four[4];
    for (; i + LANES <= n; i += LANES) {
        for (int j = 0; j < 4; j++)
            four[j] = TIER(recode_quarter)(q, flips, of_code, added, i + j * (LANES / 4), each);
        store(c + i, xor_bits(narrow_s32_u8(four[0], four[1], four[2], four[3]), c_flips));
    }
    return i;
}

TARGET static ptrdiff_t TIER(recode_8)(const uint8_t *q, uint8_t flip, const double *of_code, const double *added,
                                       int each, uint8_t *c, uint8_t c_flip, ptrdiff_t n)
{
    return each ? TIER(recode_loop)(q, flip, of_code, added, c, c_flip, n, 1)
                : TIER(recode_loop)(q, flip, of_code, added, c, c_flip, n, 0);
}

#else
#ifndef QOPS_FRONTDOOR_REQUANTIZE_8_H
#define QOPS_FRONTDOOR_REQUANTIZE_8_H

enum { VECTOR = 64 };

#define QOPS_BODY "frontdoor/requantize_8.h"
#include "lanes/tiers.h"

SIMD(recode_8, (const uint8_t *q, uint8_t flip, const double *of_code, const double *added, int each, uint8_t *c,
                uint8_t c_flip, ptrdiff_t n),
     q, flip, of_code, added, each, c, c_flip, n)
#endif
#endif
