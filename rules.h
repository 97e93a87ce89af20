#ifndef QOPS_RULES_H
#define QOPS_RULES_H
#include <math.h>
/* tflite-double: LiteRT 2.3 reference conv, depthwise, mul, add, quantize; TFLM 90b983c; CMSIS-NN 99f736a; gemmlowp 16e8662; ExecuTorch 1.5.1 Cortex-M eager ops */
/* fp32-even: XNNPACK 75db3c0, so LiteRT 2.3 by default; QNNPACK 7d2a4e9 fp32; onnxruntime 1.31, 1.32 QLinearConv and MatMul; LiteRT 2.3 XNNPACK int8 on 64-bit ARM; onnxruntime 1.32 QLinearConv and MatMul on 64-bit ARM; rknn-toolkit2 2.5.0 simulator conv; ExecuTorch 1.5.1 XNNPACK delegate */
/* average_pool ort-global: onnxruntime 1.31 and 1.32 QLinearGlobalAveragePool, QLinearAveragePool of the whole image */
#include <math.h>
#include <stdint.h>

static inline int64_t shifted_64(int64_t v, int n)
{
    return v >= 0 ? v >> n : ~(~v >> n);
}

static inline int32_t wrap_s32(int64_t v)
{
    const uint32_t low = (uint32_t)v;
    return low <= INT32_MAX ? (int32_t)low : -(int32_t)(UINT32_MAX - low) - 1;
}

static inline int32_t tflite_double(int32_t x, int32_t multiplier, int right_shift,
                             int32_t zero_point, int32_t lo, int32_t hi)
{
    const int left = right_shift < 31 ? 31 - right_shift : 0;
    const int rest = right_shift > 31 ? right_shift - 31 : 0;
    const int64_t product = (int64_t)wrap_s32((int64_t)((uint64_t)(int64_t)x << left)) * multiplier;
    const int64_t high = shifted_64(product + ((int64_t)1 << 31 >> 1), 31);
    int64_t y = shifted_64(high + ((int64_t)1 << rest >> 1) - (high < 0 && rest > 0), rest) + (int64_t)zero_point;
    return y < lo ? lo : y > hi ? hi : (int32_t)y;
}

static inline int32_t fp32_even(int32_t x, float scale, int32_t zero_point, int32_t lo, int32_t hi)
{
    float t = (float)x * scale;
    t = t < (float)(lo - zero_point) ? (float)(lo - zero_point) : t > (float)(hi - zero_point) ? (float)(hi - zero_point) : t;
    return (int32_t)rintf(t) + zero_point;
}

static inline int32_t average_pool_ort_global(int32_t sum, float scale, int32_t zero_point, int32_t lo, int32_t hi)
{
    return fp32_even(sum, scale, zero_point, lo, hi);
}

/* where the code at a place comes from: a sum over axes, the last one first; -1 for nowhere */
static inline int32_t place_of(const int32_t *places, const int32_t *sizes, int axes, int32_t at)
{
    int32_t from = 0;
    for (int i = 0; i < axes; i++) {
        if (places[at % sizes[i]] < 0)
            return -1;
        from += places[at % sizes[i]];
        places += sizes[i];
        at /= sizes[i];
    }
    return from;
}

#endif
