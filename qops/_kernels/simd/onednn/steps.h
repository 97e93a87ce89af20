/* The loops of onednn/steps.pyx, many lanes at a time. Each loop is one operation on floats, which the compiler turns into
 * vector code by itself. It must not fuse operations; setup.py tells it so. */
#ifdef TIER

#define LOOP(kernel, statement, ...)                             \
    TARGET static ptrdiff_t TIER(kernel)(__VA_ARGS__, ptrdiff_t n) \
    {                                                            \
        for (ptrdiff_t i = 0; i < n; i++)                        \
            statement;                                           \
        return n;                                                \
    }

LOOP(steps_convert, x[i] = (float)s[i], const int32_t *s, float *x)
LOOP(steps_add, x[i] = x[i] + v[i], float *restrict x, const float *restrict v)
LOOP(steps_multiply, x[i] = x[i] * v[i], float *restrict x, const float *restrict v)
LOOP(steps_divide, x[i] = x[i] / v[i], float *restrict x, const float *restrict v)
LOOP(steps_add_one, x[i] = x[i] + v, float *x, float v)
LOOP(steps_multiply_one, x[i] = x[i] * v, float *x, float v)
LOOP(steps_divide_one, x[i] = x[i] / v, float *x, float v)
LOOP(steps_relu, x[i] = x[i] > 0 ? x[i] : 0, float *x)
LOOP(steps_leak, { const float low = alpha * x[i]; x[i] = x[i] > 0 ? x[i] : low; }, float *x, float alpha)
LOOP(steps_sum, x[i] = x[i] + scale * old[i], float *restrict x, const float *restrict old, float scale)
LOOP(steps_fma, x[i] = __builtin_fmaf(old[i], scale, x[i]), float *restrict x, const float *restrict old, float scale)

#undef LOOP

#else
#ifndef QOPS_ONEDNN_STEPS_H
#define QOPS_ONEDNN_STEPS_H
#include <stdint.h>

#define QOPS_BODY "onednn/steps.h"
#include "core/tiers.h"

#define convert__simd(tier, s, x, n) RUN_TIER(tier, steps_convert, s, x, n)
#define add__simd(tier, x, v, n) RUN_TIER(tier, steps_add, x, v, n)
#define multiply__simd(tier, x, v, n) RUN_TIER(tier, steps_multiply, x, v, n)
#define divide__simd(tier, x, v, n) RUN_TIER(tier, steps_divide, x, v, n)
#define add_one__simd(tier, x, v, n) RUN_TIER(tier, steps_add_one, x, v, n)
#define multiply_one__simd(tier, x, v, n) RUN_TIER(tier, steps_multiply_one, x, v, n)
#define divide_one__simd(tier, x, v, n) RUN_TIER(tier, steps_divide_one, x, v, n)
#define relu__simd(tier, x, n) RUN_TIER(tier, steps_relu, x, n)
#define leak__simd(tier, x, alpha, n) RUN_TIER(tier, steps_leak, x, alpha, n)
#define sum__simd(tier, x, old, scale, n) RUN_TIER(tier, steps_sum, x, old, scale, n)
#define fma__simd(tier, x, old, scale, n) RUN_TIER(tier, steps_fma, x, old, scale, n)
#endif
#endif
