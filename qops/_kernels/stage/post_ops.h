/* The loops of post_ops.pyx, a vector at a time. A vector goes through all operations before it is stored. */
#ifdef TIER

#define FOR_EACH(result)                                                                                      \
    for (int j = 0; j < vectors; j++) {                                                                       \
        const ptrdiff_t here = i + j * (LANES / 4);                                                           \
        const vecf value = v[j], operand = s->values ? load_f32(s->values + at + here) : set1_f32(s->factor); \
        v[j] = result;                                                                                        \
    }

/* Sets v to `vectors` vectors, a constant of the calls, from element i on; `at` is the number of the first operand. */
TARGET static inline __attribute__((always_inline)) void TIER(some_float_ops)(const int32_t *sums, const float *x, ptrdiff_t i,
                                                                         const float_op *float_ops, ptrdiff_t count,
                                                                         const float *old, ptrdiff_t at, const int vectors,
                                                                         vecf *v)
{
    for (int j = 0; j < vectors; j++)
        v[j] = sums ? s32_to_f32(load(sums + i + j * (LANES / 4))) : load_f32(x + i + j * (LANES / 4));
    for (const float_op *s = float_ops; s < float_ops + count; s++) {
        switch (s->kind) {
        case OP_ADD: FOR_EACH(add_f32(value, operand)) break;
        case OP_MULTIPLY: FOR_EACH(mul_f32(value, operand)) break;
        case OP_DIVIDE: FOR_EACH(div_f32(value, operand)) break;
        case OP_SUM: FOR_EACH(add_f32(value, mul_f32(operand, load_f32(old + here)))) break;
        case OP_FMA: FOR_EACH(fma_f32(load_f32(old + here), operand, value)) break;
        case OP_RELU: FOR_EACH(((void)operand, max_f32(value, set1_f32(0)))) break; /* the last one beside NaN, or -0 */
        case OP_LEAK:
            if (s->factor <= 1) /* values above 0 are taken as 0 in the product, as 0 * infinity is NaN */
                FOR_EACH(max_f32(value, mul_f32(operand, min_f32(set1_f32(0), value))))
            else
                FOR_EACH(min_f32(value, mul_f32(operand, value)))
        }
    }
}

TARGET static ptrdiff_t TIER(float_ops)(const int32_t *sums, float *x, ptrdiff_t n, const float_op *float_ops, ptrdiff_t count,
                                    const float *old, ptrdiff_t at)
{
    ptrdiff_t i = 0;
    vecf v[4];
    for (; i + LANES <= n; i += LANES) {
        TIER(some_float_ops)(sums, x, i, float_ops, count, old, at, 4, v);
        for (int j = 0; j < 4; j++)
            store_f32(x + i + j * (LANES / 4), v[j]);
    }
    for (; i + LANES / 4 <= n; i += LANES / 4) {
        TIER(some_float_ops)(sums, x, i, float_ops, count, old, at, 1, v);
        store_f32(x + i, v[0]);
    }
    return i;
}

/* The 8-bit codes of sums after the operations, by parameters that round half to even. `flags` is a constant of the calls. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(float_ops_8_loop)(
    const int32_t *sums, uint8_t *c, ptrdiff_t n, const float_op *float_ops, ptrdiff_t count, const float *old, ptrdiff_t at,
    float_params p, code_clamp to, const int flags)
{
    const vecf scale = set1_f32(p.scale);
    ptrdiff_t i = 0;
    vecf v[4];
    vec q[4];
    for (; i + LANES <= n; i += LANES) {
        TIER(some_float_ops)(sums, NULL, i, float_ops, count, old, at, 4, v);
        for (int j = 0; j < 4; j++)
            q[j] = TIER(float_sum)(v[j], scale, p, flags, QOPS_HALF_EVEN);
        store(c + i, narrow_s32_codes(q, to));
    }
    return i;
}

TARGET static ptrdiff_t TIER(float_ops_8)(const int32_t *sums, uint8_t *c, ptrdiff_t n, const float_op *float_ops, ptrdiff_t count,
                                      const float *old, ptrdiff_t at, float_params p, code_clamp to, int cuts)
{
    return cuts ? TIER(float_ops_8_loop)(sums, c, n, float_ops, count, old, at, p, to, FLOAT_PLUS | FLOAT_CUT)
                : TIER(float_ops_8_loop)(sums, c, n, float_ops, count, old, at, p, to, FLOAT_PLUS);
}
#undef FOR_EACH

#else
#ifndef QOPS_POST_OPS_H
#define QOPS_POST_OPS_H
#include "stage/float_stage.h"
#include <stddef.h>
#include <stdint.h>

typedef enum { OP_ADD, OP_MULTIPLY, OP_DIVIDE, OP_RELU, OP_LEAK, OP_SUM, OP_FMA } float_op_kind;
typedef struct {
    float_op_kind kind;
    const float *values;
    ptrdiff_t size;
    float factor;
} float_op;

#define QOPS_BODY "stage/post_ops.h"
#include "lanes/tiers.h"

SIMD(float_ops, (const int32_t *sums, float *x, ptrdiff_t n, const float_op *float_ops, ptrdiff_t count,
                 const float *old, ptrdiff_t at),
     sums, x, n, float_ops, count, old, at)

/* The first codes of a batch of int32 sums, all those of 8 bits or none, and how many. */
static inline ptrdiff_t float_ops_8__simd(int tier, const stage_batch *b, const float_op *float_ops, ptrdiff_t count,
                                          const float *old, ptrdiff_t at, float_params p)
{
    code_clamp to;
    const int cuts = float_flags(p, 0) & FLOAT_CUT;
    return b->size != 1 || p.rounding != QOPS_HALF_EVEN || p.form != FLOAT_TIMES || p.wide || !has_float_clamp(p, b->is_signed, &to)
               ? 0 : RUN_TIER(tier, float_ops_8, b->x, b->c, b->n, float_ops, count, old, at, p, to, cuts);
}
#endif
#endif
