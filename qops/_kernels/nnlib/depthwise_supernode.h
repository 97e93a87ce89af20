/* The loop of depthwise_supernode.pyx over the channels of one window of 3 x 3 pixels, for whole vectors of them.
 * It returns how many channels it did. */
#ifdef TIER

/* sums = (codes - zero) * w, added over the taps. */
TARGET static ptrdiff_t TIER(window_sums)(const uint8_t *const *codes, const int16_t *const *w, int taps, int32_t zero,
                                          ptrdiff_t n, int32_t *sums)
{
    const ptrdiff_t width = LANES / 4, whole = n - n % width;
    const vec z = set1_s32(zero);

    for (ptrdiff_t i = 0; i < whole; i += width) {
        vec sum = set1_s32(0);
        for (int t = 0; t < taps; t++)
            sum = add_s32(sum, mullo_s32(sub_s32(load_u8_s32(codes[t] + i), z), load_s16_s32(w[t] + i)));
        store(sums + i, sum);
    }
    return whole;
}

#else
#ifndef QOPS_NNLIB_DEPTHWISE_SUPERNODE_H
#define QOPS_NNLIB_DEPTHWISE_SUPERNODE_H
#include <stdint.h>

#define QOPS_BODY "nnlib/depthwise_supernode.h"
#include "lanes/tiers.h"

SIMD(window_sums, (const uint8_t *const *codes, const int16_t *const *w, int taps, int32_t zero, ptrdiff_t n,
                   int32_t *sums), codes, w, taps, zero, n, sums)
#endif
#endif
