/* What pair_stage.pyx makes of two codes, many lanes at a time. */
#ifdef TIER

/* The code less its zero point; in float32 scaled as well. */
TARGET static inline __attribute__((always_inline)) vec TIER(less_zero)(const uint8_t *q, ptrdiff_t i, pair_codes type,
                                                                       pair_side s)
{
    const vec code = type == PAIR_S16 ? load_s16_s32((const int16_t *)q + i) : type == PAIR_S8 ? load_s8_s32(q + i)
                                                                                               : load_u8_s32(q + i);
    return sub_s32(code, set1_s32(s.zero));
}

TARGET static inline __attribute__((always_inline)) vecf TIER(real)(const uint8_t *q, ptrdiff_t i, pair_codes type,
                                                                   pair_side s, vecf plus)
{
    return fma_f32(s32_to_f32(TIER(less_zero)(q, i, type, s)), set1_f32(s.scale), plus);
}

/* `type` and `form` are constants of the calls, so no loop asks for them. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(pair_loop)(const uint8_t *a, const uint8_t *b, int32_t *x,
                                                                             ptrdiff_t n, pair_side p, pair_side s,
                                                                             pair_codes type, pair_form form)
{
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w) {
        vec made;
        if (form == PAIR_SHIFTED)
            made = sll_s32(TIER(less_zero)(b, i, type, s), s.multiplier);
        else if (form == PAIR_ONTO)
            made = add_s32(load(x + i), sll_s32(TIER(less_zero)(a, i, type, p), p.multiplier));
        else if (form == PAIR_PRODUCT)
            made = mullo_s32(TIER(less_zero)(a, i, type, p), TIER(less_zero)(b, i, type, s));
        else if (form == PAIR_SUM)
            made = add_s32(mullo_s32(TIER(less_zero)(a, i, type, p), set1_s32(p.multiplier)),
                           mullo_s32(TIER(less_zero)(b, i, type, s), set1_s32(s.multiplier)));
        else if (form == PAIR_CHAIN)
            made = TIER(bits)(TIER(real)(a, i, type, p, TIER(real)(b, i, type, s, set1_f32(s.plus))));
        else
            made = TIER(bits)(add_f32(TIER(real)(a, i, type, p, set1_f32(p.plus)),
                                      TIER(real)(b, i, type, s, set1_f32(s.plus))));
        store(x + i, made, 0);
    }
    return i;
}

#define BY_TYPE(form)                                                             \
    (type == PAIR_S16  ? TIER(pair_loop)(a, b, x, n, p, s, PAIR_S16, form)         \
     : type == PAIR_S8 ? TIER(pair_loop)(a, b, x, n, p, s, PAIR_S8, form)          \
                       : TIER(pair_loop)(a, b, x, n, p, s, PAIR_U8, form))
TARGET static ptrdiff_t TIER(pair_values)(const uint8_t *a, const uint8_t *b, int32_t *x, ptrdiff_t n, pair_side p,
                                          pair_side s, pair_codes type, pair_form form)
{
    return form == PAIR_PRODUCT ? BY_TYPE(PAIR_PRODUCT)
         : form == PAIR_SUM     ? BY_TYPE(PAIR_SUM)
         : form == PAIR_CHAIN   ? BY_TYPE(PAIR_CHAIN)
         : form == PAIR_SHIFTED ? BY_TYPE(PAIR_SHIFTED)
         : form == PAIR_ONTO    ? BY_TYPE(PAIR_ONTO)
                                : BY_TYPE(PAIR_FLOAT_SUM);
}
#undef BY_TYPE

#else
#ifndef QOPS_PAIR_STAGE_H
#define QOPS_PAIR_STAGE_H
#include <stddef.h>
#include <stdint.h>

typedef enum { PAIR_PRODUCT, PAIR_SUM, PAIR_FLOAT_SUM, PAIR_CHAIN, PAIR_SHIFTED, PAIR_ONTO } pair_form;
typedef enum { PAIR_U8, PAIR_S8, PAIR_S16 } pair_codes;
typedef struct {
    int32_t zero, multiplier;
    float scale, plus;
} pair_side;

#define QOPS_BODY "core/pair_stage.h"
#include "core/tiers.h"

static inline ptrdiff_t pair_values__simd(int tier, const void *a, const void *b, pair_codes type, void *x, ptrdiff_t n,
                                          pair_side p, pair_side s, pair_form form)
{
    return RUN_TIER(tier, pair_values, a, b, x, n, p, s, type, form);
}
#endif
#endif
