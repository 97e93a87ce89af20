/* The 16-bit loop of add.pyx, a vector at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(add_u8u8_u8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_u8 p,
                                          code_flips flips, int16_t *lowest, int16_t *highest)
{
    const vec ka = set1_s16((int16_t)p.ka), kb = set1_s16((int16_t)p.kb), offset = set1_s16(p.offset);
    const vec flip_a = set1_u8(flips.a), flip_b = set1_u8(flips.b), flip_c = set1_u8(flips.c);
    vec low = set1_s16(INT16_MAX), high = set1_s16(INT16_MIN);

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec qa = xor_bits(load(a + i), flip_a), qb = xor_bits(load(b + i), flip_b);
        const vec xl = add_s16(offset, add_s16(mulhi_u16(widen_lo_u8_s16_shl8(qa), ka),
                                               mulhi_u16(widen_lo_u8_s16_shl8(qb), kb)));
        const vec xh = add_s16(offset, add_s16(mulhi_u16(widen_hi_u8_s16_shl8(qa), ka),
                                               mulhi_u16(widen_hi_u8_s16_shl8(qb), kb)));
        low = min_s16(low, min_s16(xl, xh));
        high = max_s16(high, max_s16(xl, xh));
        store(c + i, xor_bits(narrow_s16_u8(sra_s16(xl, 5), sra_s16(xh, 5)), flip_c));
    }
    DRAW_OUT(int16_t, low, high, lowest, highest);
    return n;
}

#else
#ifndef QOPS_ADD_H
#define QOPS_ADD_H
#include "frontdoor/passes.h"

typedef struct { uint16_t ka, kb; int16_t offset; } add_u8;

#define QOPS_BODY "frontdoor/add.h"
#include "lanes/tiers.h"

SIMD(add_u8u8_u8, (const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_u8 p, code_flips flips,
                   int16_t *lowest, int16_t *highest),
     a, b, c, n, p, flips, lowest, highest)
#endif
#endif
