/* The loops of add.pyx, many lanes at a time. */
#ifdef TIER

TARGET static ptrdiff_t TIER(add_u8u8_u8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, add_u8 p,
                                          int16_t *lowest, int16_t *highest, int stream)
{
    const vec ka = set1_s16((int16_t)p.ka), kb = set1_s16((int16_t)p.kb), offset = set1_s16(p.offset);
    vec low = set1_s16(INT16_MAX), high = set1_s16(INT16_MIN);
    int16_t lows[LANES / 2], highs[LANES / 2];

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec qa = load(a + i), qb = load(b + i);
        const vec xl = add_s16(offset, add_s16(mulhi_u16(widen_lo_u8_s16_shl8(qa), ka),
                                               mulhi_u16(widen_lo_u8_s16_shl8(qb), kb)));
        const vec xh = add_s16(offset, add_s16(mulhi_u16(widen_hi_u8_s16_shl8(qa), ka),
                                               mulhi_u16(widen_hi_u8_s16_shl8(qb), kb)));
        low = min_s16(low, min_s16(xl, xh));
        high = max_s16(high, max_s16(xl, xh));
        store(c + i, narrow_s16_u8(sra_s16(xl, 5), sra_s16(xh, 5)), stream);
    }
    store(lows, low, 0);
    store(highs, high, 0);
    for (int j = 0; j < LANES / 2; j++) {
        *lowest = lows[j] < *lowest ? lows[j] : *lowest;
        *highest = highs[j] > *highest ? highs[j] : *highest;
    }
    return done(n, stream);
}

/* start + (q - zero) * m, one rounding an operation */
TARGET static inline vecf TIER(term)(vec q, vec zero, vecf m, vecf start)
{
    return add_f32(start, mul_f32(s32_to_f32(sub_s32(q, zero)), m));
}

/* q * m + constant, rounded once */
TARGET static inline vecf TIER(fused)(vec q, vecf m, vecf constant) { return fma_f32(s32_to_f32(q), m, constant); }

/* Whether term(q, zero, m, start) is fused(q - left, m, constant) for every code q. */
TARGET static int TIER(fuses)(int32_t zero, float m, float start, int32_t left, float constant)
{
    static const uint8_t first[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int32_t off[LANES / 4], any = 0;
    vec differ = set1_s32(0);

    for (int code = 0; code < 256; code += LANES / 4) {
        const vec q = add_s32(load_u8_s32(first), set1_s32(code));
        const vecf a = TIER(term)(q, set1_s32(zero), set1_f32(m), set1_f32(start));
        const vecf b = TIER(fused)(sub_s32(q, set1_s32(left)), set1_f32(m), set1_f32(constant));
        differ = or_bits(differ, xor_bits(TIER(bits)(a), TIER(bits)(b)));
    }
    store(off, differ, 0);
    for (int j = 0; j < LANES / 4; j++)
        any |= off[j];
    return !any;
}

/* x + y as 1 * x + y: the units that multiply have less to do here than those that add and convert */
#define SUM(x, y) f32_to_s32_trunc(fma_f32(x, set1_f32(1), y))

TARGET static ptrdiff_t TIER(add_u8u8_s32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_s32 p,
                                           int stream)
{
    const vec za = set1_s32(p.za), zb = set1_s32(p.zb);
    const vecf ma = set1_f32(p.ma), mb = set1_f32(p.mb), half = set1_f32(0.5f);
    const float ca = (float)(0.5 - (double)p.za * p.ma), cb = (float)(0 - (double)p.zb * p.mb);
    const int check = n >= WORTH_CHECKING;

    if (n < LANES / 4)
        return 0;
    if (check && TIER(fuses)(p.za, p.ma, 0.5f, 0, ca) && TIER(fuses)(p.zb, p.mb, 0, 0, cb)) {
        FOR_VECTORS(i, n, LANES / 4, c)
            store(c + i, SUM(TIER(fused)(load_u8_s32(a + i), ma, set1_f32(ca)),
                             TIER(fused)(load_u8_s32(b + i), mb, set1_f32(cb))), stream);
    } else if (check && TIER(fuses)(p.za, p.ma, 0.5f, p.za, 0.5f)) {
        FOR_VECTORS(i, n, LANES / 4, c)
            store(c + i, SUM(TIER(fused)(sub_s32(load_u8_s32(a + i), za), ma, half),
                             mul_f32(s32_to_f32(sub_s32(load_u8_s32(b + i), zb)), mb)), stream);
    } else {
        FOR_VECTORS(i, n, LANES / 4, c)
            store(c + i, SUM(TIER(term)(load_u8_s32(a + i), za, ma, half),
                             mul_f32(s32_to_f32(sub_s32(load_u8_s32(b + i), zb)), mb)), stream);
    }
    return done(n, stream);
}

#else
#ifndef QOPS_ADD_H
#define QOPS_ADD_H
#include <stdint.h>

enum { WORTH_CHECKING = 4096 }; /* elements, for which all codes are tried first */
typedef struct { uint16_t ka, kb; int16_t offset; } add_u8;
typedef struct { int32_t za, zb; float ma, mb, max; } add_s32;

#define QOPS_BODY "add.h"
#include "tiers.h"

static inline ptrdiff_t add_u8u8_u8__simd(int tier, const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n,
                                          add_u8 p, int16_t *lowest, int16_t *highest, int stream)
{
    return RUN_TIER(tier, add_u8u8_u8, a, b, c, n, p, lowest, highest, stream);
}

static inline ptrdiff_t add_u8u8_s32__simd(int tier, const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                           add_s32 p, int stream)
{
    return RUN_TIER(tier, add_u8u8_s32, a, b, c, n, p, stream);
}
#endif
#endif
