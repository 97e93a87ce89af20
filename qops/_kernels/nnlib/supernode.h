/* The loops of node_sums.pyx and node_codes.pyx over sums whose channels are neighbours, for the whole vectors of each pixel.
 * They return how many channels they did. */
#ifdef TIER

/* Widen the extremes of each channel to hold those of so many pixels, which lie `stride` sums apart. */
TARGET static ptrdiff_t TIER(channel_extremes)(const int32_t *x, ptrdiff_t pixels, ptrdiff_t stride, ptrdiff_t n,
                                               int32_t *lowest, int32_t *highest)
{
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t j = 0;

    for (; j + 2 * w <= n; j += 2 * w) {
        vec low = load(lowest + j), high = load(highest + j), low2 = load(lowest + j + w), high2 = load(highest + j + w);
        for (ptrdiff_t i = 0; i < pixels; i++) {
            const vec a = load(x + i * stride + j), b = load(x + i * stride + j + w);
            low = min_s32(low, a);
            high = max_s32(high, a);
            low2 = min_s32(low2, b);
            high2 = max_s32(high2, b);
        }
        store(lowest + j, low);
        store(highest + j, high);
        store(lowest + j + w, low2);
        store(highest + j + w, high2);
    }
    for (; j + w <= n; j += w) {
        vec low = load(lowest + j), high = load(highest + j);
        for (ptrdiff_t i = 0; i < pixels; i++) {
            low = min_s32(low, load(x + i * stride + j));
            high = max_s32(high, load(x + i * stride + j));
        }
        store(lowest + j, low);
        store(highest + j, high);
    }
    return j;
}

/* y = x plus the words of the channels, modulo 2^32. */
TARGET static ptrdiff_t TIER(add_words)(const uint32_t *x, const uint32_t *words, ptrdiff_t pixels, ptrdiff_t stride,
                                        ptrdiff_t n, uint32_t *y)
{
    const ptrdiff_t w = LANES / 4, whole = n - n % w;

    for (ptrdiff_t i = 0; i < pixels; i++)
        for (ptrdiff_t j = 0; j < whole; j += w)
            store(y + i * n + j, add_s32(load(x + i * stride + j), load(words + j)));
    return whole;
}

#else
#ifndef QOPS_NNLIB_SUPERNODE_H
#define QOPS_NNLIB_SUPERNODE_H
#include <stdint.h>

#define QOPS_BODY "nnlib/supernode.h"
#include "lanes/tiers.h"

SIMD(channel_extremes, (const int32_t *x, ptrdiff_t pixels, ptrdiff_t stride, ptrdiff_t n, int32_t *lowest,
                        int32_t *highest), x, pixels, stride, n, lowest, highest)
SIMD(add_words, (const uint32_t *x, const uint32_t *words, ptrdiff_t pixels, ptrdiff_t stride, ptrdiff_t n, uint32_t *y),
     x, words, pixels, stride, n, y)
#endif
#endif
