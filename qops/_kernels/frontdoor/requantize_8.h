/* The loop of requantize_8.pyx, a vector at a time. */
#ifdef TIER

/* round_half_even(q * of_code + added) for as many codes as a vector has s32 lanes. Narrowing the result clamps it. */
TARGET static inline vec TIER(recode_quarter)(const uint8_t *q, vec flip, const double *of_code, const double *added,
                                             ptrdiff_t half)
{
    const vecf x = s32_to_f32(xor_bits(load_u8_s32(q), flip));
    const vecd low = add_f64(mul_f64(low_f32_f64(x), load_f64(of_code)), load_f64(added));
    const vecd high = add_f64(mul_f64(high_f32_f64(x), load_f64(of_code + half)), load_f64(added + half));
    return f64_to_s32_rint(low, high);
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(recode_loop)(
    const uint8_t *q, uint8_t flip, const double *of_code, const double *added, uint8_t *c, uint8_t c_flip, ptrdiff_t n,
    int each)
{
    enum { MANY = LANES / 4 };
    const vec flips = set1_s32(flip), c_flips = set1_u8(c_flip);
    const ptrdiff_t half = each ? MANY / 2 : 0, quarter = 2 * half;
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES, of_code += 4 * quarter, added += 4 * quarter) {
        const vec a = TIER(recode_quarter)(q + i, flips, of_code, added, half);
        const vec b = TIER(recode_quarter)(q + i + MANY, flips, of_code + quarter, added + quarter, half);
        const vec d = TIER(recode_quarter)(q + i + 2 * MANY, flips, of_code + 2 * quarter, added + 2 * quarter, half);
        const vec e = TIER(recode_quarter)(q + i + 3 * MANY, flips, of_code + 3 * quarter, added + 3 * quarter, half);
        store(c + i, xor_bits(narrow_s32_u8(a, b, d, e), c_flips));
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

enum { VECTOR = 64, NUMBERS = VECTOR / 8 };

#define QOPS_BODY "frontdoor/requantize_8.h"
#include "lanes/tiers.h"

SIMD(recode_8, (const uint8_t *q, uint8_t flip, const double *of_code, const double *added, int each, uint8_t *c,
                uint8_t c_flip, ptrdiff_t n),
     q, flip, of_code, added, each, c, c_flip, n)
#endif
#endif
