/* The loop of tensorflow_quantize.pyx, many lanes at a time, for codes of 8 and of 32 bits. */
#ifdef TIER

TARGET static inline vecf TIER(rounded)(vecf v, tf_rounding rounding)
{
    const vec sign = set1_s32(INT32_MIN);
    if (rounding == TF_HALF_EVEN)
        return rint_f32(v);
    if (rounding == TF_HALF_AWAY) /* the float32 before 0.5, with the sign of v */
        v = add_f32(v, TIER(floats)(or_bits(TIER(bits)(set1_f32(0.49999997f)), and_bits(TIER(bits)(v), sign))));
    return trunc_f32(v);
}

TARGET static inline vec TIER(code)(const float *x, tf_quantizer p)
{
    const vecf near = min_f32(max_f32(load_f32(x), set1_f32(p.lowest_x)), set1_f32(p.highest_x));
    const vecf scaled = add_f32(mul_f32(sub_f32(near, set1_f32(p.minus)), set1_f32(p.scale)), set1_f32(p.plus));
    const vecf code = add_f32(TIER(rounded)(scaled, p.rounding), set1_f32(p.shift));
    return f32_to_s32_trunc(min_f32(max_f32(code, set1_f32(p.lowest)), set1_f32(p.highest)));
}

/* as C cuts an int32: not every mode cuts its codes itself */
TARGET static inline vec TIER(low_byte)(const float *x, tf_quantizer p)
{
    return and_bits(TIER(code)(x, p), set1_s32(0xFF));
}

TARGET static ptrdiff_t TIER(tf_quantize_8)(const float *x, uint8_t *c, ptrdiff_t n, tf_quantizer p, int stream)
{
    const ptrdiff_t w = LANES / 4;

    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c)
        store(c + i, narrow_s32_u8(TIER(low_byte)(x + i, p), TIER(low_byte)(x + i + w, p),
                                   TIER(low_byte)(x + i + 2 * w, p), TIER(low_byte)(x + i + 3 * w, p)), stream);
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(tf_quantize_32)(const float *x, int32_t *c, ptrdiff_t n, tf_quantizer p, int stream)
{
    if (n < LANES / 4)
        return 0;
    FOR_VECTORS(i, n, LANES / 4, c)
        store(c + i, TIER(code)(x + i, p), stream);
    return done(n, stream);
}

#else
#ifndef QOPS_TENSORFLOW_QUANTIZE_H
#define QOPS_TENSORFLOW_QUANTIZE_H
#include <stdint.h>

typedef enum { TF_HALF_AWAY, TF_HALF_EVEN, TF_TRUNCATE } tf_rounding;
typedef struct {
    float min, max;                 /* the range that is reported */
    float lowest_x, highest_x;      /* x is cut to these first */
    float minus, scale, plus, shift;
    float lowest, highest;          /* the code is cut to these last */
    tf_rounding rounding;
} tf_quantizer;

#define QOPS_BODY "tensorflow/quantize.h"
#include "core/tiers.h"

static inline ptrdiff_t tf_quantize_8__simd(int tier, const float *x, void *c, ptrdiff_t n, tf_quantizer p, int stream)
{
    return RUN_TIER(tier, tf_quantize_8, x, c, n, p, stream);
}

static inline ptrdiff_t tf_quantize_32__simd(int tier, const float *x, void *c, ptrdiff_t n, tf_quantizer p,
                                             int stream)
{
    return RUN_TIER(tier, tf_quantize_32, x, c, n, p, stream);
}
#endif
#endif
