/* The speculative 8p8to8 loop of nnlib_add.pyx, many lanes at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(add_spec)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_spec p,
                                       int16_t *lowest, int16_t *highest, int stream)
{
    const vec ialpha = set1_s16(p.ialpha), ikappa = set1_s16(p.ikappa), centre = set1_s16(INT16_MIN);
    const vec recip = set1_s16(p.recip), offset = set1_s16(p.offset);
    vec low = set1_s16(INT16_MAX), high = set1_s16(INT16_MIN);

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec qa = load(a + i), qb = load(b + i);
        const vec tl = mulhrs_s16(add_s16(widen_lo_u8_s16_shl8(qa), centre), ialpha);
        const vec th = mulhrs_s16(add_s16(widen_hi_u8_s16_shl8(qa), centre), ialpha);
        const vec xl = add_s16(tl, add_s16(widen_lo_u8_s16(qb), ikappa));
        const vec xh = add_s16(th, add_s16(widen_hi_u8_s16(qb), ikappa));
        low = min_s16(low, min_s16(xl, xh));
        high = max_s16(high, max_s16(xl, xh));
        store(c + i, narrow_s16_u8(sub_s16(mulhrs_s16(xl, recip), offset), sub_s16(mulhrs_s16(xh, recip), offset)),
              stream);
    }
    DRAW_OUT(int16_t, low, high, lowest, highest);
    return n;
}

#else
#ifndef QOPS_NNLIB_ADD_H
#define QOPS_NNLIB_ADD_H
#include <stdint.h>

typedef struct { int16_t ialpha, ikappa, recip, offset; } add_spec;

#define QOPS_BODY "nnlib_add.h"
#include "tiers.h"

static inline ptrdiff_t add_spec__simd(int tier, const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n,
                                       add_spec p, int16_t *lowest, int16_t *highest, int stream)
{
    return RUN_TIER(tier, add_spec, a, b, c, n, p, lowest, highest, stream);
}
#endif
#endif
