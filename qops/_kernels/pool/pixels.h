/* The loops of pixels.pyx, many lanes at a time. With LANES channels or more they do all of them, and the last vector
 * ends where they end; with fewer they do none. */
#ifdef TIER

TARGET static inline __attribute__((always_inline)) vec TIER(pixels_greater)(vec a, vec b, int is_signed)
{
    return is_signed ? max_s8(a, b) : max_u8(a, b);
}

/* sixteen-bit integers of the bytes at p */
TARGET static inline __attribute__((always_inline)) vec TIER(pixels_widen)(const uint8_t *p, int is_signed)
{
    return is_signed ? load_s8_s16(p) : load_u8_s16(p);
}

TARGET static inline __attribute__((always_inline)) void TIER(pixels_largest_of)(const uint8_t *x, pixels p, uint8_t *y,
                                                                          int is_signed, ptrdiff_t taps)
{
    for (ptrdiff_t pixel = 0; pixel < p.count; pixel++, x += p.stride, y += p.pitch)
        FOR_FLUSH(i, p.channels) {
            vec most = load(x + i);
            for (ptrdiff_t t = 1; t < taps; t++)
                most = TIER(pixels_greater)(most, load(x + t * p.step + i), is_signed);
            store(y + i, most, 0);
        }
}

TARGET static ptrdiff_t TIER(pixels_largest)(const uint8_t *x, pixels p, uint8_t *y, int is_signed)
{
    if (p.channels < LANES)
        return 0;
    if (is_signed)
        PIXELS_TAPS(TIER(pixels_largest_of), x, p, y, 1);
    else
        PIXELS_TAPS(TIER(pixels_largest_of), x, p, y, 0);
    return p.count;
}

TARGET static inline __attribute__((always_inline)) void TIER(pixels_widened_of)(const uint8_t *x, pixels p, int16_t *y,
                                                                          int is_signed, ptrdiff_t taps)
{
    for (ptrdiff_t pixel = 0; pixel < p.count; pixel++, x += p.stride, y += p.pitch)
        FOR_FLUSH(i, p.channels) {
            vec low = TIER(pixels_widen)(x + i, is_signed), high = TIER(pixels_widen)(x + i + LANES / 2, is_signed);
            for (ptrdiff_t t = 1; t < taps; t++) {
                low = add_s16(low, TIER(pixels_widen)(x + t * p.step + i, is_signed));
                high = add_s16(high, TIER(pixels_widen)(x + t * p.step + i + LANES / 2, is_signed));
            }
            store(y + i, low, 0);
            store(y + i + LANES / 2, high, 0);
        }
}

TARGET static ptrdiff_t TIER(pixels_widened)(const uint8_t *x, pixels p, int16_t *y, int is_signed)
{
    if (p.channels < LANES)
        return 0;
    if (is_signed)
        PIXELS_TAPS(TIER(pixels_widened_of), x, p, y, 1);
    else
        PIXELS_TAPS(TIER(pixels_widened_of), x, p, y, 0);
    return p.count;
}

TARGET static inline __attribute__((always_inline)) void TIER(pixels_added_of)(const int16_t *x, pixels p, int16_t *y,
                                                                        ptrdiff_t taps)
{
    for (ptrdiff_t pixel = 0; pixel < p.count; pixel++, x += p.stride, y += p.pitch)
        FOR_FLUSH(i, p.channels) {
            vec low = load(x + i), high = load(x + i + LANES / 2);
            for (ptrdiff_t t = 1; t < taps; t++) {
                low = add_s16(low, load(x + t * p.step + i));
                high = add_s16(high, load(x + t * p.step + i + LANES / 2));
            }
            store(y + i, low, 0);
            store(y + i + LANES / 2, high, 0);
        }
}

TARGET static ptrdiff_t TIER(pixels_added)(const int16_t *x, pixels p, int16_t *y)
{
    if (p.channels < LANES)
        return 0;
    PIXELS_TAPS(TIER(pixels_added_of), x, p, y);
    return p.count;
}

#else
#ifndef QOPS_PIXELS_H
#define QOPS_PIXELS_H
#include <stddef.h>
#include <stdint.h>

/* how many pixels, a stride apart, to make of how many taps, a step apart, and to write a pitch apart; in elements */
typedef struct {
    ptrdiff_t count, stride, channels, taps, step, pitch;
} pixels;

/* a loop over pixels, in which a common number of taps is a constant */
#define PIXELS_TAPS(loop, x, p, ...)           \
    do {                                       \
        if ((p).taps == 2)                     \
            loop(x, p, __VA_ARGS__, 2);        \
        else if ((p).taps == 3)                \
            loop(x, p, __VA_ARGS__, 3);        \
        else                                   \
            loop(x, p, __VA_ARGS__, (p).taps); \
    } while (0)

#define QOPS_BODY "pool/pixels.h"
#include "lanes/tiers.h"

static inline ptrdiff_t pixels_largest__simd(int tier, const void *x, pixels p, void *y, int is_signed)
{
    return RUN_TIER(tier, pixels_largest, x, p, y, is_signed);
}

static inline ptrdiff_t pixels_widened__simd(int tier, const void *x, pixels p, int16_t *y, int is_signed)
{
    return RUN_TIER(tier, pixels_widened, x, p, y, is_signed);
}

static inline ptrdiff_t pixels_added__simd(int tier, const int16_t *x, pixels p, int16_t *y)
{
    return RUN_TIER(tier, pixels_added, x, p, y);
}
#endif
#endif
