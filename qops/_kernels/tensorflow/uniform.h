/* The loops of uniform.pyx, a vector at a time. Quantized codes have 8 or 32 bits. */
#ifdef TIER

TARGET static inline vec TIER(uniform_code)(const float *x, uniform_params p)
{
    const vecf near = add_f32(mul_f32(load_f32(x), set1_f32(p.scale)), set1_f32(0.5f));
    const vec code = add_s32(f32_to_s32_trunc(floor_f32(near)), set1_s32(p.zero_point));
    return min_s32(max_s32(code, set1_s32(p.lowest)), set1_s32(p.highest));
}

TARGET static ptrdiff_t TIER(uniform_codes)(const float *x, void *codes, int bytes, ptrdiff_t n, uniform_params p)
{
    const vec low_byte = set1_s32(0xFF);
    const ptrdiff_t w = LANES / 4;
    uint8_t *c = codes;
    int32_t *y = codes;
    vec q[4];

    if (n < LANES / bytes)
        return 0;
    if (bytes == 4) {
        FOR_VECTORS(i, n, w, y)
            store(y + i, TIER(uniform_code)(x + i, p));
        return n;
    }
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++)
            q[j] = and_bits(TIER(uniform_code)(x + i + j * w, p), low_byte);
        store(c + i, narrow_s32_u8(q[0], q[1], q[2], q[3]));
    }
    return n;
}

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

SIMD(uniform_codes, (const float *x, void *c, int bytes, ptrdiff_t n, uniform_params p),
     x, c, bytes, n, p)
SIMD(uniform_near, (const int32_t *q, int32_t *y, ptrdiff_t n, int32_t zero_point), q, y, n, zero_point)
SIMD(uniform_sum, (const int32_t *x, const int32_t *y, int32_t *z, ptrdiff_t n, uniform_params p), x, y, z, n, p)
#endif
#endif
