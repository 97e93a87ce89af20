/* The loops of uniform.pyx, a vector at a time. */
#ifdef TIER

/* TensorFlow rounds int32 codes to float32 before it uses them. */
TARGET static inline vec TIER(uniform_read)(const int32_t *q) { return f32_to_s32_trunc(s32_to_f32(load(q))); }

TARGET static ptrdiff_t TIER(uniform_near)(const int32_t *q, int32_t *y, ptrdiff_t n, int32_t zero_point)
{
    const vec zero = set1_s32(zero_point);

    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, y)
        store(y + i, sub_s32(TIER(uniform_read)(q + i), zero));
    return n;
}

TARGET static ptrdiff_t TIER(uniform_sum)(const int32_t *x, const int32_t *y, int32_t *z, ptrdiff_t n, uniform_params p)
{
    const vec zero = set1_s32(p.zero_point), lowest = set1_s32(p.lowest), highest = set1_s32(p.highest);

    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, z) {
        const vec sum = add_s32(TIER(uniform_read)(x + i), TIER(uniform_read)(y + i));
        store(z + i, min_s32(max_s32(add_s32(sum, zero), lowest), highest));
    }
    return n;
}

#else
#ifndef QOPS_UNIFORM_H
#define QOPS_UNIFORM_H
#include <stdint.h>

typedef struct { int32_t zero_point, lowest, highest; float scale; int typenum; } uniform_params;

#define QOPS_BODY "tensorflow/uniform.h"
#include "lanes/tiers.h"

SIMD(uniform_near, (const int32_t *q, int32_t *y, ptrdiff_t n, int32_t zero_point), q, y, n, zero_point)
SIMD(uniform_sum, (const int32_t *x, const int32_t *y, int32_t *z, ptrdiff_t n, uniform_params p), x, y, z, n, p)
#endif
#endif
