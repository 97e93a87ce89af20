/* The loops of clamp.pyx, many lanes at a time. */
#ifdef TIER

#define CLAMP(code, type)                                                                             \
    TARGET static ptrdiff_t TIER(clamp_##code)(const type *x, type *c, ptrdiff_t n, type lo, type hi) \
    {                                                                                                 \
        const ptrdiff_t w = LANES / sizeof(type);                                                     \
        const vec least = set1_##code(lo), most = set1_##code(hi);                                    \
        if (n < w)                                                                                    \
            return 0;                                                                                 \
        FOR_VECTORS(i, n, w, c)                                                                       \
            store(c + i, min_##code(max_##code(load(x + i), least), most));                           \
        return n;                                                                                     \
    }
EACH_CODE(CLAMP)
#undef CLAMP

#else
#ifndef QOPS_CLAMP_H
#define QOPS_CLAMP_H

#define EACH_CODE(X) X(u8, uint8_t) X(s8, int8_t) X(u16, uint16_t) X(s16, int16_t) X(s32, int32_t)
#define CODE_KIND(type) ((type)-1 < 0 ? -(int)sizeof(type) : (int)sizeof(type))

#define QOPS_BODY "stage/clamp.h"
#include "lanes/tiers.h"

/* `kind`: the bytes of a code, negative if it is signed */
static inline ptrdiff_t clamp__simd(int tier, int kind, const void *x, void *c, ptrdiff_t n, int64_t lo, int64_t hi)
{
#define CLAMP(code, type)        \
    if (kind == CODE_KIND(type)) \
        return RUN_TIER(tier, clamp_##code, x, c, n, (type)lo, (type)hi);
    EACH_CODE(CLAMP)
#undef CLAMP
    return 0;
}
#endif
#endif
