/* The 8p8to32 loop of add.pyx, many lanes at a time. */
#ifdef TIER

/* Whether 0.5 + (q - zero) * m, one rounding an operation, is that rounded once for every code q. */
TARGET static int TIER(fuses)(int32_t zero, float m)
{
    static const uint8_t first[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int32_t off[LANES / 4], any = 0;
    vec differ = set1_s32(0);

    for (int code = 0; code < 256; code += LANES / 4) {
        const vecf x = s32_to_f32(sub_s32(add_s32(load_u8_s32(first), set1_s32(code)), set1_s32(zero)));
        const vecf apart = add_f32(set1_f32(0.5f), mul_f32(x, set1_f32(m))), fused = fma_f32(x, set1_f32(m), set1_f32(0.5f));
        differ = or_bits(differ, xor_bits(TIER(bits)(apart), TIER(bits)(fused)));
    }
    store(off, differ, 0);
    for (int j = 0; j < LANES / 4; j++)
        any |= off[j];
    return !any;
}

/* What an array long enough to try all codes first is added with: where float32 holds both constants, the codes need not
 * lose their zero points before they are multiplied. */
TARGET static add_fusion TIER(fusion)(add_s32 p, add_terms *t)
{
    const double ca = 0.5 - (double)p.za * p.ma, cb = 0 - (double)p.zb * p.mb;

    if (!TIER(fuses)(p.za, p.ma))
        return FUSED_NONE;
    if ((float)ca != ca || (float)cb != cb)
        return FUSED_A;
    *t = (add_terms){0, 0, p.ma, p.mb, (float)ca, (float)cb};
    return FUSED_BOTH;
}

TARGET static inline vecf TIER(less)(const uint8_t *p, int32_t zero)
{
    return s32_to_f32(sub_s32(load_u8_s32(p), set1_s32(zero)));
}

/* x, y: codes less their zero points. 1 * u + v: the units that multiply have less to do than those that add. */
TARGET static inline vec TIER(sum)(vecf x, vecf y, add_terms p, int fused_a, int fused_b)
{
    const vecf ma = set1_f32(p.ma), mb = set1_f32(p.mb), ca = set1_f32(p.ca), cb = set1_f32(p.cb);
    const vecf u = fused_a ? fma_f32(x, ma, ca) : add_f32(ca, mul_f32(x, ma));
    const vecf v = fused_b ? fma_f32(y, mb, cb) : mul_f32(y, mb);
    return f32_to_s32_trunc(fma_f32(u, set1_f32(1), v));
}

/* LANES codes. All are widened first: what a sum waits for is then under way for four of them. */
TARGET static inline void TIER(add_once)(const uint8_t *a, const uint8_t *b, int32_t *c, add_terms p, int fused_a,
                                         int fused_b, int stream)
{
    const ptrdiff_t w = LANES / 4;
    const vecf x0 = TIER(less)(a, p.za), x1 = TIER(less)(a + w, p.za);
    const vecf x2 = TIER(less)(a + 2 * w, p.za), x3 = TIER(less)(a + 3 * w, p.za);
    const vecf y0 = TIER(less)(b, p.zb), y1 = TIER(less)(b + w, p.zb);
    const vecf y2 = TIER(less)(b + 2 * w, p.zb), y3 = TIER(less)(b + 3 * w, p.zb);
    store(c, TIER(sum)(x0, y0, p, fused_a, fused_b), stream);
    store(c + w, TIER(sum)(x1, y1, p, fused_a, fused_b), stream);
    store(c + 2 * w, TIER(sum)(x2, y2, p, fused_a, fused_b), stream);
    store(c + 3 * w, TIER(sum)(x3, y3, p, fused_a, fused_b), stream);
}

#define ADD_ALL(fused_a, fused_b) \
    FOR_VECTORS(i, n, LANES, c) TIER(add_once)(a + i, b + i, c + i, t, fused_a, fused_b, stream);

TARGET static ptrdiff_t TIER(add_u8u8_s32)(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_s32 p,
                                           int stream)
{
    add_terms t = {p.za, p.zb, p.ma, p.mb, 0.5f, 0};
    const add_fusion fusion = n >= WORTH_CHECKING ? TIER(fusion)(p, &t) : FUSED_NONE;

    if (n < LANES)
        return 0;
    BY_FUSION(fusion, ADD_ALL)
    return done(n, stream);
}
#undef ADD_ALL

#else
#ifndef QOPS_ADD_8P8TO32_H
#define QOPS_ADD_8P8TO32_H
#include <stdint.h>

enum { WORTH_CHECKING = 4096 }; /* elements, for which all codes are tried first */
typedef enum { FUSED_NONE, FUSED_A, FUSED_BOTH } add_fusion; /* whose product and sum are rounded once */
#define BY_FUSION(fusion, ADD)          \
    if ((fusion) == FUSED_BOTH) {       \
        ADD(1, 1)                       \
    } else if ((fusion) == FUSED_A) {   \
        ADD(1, 0)                       \
    } else {                            \
        ADD(0, 0)                       \
    }
typedef struct { int32_t za, zb; float ma, mb, max; } add_s32;
typedef struct { int32_t za, zb; float ma, mb, ca, cb; } add_terms; /* ca + (a - za) * ma, cb + (b - zb) * mb */

#define QOPS_BODY "frontdoor/add_8p8to32.h"
#include "core/tiers.h"
#if QOPS_X86
#include "frontdoor/add_8p8to32_vbmi.h"
#else
#define vbmi_add_u8u8_s32(...) 0
#endif

static inline ptrdiff_t add_u8u8_s32__simd(int tier, const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n,
                                           add_s32 p, int stream)
{
    if (tier >= QOPS_VBMI && n >= WORTH_CHECKING && p.zb <= 255) /* as za always is */
        return vbmi_add_u8u8_s32(a, b, c, n, p, stream);
    return RUN_TIER(tier, add_u8u8_s32, a, b, c, n, p, stream);
}
#endif
#endif
