/* The loop of nnlib/quantize.pyx, a vector at a time. */
#ifdef TIER

/* code = (aligned mantissa of x + offset) * scaling >> 24. Sums are cut to 2^21 - 1, whose code is far beyond 255 too. Then
 * a sum can be shifted left by 8, and the high half (>> 32) of the product of that is the shift by 24. */
TARGET static inline vec TIER(mantissa_code)(const float *x, vec common_exponent, vec offset, vec scaling)
{
    const vec b = load(x), six_bits = set1_s32(63), sign = set1_s32(32);
    const vec exponent = and_bits(sra_s32(b, 23), set1_s32(0xFF));
    const vec right = min_s32(sub_s32(common_exponent, exponent), set1_s32(31));
    const vec shift = sub_s32(xor_bits(and_bits(right, six_bits), sign), sign);
    const vec mantissa = or_bits(and_bits(b, set1_s32(0x7FFFFF)), set1_s32(0x800000));
    const vec left = sub_s32(set1_s32(0), shift);
    const vec aligned = or_bits(srl_s32_lanes(mantissa, shift), sll_s32_lanes(mantissa, left));
    const vec negative = sra_s32(b, 31);
    const vec acc = add_s32(sub_s32(xor_bits(aligned, negative), negative), offset);
    const vec near = min_s32(max_s32(acc, set1_s32(0)), set1_s32((1 << 21) - 1));
    return mulhi_s32(sll_s32(near, 8), scaling);
}

TARGET static ptrdiff_t TIER(quantize_mantissas)(const float *x, uint8_t *c, ptrdiff_t n, quantize_f32 p)
{
    const vec common = set1_s32(p.common_exponent), offset = set1_s32(p.offset), scaling = set1_s32(p.scaling);
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c)
        store(c + i, narrow_s32_u8(TIER(mantissa_code)(x + i, common, offset, scaling),
                                   TIER(mantissa_code)(x + i + w, common, offset, scaling),
                                   TIER(mantissa_code)(x + i + 2 * w, common, offset, scaling),
                                   TIER(mantissa_code)(x + i + 3 * w, common, offset, scaling)));
    return n;
}

#else
#ifndef QOPS_NNLIB_QUANTIZE_H
#define QOPS_NNLIB_QUANTIZE_H
#include <stdint.h>

typedef struct { int32_t common_exponent, offset, scaling; float min, max; } quantize_f32;

#define QOPS_BODY "nnlib/quantize.h"
#include "lanes/tiers.h"

SIMD(quantize_mantissas, (const float *x, uint8_t *c, ptrdiff_t n, quantize_f32 p), x, c, n, p)
#endif
#endif
