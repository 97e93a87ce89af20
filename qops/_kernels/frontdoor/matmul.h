/* The loop of matmul.pyx for the whole vectors of a row. It returns how many elements it did. */
#ifdef TIER

TARGET static ptrdiff_t TIER(codes_of_row)(const int32_t *sums, int32_t *codes, ptrdiff_t n, double factor, double of_row,
                                           const double *of_columns)
{
    enum { HALF = LANES / 8 };
    const vecd scale = set1_f64(factor), row = set1_f64(of_row);
    ptrdiff_t j = 0;
    for (; j + 2 * HALF <= n; j += 2 * HALF) {
        vecd half[2];
        for (int i = 0; i < 2; i++) {
            const ptrdiff_t at = j + i * HALF;
            half[i] = add_f64(add_f64(mul_f64(load_s32_f64(sums + at), scale), row), load_f64(of_columns + at));
        }
        store(codes + j, f64_to_s32_rint(half[0], half[1]), 0);
    }
    return j;
}

#else
#ifndef QOPS_FRONTDOOR_MATMUL_H
#define QOPS_FRONTDOOR_MATMUL_H
#include <stddef.h>
#include <stdint.h>

#define QOPS_BODY "frontdoor/matmul.h"
#include "lanes/tiers.h"

static inline ptrdiff_t codes_of_row__simd(int tier, const int32_t *sums, int32_t *codes, ptrdiff_t n, double factor,
                                           double of_row, const double *of_columns)
{
    return RUN_TIER(tier, codes_of_row, sums, codes, n, factor, of_row, of_columns);
}
#endif
#endif
