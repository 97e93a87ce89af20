/* The loop of onednn/steps.pyx, many lanes at a time: what is loaded goes through all steps before it is stored. */
#ifdef TIER

#define FOR_EACH(result)                                                                                      \
    for (int j = 0; j < vectors; j++) {                                                                       \
        const ptrdiff_t here = i + j * (LANES / 4);                                                           \
        const vecf value = v[j], operand = s->values ? load_f32(s->values + at + here) : set1_f32(s->factor); \
        v[j] = result;                                                                                        \
    }

/* `vectors`, a constant of the calls, of them from element i on; `at` is the number of the first operand. */
TARGET static inline __attribute__((always_inline)) void TIER(some_steps)(const int32_t *sums, float *x, ptrdiff_t i,
                                                                         const float_step *steps, ptrdiff_t count,
                                                                         const float *old, ptrdiff_t at, const int vectors)
{
    vecf v[4];
    for (int j = 0; j < vectors; j++)
        v[j] = sums ? s32_to_f32(load(sums + i + j * (LANES / 4))) : load_f32(x + i + j * (LANES / 4));
    for (const float_step *s = steps; s < steps + count; s++) {
        switch (s->kind) {
        case STEP_ADD: FOR_EACH(add_f32(value, operand)) break;
        case STEP_MULTIPLY: FOR_EACH(mul_f32(value, operand)) break;
        case STEP_DIVIDE: FOR_EACH(div_f32(value, operand)) break;
        case STEP_SUM: FOR_EACH(add_f32(value, mul_f32(operand, load_f32(old + here)))) break;
        case STEP_FMA: FOR_EACH(fma_f32(load_f32(old + here), operand, value)) break;
        case STEP_RELU: FOR_EACH(((void)operand, max_f32(value, set1_f32(0)))) break; /* the last one beside NaN, or -0 */
        case STEP_LEAK:
            if (s->factor <= 1)
                FOR_EACH(max_f32(value, mul_f32(operand, value)))
            else
                FOR_EACH(min_f32(value, mul_f32(operand, value)))
        }
    }
    for (int j = 0; j < vectors; j++)
        store_f32(x + i + j * (LANES / 4), v[j], 0);
}

TARGET static ptrdiff_t TIER(steps)(const int32_t *sums, float *x, ptrdiff_t n, const float_step *steps, ptrdiff_t count,
                                    const float *old, ptrdiff_t at)
{
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES)
        TIER(some_steps)(sums, x, i, steps, count, old, at, 4);
    for (; i + LANES / 4 <= n; i += LANES / 4)
        TIER(some_steps)(sums, x, i, steps, count, old, at, 1);
    return i;
}
#undef FOR_EACH

#else
#ifndef QOPS_ONEDNN_STEPS_H
#define QOPS_ONEDNN_STEPS_H
#include <stddef.h>
#include <stdint.h>

typedef enum { STEP_ADD, STEP_MULTIPLY, STEP_DIVIDE, STEP_RELU, STEP_LEAK, STEP_SUM, STEP_FMA } step_kind;
typedef struct {
    step_kind kind;
    const float *values;
    ptrdiff_t size;
    float factor;
} float_step;

#define QOPS_BODY "onednn/steps.h"
#include "core/tiers.h"

static inline ptrdiff_t steps__simd(int tier, const int32_t *sums, float *x, ptrdiff_t n, const float_step *steps,
                                    ptrdiff_t count, const float *old, ptrdiff_t at)
{
    return RUN_TIER(tier, steps, sums, x, n, steps, count, old, at);
}
#endif
#endif
