/* The 8-bit loop of mul.pyx, many lanes at a time: in 32 bits, which hold every sum though not every term. */
#ifdef TIER

TARGET static ptrdiff_t TIER(mul_u8u8_u8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, mul_terms p,
                                          int32_t *lowest, int32_t *highest, int stream)
{
    const vec k = set1_s32((int32_t)p.k), ka = set1_s32((int32_t)p.ka);
    const vec kb = set1_s32((int32_t)p.kb), kab = set1_s32((int32_t)p.kab);
    const ptrdiff_t w = LANES / 4;
    vec low = set1_s32(INT32_MAX), high = set1_s32(INT32_MIN), q[4];

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++) {
            const vec qa = load_u8_s32(a + i + j * w), qb = load_u8_s32(b + i + j * w);
            const vec of_b = add_s32(k, mullo_s32(qb, kb)), of_a = add_s32(ka, mullo_s32(qb, kab));
            const vec x = add_s32(of_b, mullo_s32(qa, of_a));
            low = min_s32(low, x);
            high = max_s32(high, x);
            q[j] = sra_s32(x, 20);
        }
        store(c + i, narrow_s32_u8(q[0], q[1], q[2], q[3]), stream);
    }
    DRAW_OUT(int32_t, low, high, lowest, highest);
    return done(n, stream);
}

#else
#ifndef QOPS_FRONTDOOR_MUL_H
#define QOPS_FRONTDOOR_MUL_H
#include <stdint.h>

typedef struct { int64_t k, ka, kb, kab; } mul_terms;

#define QOPS_BODY "frontdoor/mul.h"
#include "core/tiers.h"

static inline ptrdiff_t mul_u8u8_u8__simd(int tier, const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n,
                                          mul_terms p, int32_t *lowest, int32_t *highest, int stream)
{
    return RUN_TIER(tier, mul_u8u8_u8, a, b, c, n, p, lowest, highest, stream);
}
#endif
#endif
