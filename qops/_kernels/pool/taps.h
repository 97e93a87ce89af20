/* The loops of run.pyx with vectors. They do all pixels if the channels of a pixel fill a vector, and otherwise
 * none. The last vector of a pixel ends where the pixel ends. */
#ifdef TIER

/* Defines a loop over the pixels of the result, the vectors of a pixel, and the taps of its window. A vector has
 * `width` elements of the result. */
#define POOL_LOOP(name, given, result, width, widened, combined)                           \
    TARGET static ptrdiff_t TIER(name)(const given *x, pool_taps p, result *y)             \
    {                                                                                      \
        if (p.channels < (width))                                                          \
            return 0;                                                                      \
        for (ptrdiff_t pixel = 0; pixel < p.pixels; pixel++, x += p.stride, y += p.pitch)  \
            for (ptrdiff_t at = 0; at < p.channels; at += (width)) {                       \
                const ptrdiff_t i = at + (width) > p.channels ? p.channels - (width) : at; \
                vec all = set1_s32(p.start);                                               \
                for (ptrdiff_t t = 0; t < p.taps; t++)                                     \
                    all = combined(all, widened(x + i + t * p.tap_stride));                \
                store(y + i, all);                                                         \
            }                                                                              \
        return p.pixels;                                                                   \
    }

POOL_LOOP(pool_max_u8, uint8_t, uint8_t, LANES, load, max_u8)
POOL_LOOP(pool_max_s8, uint8_t, uint8_t, LANES, load, max_s8)
POOL_LOOP(pool_sum_u8_s16, uint8_t, int16_t, LANES / 2, load_u8_s16, add_s16)
POOL_LOOP(pool_sum_s8_s16, uint8_t, int16_t, LANES / 2, load_s8_s16, add_s16)
POOL_LOOP(pool_sum_s16, int16_t, int16_t, LANES / 2, load, add_s16)
POOL_LOOP(pool_sum_u16_s32, int16_t, int32_t, LANES / 4, load_u16_s32, add_s32)
POOL_LOOP(pool_sum_s16_s32, int16_t, int32_t, LANES / 4, load_s16_s32, add_s32)
POOL_LOOP(pool_sum_s32, int32_t, int32_t, LANES / 4, load, add_s32)
#undef POOL_LOOP

TARGET static ptrdiff_t TIER(pool_combine)(const void *x, pool_taps p, void *y, pool_kind kind)
{
    switch (kind) {
    case POOL_MAX_U8: return TIER(pool_max_u8)(x, p, y);
    case POOL_MAX_S8: return TIER(pool_max_s8)(x, p, y);
    case POOL_SUM_U8_S16: return TIER(pool_sum_u8_s16)(x, p, y);
    case POOL_SUM_S8_S16: return TIER(pool_sum_s8_s16)(x, p, y);
    case POOL_SUM_S16: return TIER(pool_sum_s16)(x, p, y);
    case POOL_SUM_U16_S32: return TIER(pool_sum_u16_s32)(x, p, y);
    case POOL_SUM_S16_S32: return TIER(pool_sum_s16_s32)(x, p, y);
    default: return TIER(pool_sum_s32)(x, p, y);
    }
}

#else
#ifndef QOPS_POOL_TAPS_H
#define QOPS_POOL_TAPS_H
#include <stddef.h>
#include <stdint.h>

/* how taps are combined, the type of a tap, and that of the result if it is another */
typedef enum {
    POOL_MAX_U8, POOL_MAX_S8, POOL_SUM_U8_S16, POOL_SUM_S8_S16, POOL_SUM_S16, POOL_SUM_U16_S32,
    POOL_SUM_S16_S32, POOL_SUM_S32
} pool_kind;

/* `pixels` windows of `taps` taps, with `channels` elements each. `stride` is the distance of windows in x,
 * `tap_stride` that of taps in x, `pitch` that of results in y, all in elements. The bits of `start` are what the
 * combination begins with: the lowest codes, or a number that is added to a sum. */
typedef struct {
    ptrdiff_t pixels, stride, pitch, channels, taps, tap_stride;
    int32_t start;
} pool_taps;

#define QOPS_BODY "pool/taps.h"
#include "lanes/tiers.h"

SIMD(pool_combine, (const void *x, pool_taps p, void *y, pool_kind kind), x, p, y, kind)
#endif
#endif
