/* The loops of means.pyx for whole vectors. */
#ifdef TIER

/* Gives LANES / 4 means of 16-bit sums, as s32, plus 128 if codes are signed. The quotient that is rounded once is the
 * product with 1 / count and a correction: fma gives the error of the product exactly, and it is so small that the
 * corrected product is the rounded quotient. Half of the count added away from 0 and a quotient that is truncated round
 * half away. */
TARGET static inline __attribute__((always_inline)) vec TIER(pool_mean)(const int16_t *sums, pool_mean p, int rule)
{
    const vec code = p.is_signed ? load_s16_s32(sums) : load_u16_s32(sums);
    const vec sign = and_bits(code, set1_s32((int)0x80000000));
    const vecf half = TIER(floats)(or_bits(TIER(bits)(set1_f32((float)(p.count / 2))), sign));
    const vecf sum = rule == POOL_HALF_AWAY ? add_f32(s32_to_f32(code), half) : s32_to_f32(code);
    const vecf part = set1_f32(p.part), near = mul_f32(sum, part);
    const vecf left = fma_f32(near, set1_f32((float)-p.count), sum);
    const vecf quotient = rule == POOL_RECIPROCAL ? near : fma_f32(left, part, near);
    const vec mean = rule == POOL_TRUNCATE || rule == POOL_HALF_AWAY ? f32_to_s32_trunc(quotient) : f32_to_s32_rint(quotient);
    return add_s32(mean, set1_s32(p.is_signed ? 128 : 0));
}

/* Makes the means of n >= LANES sums by a rule of float arithmetic. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(pool_means_of)(const int16_t *sums, ptrdiff_t n, pool_mean p, uint8_t *y, int rule)
{
    const vec flip = set1_s32(p.is_signed ? (int)0x80808080 : 0);
    enum { PART = LANES / 4 };
    FOR_VECTORS(i, n, LANES, y) {
        const vec a = TIER(pool_mean)(sums + i, p, rule), b = TIER(pool_mean)(sums + i + PART, p, rule);
        const vec c = TIER(pool_mean)(sums + i + 2 * PART, p, rule), d = TIER(pool_mean)(sums + i + 3 * PART, p, rule);
        store(y + i, xor_bits(narrow_s32_u8(a, b, c, d), flip));
    }
    return n;
}

/* Makes the means of n >= LANES sums by the rule q15. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(pool_q15)(const int16_t *sums, ptrdiff_t n, pool_mean p, uint8_t *y)
{
    const vec factor = set1_s16((int16_t)p.q15);
    FOR_VECTORS(i, n, LANES, y) {
        const vec low = mulhrs_s16(load(sums + i), factor), high = mulhrs_s16(load(sums + i + LANES / 2), factor);
        store(y + i, in_order_once(narrow_s16_u8(low, high)));
    }
    return n;
}

/* Makes the means of all n sums and returns n, or makes none and returns 0 if there are fewer than LANES. */
TARGET static ptrdiff_t TIER(pool_means)(const int16_t *sums, ptrdiff_t n, pool_mean p, uint8_t *y)
{
    if (n < LANES)
        return 0;
    switch (p.rule) {
    case POOL_RECIPROCAL: return TIER(pool_means_of)(sums, n, p, y, POOL_RECIPROCAL);
    case POOL_QUOTIENT: return TIER(pool_means_of)(sums, n, p, y, POOL_QUOTIENT);
    case POOL_TRUNCATE: return TIER(pool_means_of)(sums, n, p, y, POOL_TRUNCATE);
    case POOL_HALF_AWAY: return TIER(pool_means_of)(sums, n, p, y, POOL_HALF_AWAY);
    default: return TIER(pool_q15)(sums, n, p, y);
    }
}

/* Makes the means of real values of the windows that begin at x[0], x[1], ..., for whole vectors of windows. */
TARGET static ptrdiff_t TIER(pool_real_mean)(const uint8_t *x, ptrdiff_t n, pool_real_mean p, float *y)
{
    const ptrdiff_t w = LANES / 4;
    const vec zero = set1_s32(p.zero);
    const vecf scale = set1_f32(p.scale), count = set1_f32((float)(p.kh * p.kw));
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w) {
        vecf sum = set1_f32(0);
        for (ptrdiff_t r = 0; r < p.kh; r++)
            for (ptrdiff_t c = 0; c < p.kw; c++) {
                const uint8_t *const tap = x + i + r * p.row + c * p.column;
                const vec code = p.is_signed ? load_s8_s32(tap) : load_u8_s32(tap);
                sum = add_f32(sum, mul_f32(s32_to_f32(sub_s32(code, zero)), scale));
            }
        store_f32(y + i, div_f32(sum, count));
    }
    return i;
}

#else
#ifndef QOPS_POOL_MEANS_H
#define QOPS_POOL_MEANS_H
#include <stddef.h>
#include <stdint.h>

/* How a mean is made: see pooling.pyx. With STAGE and VALUES a stage makes the code, of the sum or of the mean of real
 * values. */
typedef enum { POOL_RECIPROCAL, POOL_QUOTIENT, POOL_TRUNCATE, POOL_HALF_AWAY, POOL_Q15, POOL_STAGE, POOL_VALUES } pool_rule;

typedef struct {
    pool_rule rule;
    int is_signed;
    int64_t count;      /* of taps */
    int32_t q15;        /* min(2^15 / count, 2^15 - 1) */
    float part;         /* 1 / count */
} pool_mean;

/* The mean of the values (code - zero) * scale of kh x kw taps. `row` and `column` are the strides of taps, in codes. */
typedef struct {
    int is_signed;
    int32_t zero;
    float scale;
    ptrdiff_t kh, kw, row, column;
} pool_real_mean;

#define QOPS_BODY "pool/means.h"
#include "lanes/tiers.h"

SIMD(pool_means, (const int16_t *sums, ptrdiff_t n, pool_mean p, void *y), sums, n, p, y)

static inline ptrdiff_t pool_values__simd(int tier, const void *x, ptrdiff_t n, pool_real_mean p, float *y)
{
    return RUN_TIER(tier, pool_real_mean, x, n, p, y);
}
#endif
#endif
