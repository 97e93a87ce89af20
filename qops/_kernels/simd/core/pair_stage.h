/* What pair_stage.pyx makes of two 8-bit codes, many lanes at a time. */
#ifdef TIER

#define CODE(q, i) (is_signed ? load_s8_s32((q) + (i)) : load_u8_s32((q) + (i)))

/* The code less its zero point; in float32 scaled as well. */
TARGET static inline __attribute__((always_inline)) vec TIER(less_zero)(const uint8_t *q, ptrdiff_t i, int is_signed,
                                                                       pair_side s)
{
    return sub_s32(CODE(q, i), set1_s32(s.zero));
}

TARGET static inline __attribute__((always_inline)) vecf TIER(real)(const uint8_t *q, ptrdiff_t i, int is_signed,
                                                                   pair_side s, vecf plus)
{
    return fma_f32(s32_to_f32(TIER(less_zero)(q, i, is_signed, s)), set1_f32(s.scale), plus);
}

/* `is_signed` and `form` are constants of the calls, so no loop asks for them. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(pair_loop)(const uint8_t *a, const uint8_t *b, int32_t *x,
                                                                             ptrdiff_t n, pair_side p, pair_side s,
                                                                             int is_signed, pair_form form)
{
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w) {
        vec made;
        if (form == PAIR_SHIFTED)
            made = sll_s32(TIER(less_zero)(a, i, is_signed, p), p.multiplier);
        else if (form == PAIR_PRODUCT)
            made = mullo_s32(TIER(less_zero)(a, i, is_signed, p), TIER(less_zero)(b, i, is_signed, s));
        else if (form == PAIR_SUM)
            made = add_s32(mullo_s32(TIER(less_zero)(a, i, is_signed, p), set1_s32(p.multiplier)),
                           mullo_s32(TIER(less_zero)(b, i, is_signed, s), set1_s32(s.multiplier)));
        else if (form == PAIR_CHAIN)
            made = TIER(bits)(TIER(real)(a, i, is_signed, p, TIER(real)(b, i, is_signed, s, set1_f32(s.plus))));
        else
            made = TIER(bits)(add_f32(TIER(real)(a, i, is_signed, p, set1_f32(p.plus)),
                                      TIER(real)(b, i, is_signed, s, set1_f32(s.plus))));
        store(x + i, made, 0);
    }
    return i;
}
#undef CODE

#define BY_SIGN(form) (is_signed ? TIER(pair_loop)(a, b, x, n, p, s, 1, form) : TIER(pair_loop)(a, b, x, n, p, s, 0, form))
TARGET static ptrdiff_t TIER(pair_values)(const uint8_t *a, const uint8_t *b, int32_t *x, ptrdiff_t n, pair_side p,
                                          pair_side s, int is_signed, pair_form form)
{
    return form == PAIR_PRODUCT ? BY_SIGN(PAIR_PRODUCT)
         : form == PAIR_SUM     ? BY_SIGN(PAIR_SUM)
         : form == PAIR_CHAIN   ? BY_SIGN(PAIR_CHAIN)
         : form == PAIR_SHIFTED ? BY_SIGN(PAIR_SHIFTED)
                                : BY_SIGN(PAIR_FLOAT_SUM);
}
#undef BY_SIGN

TARGET static ptrdiff_t TIER(add_to)(int32_t *x, const int32_t *y, ptrdiff_t n)
{
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w)
        store(x + i, add_s32(load(x + i), load(y + i)), 0);
    return i;
}

#else
#ifndef QOPS_PAIR_STAGE_H
#define QOPS_PAIR_STAGE_H
#include <stddef.h>
#include <stdint.h>

typedef enum { PAIR_PRODUCT, PAIR_SUM, PAIR_FLOAT_SUM, PAIR_CHAIN, PAIR_SHIFTED } pair_form;
typedef struct {
    int32_t zero, multiplier;
    float scale, plus;
} pair_side;

#define QOPS_BODY "core/pair_stage.h"
#include "core/tiers.h"

static inline ptrdiff_t pair_values__simd(int tier, const void *a, const void *b, int is_signed, void *x, ptrdiff_t n,
                                          pair_side p, pair_side s, pair_form form)
{
    return RUN_TIER(tier, pair_values, a, b, x, n, p, s, is_signed, form);
}

static inline ptrdiff_t add_to__simd(int tier, int32_t *x, const int32_t *y, ptrdiff_t n)
{
    return RUN_TIER(tier, add_to, x, y, n);
}
#endif
#endif
