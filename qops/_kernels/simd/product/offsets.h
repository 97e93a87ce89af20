/* The loop of offsets.pyx, many lanes at a time: as many whole vectors as a row has. */
#ifdef TIER

TARGET static ptrdiff_t TIER(subtract_row)(uint32_t *c, const uint32_t *columns, const uint32_t *offsets, uint32_t row,
                                           ptrdiff_t n)
{
    enum { WORDS = LANES / 4 };
    const vec sum = set1_s32((int32_t)row);
    ptrdiff_t j = 0;
    for (; j + WORDS <= n; j += WORDS) {
        const vec term = add_s32(load(columns + j), mullo_s32(sum, load(offsets + j)));
        store(c + j, sub_s32(load(c + j), term), 0);
    }
    return j;
}

#else
#ifndef QOPS_OFFSETS_H
#define QOPS_OFFSETS_H
#include <stddef.h>
#include <stdint.h>

#define QOPS_BODY "product/offsets.h"
#include "core/tiers.h"

static inline ptrdiff_t subtract_row__simd(int tier, uint32_t *c, const uint32_t *columns, const uint32_t *offsets,
                                           uint32_t row, ptrdiff_t n)
{
    return RUN_TIER(tier, subtract_row, c, columns, offsets, row, n);
}
#endif
#endif
