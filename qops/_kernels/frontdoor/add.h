/* The 16-bit loop of add.pyx, a vector at a time. */
#ifdef TIER

/* If `flipped`, the codes of b are flipped, to subtract. It is a constant in each call, so the sum has a loop of its own. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(add_loop)(const uint8_t *a, const uint8_t *b, uint8_t *c,
                                                                            ptrdiff_t n, add_u8 p, int flipped,
                                                                            int16_t *lowest, int16_t *highest, int stream)
{
    const vec all = set1_s16(-1), ka = set1_s16((int16_t)p.ka), kb = set1_s16((int16_t)p.kb), offset = set1_s16(p.offset);
    vec low = set1_s16(INT16_MAX), high = set1_s16(INT16_MIN);

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec qa = load(a + i), qb = flipped ? xor_bits(load(b + i), all) : load(b + i);
        const vec xl = add_s16(offset, add_s16(mulhi_u16(widen_lo_u8_s16_shl8(qa), ka),
                                               mulhi_u16(widen_lo_u8_s16_shl8(qb), kb)));
        const vec xh = add_s16(offset, add_s16(mulhi_u16(widen_hi_u8_s16_shl8(qa), ka),
                                               mulhi_u16(widen_hi_u8_s16_shl8(qb), kb)));
        low = min_s16(low, min_s16(xl, xh));
        high = max_s16(high, max_s16(xl, xh));
        store(c + i, narrow_s16_u8(sra_s16(xl, 5), sra_s16(xh, 5)), stream);
    }
    DRAW_OUT(int16_t, low, high, lowest, highest);
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(add_u8u8_u8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_u8 p, int flipped,
                                          int16_t *lowest, int16_t *highest, int stream)
{
    return flipped ? TIER(add_loop)(a, b, c, n, p, 1, lowest, highest, stream)
                  : TIER(add_loop)(a, b, c, n, p, 0, lowest, highest, stream);
}

#else
#ifndef QOPS_ADD_H
#define QOPS_ADD_H
#include <stdint.h>

typedef struct { uint16_t ka, kb; int16_t offset; } add_u8;

#define QOPS_BODY "frontdoor/add.h"
#include "lanes/tiers.h"

static inline ptrdiff_t add_u8u8_u8__simd(int tier, const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n,
                                          add_u8 p, int flipped, int16_t *lowest, int16_t *highest, int stream)
{
    return RUN_TIER(tier, add_u8u8_u8, a, b, c, n, p, flipped, lowest, highest, stream);
}
#endif
#endif
