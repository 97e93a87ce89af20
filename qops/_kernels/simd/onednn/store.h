/* The loops of onednn/store.pyx, many lanes at a time; a compiler puts them in lanes by itself. */
#ifdef TIER

#define LOOP(kernel, statement, ...)                             \
    TARGET static ptrdiff_t TIER(kernel)(__VA_ARGS__, ptrdiff_t n) \
    {                                                            \
        for (ptrdiff_t i = 0; i < n; i++)                        \
            statement;                                           \
        return n;                                                \
    }

#define CLAMP(lo, hi) (x[i] < (lo) ? (lo) : x[i] > (hi) ? (hi) : x[i])
LOOP(steps_to_u8, y[i] = (uint8_t)(int32_t)__builtin_rintf(CLAMP(0.0f, 255.0f)),
     const float *restrict x, uint8_t *restrict y)
LOOP(steps_to_s8, y[i] = (int8_t)(int32_t)__builtin_rintf(CLAMP(-128.0f, 127.0f)),
     const float *restrict x, int8_t *restrict y)
LOOP(steps_to_s32, y[i] = (int32_t)__builtin_rintf(CLAMP(-2147483648.0f, 2147483520.0f)), const float *x, int32_t *y)

TARGET static ptrdiff_t TIER(steps_nans)(const float *x, ptrdiff_t *found, ptrdiff_t n)
{
    int32_t nans = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        nans += x[i] != x[i];
    *found = nans;
    return n;
}

#undef CLAMP
#undef LOOP

#else
#ifndef QOPS_ONEDNN_STORE_H
#define QOPS_ONEDNN_STORE_H
#include <stdint.h>

#define QOPS_BODY "onednn/store.h"
#include "core/tiers.h"

#define nans__simd(tier, x, found, n) RUN_TIER(tier, steps_nans, x, found, n)
#define to_u8__simd(tier, x, y, n) RUN_TIER(tier, steps_to_u8, x, y, n)
#define to_s8__simd(tier, x, y, n) RUN_TIER(tier, steps_to_s8, x, y, n)
#define to_s32__simd(tier, x, y, n) RUN_TIER(tier, steps_to_s32, x, y, n)
#endif
#endif
