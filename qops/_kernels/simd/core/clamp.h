/* The loops of clamp.pyx, many lanes at a time. */
#ifdef TIER

#define CLAMP(code, type)                                                                                   \
    TARGET static ptrdiff_t TIER(clamp_##code)(const type *x, type *c, ptrdiff_t n, type lo, type hi, int stream) \
    {                                                                                                       \
        const ptrdiff_t w = LANES / sizeof(type);                                                           \
        const vec least = set1_##code(lo), most = set1_##code(hi);                                          \
        if (n < w)                                                                                          \
            return 0;                                                                                       \
        FOR_VECTORS(i, n, w, c)                                                                             \
            store(c + i, min_##code(max_##code(load(x + i), least), most), stream);                         \
        return done(n, stream);                                                                             \
    }
CLAMP(u8, uint8_t)
CLAMP(s8, int8_t)
CLAMP(u16, uint16_t)
CLAMP(s16, int16_t)
CLAMP(s32, int32_t)
#undef CLAMP

#else
#ifndef QOPS_CLAMP_H
#define QOPS_CLAMP_H

#define QOPS_BODY "core/clamp.h"
#include "core/tiers.h"

#define CLAMP(code, type)                                                                                       \
    static inline ptrdiff_t clamp_##code##__simd(int tier, const type *x, type *c, ptrdiff_t n, type lo, type hi, \
                                                 int stream)                                                    \
    {                                                                                                           \
        return RUN_TIER(tier, clamp_##code, x, c, n, lo, hi, stream);                                           \
    }
CLAMP(u8, uint8_t)
CLAMP(s8, int8_t)
CLAMP(u16, uint16_t)
CLAMP(s16, int16_t)
CLAMP(s32, int32_t)
#undef CLAMP
#endif
#endif
