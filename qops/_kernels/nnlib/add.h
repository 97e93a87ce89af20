/* The speculative and the flat loop of nnlib/add.pyx, a vector at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(add_spec)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_spec p,
                                       int16_t *lowest, int16_t *highest)
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
        store(c + i, narrow_s16_u8(sub_s16(mulhrs_s16(xl, recip), offset), sub_s16(mulhrs_s16(xh, recip), offset)));
    }
    DRAW_OUT(int16_t, low, high, lowest, highest);
    return n;
}

/* |ka| and |kb| are below 2^14, so 16-bit lanes hold them, and |x| is below 2^22. The offset is cut to +-2^30: x + offset
 * saturates 16 bits in either case and cannot wrap. A saturated sum is beyond every code. */
TARGET static ptrdiff_t TIER(add_flat)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_flat p,
                                       int32_t *lowest, int32_t *highest)
{
    const int32_t most = 1 << 30, near = p.offset > most ? most : p.offset < -most ? -most : p.offset;
    const vec k = set1_s32(p.ka + p.kb * 65536), offset = set1_s32(near);
    const vec half = set1_s16((int16_t)(1 << p.right_shift >> 1));
    vec low = set1_s32(INT32_MAX), high = set1_s32(INT32_MIN);

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec qa = load(a + i), qb = load(b + i);
        const vec al = widen_lo_u8_s16(qa), ah = widen_hi_u8_s16(qa), bl = widen_lo_u8_s16(qb), bh = widen_hi_u8_s16(qb);
        const vec x0 = sra_s32_by(dot2_s16(interleave_lo_s16(al, bl), k), p.first_shift);
        const vec x1 = sra_s32_by(dot2_s16(interleave_hi_s16(al, bl), k), p.first_shift);
        const vec x2 = sra_s32_by(dot2_s16(interleave_lo_s16(ah, bh), k), p.first_shift);
        const vec x3 = sra_s32_by(dot2_s16(interleave_hi_s16(ah, bh), k), p.first_shift);
        const vec yl = narrow_s32_s16(add_s32(x0, offset), add_s32(x1, offset));
        const vec yh = narrow_s32_s16(add_s32(x2, offset), add_s32(x3, offset));
        low = min_s32(low, min_s32(min_s32(x0, x1), min_s32(x2, x3)));
        high = max_s32(high, max_s32(max_s32(x0, x1), max_s32(x2, x3)));
        store(c + i, narrow_s16_u8(sra_s16_by(add_sat_s16(yl, half), p.right_shift),
                                   sra_s16_by(add_sat_s16(yh, half), p.right_shift)));
    }
    DRAW_OUT(int32_t, low, high, lowest, highest);
    return n;
}

#else
#ifndef QOPS_NNLIB_ADD_H
#define QOPS_NNLIB_ADD_H
#include <stdint.h>

typedef struct { int16_t ialpha, ikappa, recip, offset; int copies; } add_spec;
typedef struct { int32_t ka, kb, zero, offset, first_shift, right_shift; float unit; int feasible; } add_flat;

#define QOPS_BODY "nnlib/add.h"
#include "lanes/tiers.h"

SIMD(add_spec, (const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_spec p, int16_t *lowest,
                int16_t *highest),
     a, b, c, n, p, lowest, highest)
SIMD(add_flat, (const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_flat p, int32_t *lowest,
                int32_t *highest),
     a, b, c, n, p, lowest, highest)
#endif
#endif
