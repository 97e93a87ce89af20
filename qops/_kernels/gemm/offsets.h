/* The loops of offsets.pyx for the whole vectors of a row. They return how many elements they did. */
#ifdef TIER

/* c[j] -= sum * offsets[j] */
TARGET static ptrdiff_t TIER(subtract_row)(uint32_t *c, const uint32_t *offsets, uint32_t sum, ptrdiff_t n)
{
    enum { WORDS = LANES / 4 };
    const vec sums = set1_s32((int32_t)sum);
    ptrdiff_t j = 0;
    for (; j + WORDS <= n; j += WORDS)
        store(c + j, sub_s32(load(c + j), mullo_s32(sums, load(offsets + j))));
    return j;
}

/* Adds codes to *sum. dot2_s16 with ones adds neighbouring 16-bit lanes into 32-bit accumulators. */
#define SUM_ROW(load_s16)                                                          \
    enum { CODES = LANES / 2 };                                                    \
    const vec ones = set1_s16(1);                                                  \
    vec acc[2] = {set1_s32(0), set1_s32(0)};                                       \
    uint32_t parts[LANES / 4];                                                     \
    ptrdiff_t j = 0;                                                               \
    for (; j + 2 * CODES <= n; j += 2 * CODES)                                     \
        for (int i = 0; i < 2; i++)                                                \
            acc[i] = add_s32(acc[i], dot2_s16(load_s16(x + j + i * CODES), ones)); \
    store(parts, add_s32(acc[0], acc[1]));                                         \
    for (int i = 0; i < LANES / 4; i++)                                            \
        *sum += parts[i];                                                          \
    return j;

TARGET static ptrdiff_t TIER(sum_row_u8)(const uint8_t *x, ptrdiff_t n, uint32_t *sum)
{
    SUM_ROW(load_u8_s16)
}

TARGET static ptrdiff_t TIER(sum_row_s8)(const uint8_t *x, ptrdiff_t n, uint32_t *sum)
{
    SUM_ROW(load_s8_s16)
}
#undef SUM_ROW

#else
#ifndef QOPS_OFFSETS_H
#define QOPS_OFFSETS_H
#include <stddef.h>
#include <stdint.h>

#define QOPS_BODY "gemm/offsets.h"
#include "lanes/tiers.h"

SIMD(subtract_row, (uint32_t *c, const uint32_t *offsets, uint32_t sum, ptrdiff_t n), c, offsets, sum, n)

static inline ptrdiff_t sum_row__simd(int tier, const uint8_t *x, int is_signed, ptrdiff_t n, uint32_t *sum)
{
    return is_signed ? RUN_TIER(tier, sum_row_s8, x, n, sum) : RUN_TIER(tier, sum_row_u8, x, n, sum);
}
#endif
#endif
