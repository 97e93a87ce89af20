/* The loop of dequantize.pyx, many lanes at a time. */
#ifdef TIER

#if QOPS_ARM
/* one load for four vectors */
static inline void TIER(wide_codes)(const uint8_t *c, vec *q)
{
    const uint8x16_t codes = vld1q_u8(c);
    const uint16x8_t low = vmovl_u8(vget_low_u8(codes)), high = vmovl_high_u8(codes);
    q[0] = (vec)vmovl_u16(vget_low_u16(low));
    q[1] = (vec)vmovl_high_u16(low);
    q[2] = (vec)vmovl_u16(vget_low_u16(high));
    q[3] = (vec)vmovl_high_u16(high);
}
#else
TARGET static inline void TIER(wide_codes)(const uint8_t *c, vec *q)
{
    q[0] = load_u8_s32(c);
}
#endif

/* x = (c + plus) * scale + base. Each caller passes constants for `has_base` and `ties_away`, of which at most one is 1, so
 * the compiler makes a loop for each case. ties_away: 2^-40 of the product is added to it before it is rounded once. That
 * moves only ties, and moves them away from zero. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(values)(const uint8_t *c, float *x, ptrdiff_t n,
                                                                          dequantize_params p, int has_base, int ties_away)
{
    const vecf plus = set1_f32(p.plus), scale = set1_f32(p.scale), base = set1_f32(p.base);
    const vecf away = set1_f32(p.scale * 0x1p-40f);
    vec q[CODE_VECTORS];
    FOR_VECTORS(i, n, CODE_VECTORS * (LANES / 4), x) {
        TIER(wide_codes)(c + i, q);
        for (int j = 0; j < CODE_VECTORS; j++) {
            const vecf code = add_f32(s32_to_f32(q[j]), plus);
            const vecf value = ties_away ? fma_f32(code, scale, mul_f32(code, away)) : mul_f32(code, scale);
            store_f32(x + i + j * (LANES / 4), has_base ? add_f32(value, base) : value);
        }
    }
    return n;
}

TARGET static ptrdiff_t TIER(dequantize_u8_f32)(const uint8_t *c, float *x, ptrdiff_t n, dequantize_params p)
{
    if (n < CODE_VECTORS * (LANES / 4))
        return 0;
    if (p.ties_away)
        return TIER(values)(c, x, n, p, 0, 1);
    if (p.base == 0 && p.scale > 0) /* no product is -0, which adding 0 would change */
        return TIER(values)(c, x, n, p, 0, 0);
    return TIER(values)(c, x, n, p, 1, 0);
}

#else
#ifndef QOPS_DEQUANTIZE_H
#define QOPS_DEQUANTIZE_H
#include "machine/cpu.h"
#include <stdint.h>

enum { CODE_VECTORS = QOPS_ARM ? 4 : 1 }; /* at a time */
typedef struct { float plus, scale, base; int32_t through_int32, ties_away; } dequantize_params;

#define QOPS_BODY "stage/dequantize.h"
#include "lanes/tiers.h"

SIMD(dequantize_u8_f32, (const uint8_t *c, float *x, ptrdiff_t n, dequantize_params p), c, x, n, p)
#endif
#endif
