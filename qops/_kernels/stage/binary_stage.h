/* What binary_stage.pyx makes of two codes, many lanes at a time. */
#ifdef TIER

/* The code less its zero point; in float32 scaled as well. */
TARGET static inline __attribute__((always_inline)) vec TIER(less_zero)(const uint8_t *q, ptrdiff_t i, operand_type type,
                                                                       binary_operand s)
{
    const vec code = type == BINARY_S16 ? load_s16_s32((const int16_t *)q + i) : type == BINARY_S8 ? load_s8_s32(q + i)
                                                                                               : load_u8_s32(q + i);
    return sub_s32(code, set1_s32(s.zero));
}

TARGET static inline __attribute__((always_inline)) vecf TIER(real)(const uint8_t *q, ptrdiff_t i, operand_type type,
                                                                   binary_operand s, vecf plus)
{
    return fma_f32(s32_to_f32(TIER(less_zero)(q, i, type, s)), set1_f32(s.scale), plus);
}

/* `type` and `form` are constants of the calls, so no loop asks for them. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(binary_loop)(const uint8_t *a, const uint8_t *b, int32_t *x,
                                                                             ptrdiff_t n, binary_operand p, binary_operand s,
                                                                             operand_type type, binary_form form)
{
    const ptrdiff_t w = LANES / 4;
    ptrdiff_t i = 0;
    for (; i + w <= n; i += w) {
        vec made;
        if (form == BINARY_SHIFTED)
            made = sll_s32(TIER(less_zero)(b, i, type, s), s.multiplier);
        else if (form == BINARY_ONTO)
            made = add_s32(load(x + i), sll_s32(TIER(less_zero)(a, i, type, p), p.multiplier));
        else if (form == BINARY_PRODUCT)
            made = mullo_s32(TIER(less_zero)(a, i, type, p), TIER(less_zero)(b, i, type, s));
        else if (form == BINARY_SUM)
            made = add_s32(mullo_s32(TIER(less_zero)(a, i, type, p), set1_s32(p.multiplier)),
                           mullo_s32(TIER(less_zero)(b, i, type, s), set1_s32(s.multiplier)));
        else if (form == BINARY_CHAIN)
            made = TIER(bits)(TIER(real)(a, i, type, p, TIER(real)(b, i, type, s, set1_f32(s.plus))));
        else
            made = TIER(bits)(add_f32(TIER(real)(a, i, type, p, set1_f32(p.plus)),
                                      TIER(real)(b, i, type, s, set1_f32(s.plus))));
        store(x + i, made);
    }
    return i;
}

TARGET static inline vec TIER(scaled_product)(vec product, product_scale f)
{
    return f32_to_s32_rint(add_f32(mul_f32(s32_to_f32(product), set1_f32(f.scale)), set1_f32(f.plus)));
}

/* The 8-bit codes of products. Widening and narrowing both work within 128-bit blocks, so the order stays. */
TARGET static ptrdiff_t TIER(product_codes_8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, int32_t a_zero,
                                              int32_t b_zero, product_scale f)
{
    const vec flip = set1_s32(f.flip), za = set1_s16((int16_t)a_zero), zb = set1_s16((int16_t)b_zero);
    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        const vec p = xor_bits(load(a + i), flip), q = xor_bits(load(b + i), flip);
        vec code[2];
        for (int j = 0; j < 2; j++) {
            const vec x = sub_s16(j ? widen_hi_u8_s16(p) : widen_lo_u8_s16(p), za);
            const vec y = sub_s16(j ? widen_hi_u8_s16(q) : widen_lo_u8_s16(q), zb);
            const vec low = mullo_s16(x, y), high = mulhi_s16(x, y);
            const vec near = narrow_s32_s16(TIER(scaled_product)(interleave_lo_s16(low, high), f),
                                            TIER(scaled_product)(interleave_hi_s16(low, high), f));
            code[j] = add_sat_s16(near, set1_s16(f.shift));
        }
        store(c + i, xor_bits(narrow_s16_u8(code[0], code[1]), flip));
    }
    return n;
}

/* The 8-bit codes of sums that the last stage only shifts. `add` holds the zero points and the rounding. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(sum_loop_8)(const uint8_t *a, const uint8_t *b, uint8_t *c,
                                                                              ptrdiff_t n, sum_scale f, code_clamp to,
                                                                              int is_signed)
{
    const vec m = set1_s32(f.a), k = set1_s32(f.b), add = set1_s32(f.add);
    const ptrdiff_t w = LANES / 4;
    vec q[4];
    if (n < LANES)
        return 0;
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++) {
            const uint8_t *x = a + i + j * w, *y = b + i + j * w;
            const vec p = mullo_s32(is_signed ? load_s8_s32(x) : load_u8_s32(x), m);
            q[j] = sra_s32_by(add_s32(add_s32(p, mullo_s32(is_signed ? load_s8_s32(y) : load_u8_s32(y), k)), add), f.shift);
        }
        store(c + i, narrow_s32_codes(q, to));
    }
    return n;
}

TARGET static ptrdiff_t TIER(sum_codes_8)(const uint8_t *a, const uint8_t *b, uint8_t *c, ptrdiff_t n, sum_scale f, code_clamp to)
{
    return to.flip ? TIER(sum_loop_8)(a, b, c, n, f, to, 1) : TIER(sum_loop_8)(a, b, c, n, f, to, 0);
}

#define BY_TYPE(form)                                                            \
    (type == BINARY_S16  ? TIER(binary_loop)(a, b, x, n, p, s, BINARY_S16, form) \
     : type == BINARY_S8 ? TIER(binary_loop)(a, b, x, n, p, s, BINARY_S8, form)  \
                       : TIER(binary_loop)(a, b, x, n, p, s, BINARY_U8, form))
TARGET static ptrdiff_t TIER(binary_values)(const uint8_t *a, const uint8_t *b, int32_t *x, ptrdiff_t n, binary_operand p,
                                          binary_operand s, operand_type type, binary_form form)
{
    return form == BINARY_PRODUCT ? BY_TYPE(BINARY_PRODUCT)
         : form == BINARY_SUM     ? BY_TYPE(BINARY_SUM)
         : form == BINARY_CHAIN   ? BY_TYPE(BINARY_CHAIN)
         : form == BINARY_SHIFTED ? BY_TYPE(BINARY_SHIFTED)
         : form == BINARY_ONTO    ? BY_TYPE(BINARY_ONTO)
                                : BY_TYPE(BINARY_FLOAT_SUM);
}
#undef BY_TYPE

#else
#ifndef QOPS_BINARY_STAGE_H
#define QOPS_BINARY_STAGE_H
#include "stage/code_clamp.h"
#include "stage/float_params.h"
#include "stage/integer_params.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef enum { BINARY_PRODUCT, BINARY_SUM, BINARY_FLOAT_SUM, BINARY_CHAIN, BINARY_SHIFTED, BINARY_ONTO } binary_form;
typedef enum { BINARY_U8, BINARY_S8, BINARY_S16 } operand_type;
typedef struct {
    int32_t zero, multiplier;
    float scale, plus;
} binary_operand;
typedef struct { float scale, plus; int32_t flip; int16_t shift; } product_scale;
typedef struct { int32_t a, b, add, shift; } sum_scale;

#define QOPS_BODY "stage/binary_stage.h"
#include "lanes/tiers.h"

SIMD(binary_values, (const void *a, const void *b, operand_type type, void *x, ptrdiff_t n, binary_operand p,
                     binary_operand s, binary_form form),
     a, b, x, n, p, s, type, form)

/* Makes 8-bit codes of products, if the last stage only multiplies by its scale and rounds half to even; returns 0 if it
 * does more, or if a result may be beyond int32. */
static inline ptrdiff_t product_codes_8__simd(int tier, const void *a, const void *b, void *c, int is_signed, ptrdiff_t n,
                                              binary_operand p, binary_operand s, const float_params *f)
{
    code_clamp to;
    const int32_t base = is_signed ? 128 : 0; /* int8 codes are read as uint8 codes that are 128 more */
    if (!has_float_clamp(*f, is_signed, &to) || to.lowest != 0 || to.highest != 255 || f->rounding != QOPS_HALF_EVEN ||
        float_flags(*f, 1) & ~(FLOAT_PLUS | FLOAT_BEYOND) || !(fabsf(f->scale) < 1 << 14 && fabsf(f->plus) < 1 << 20))
        return 0;
    const product_scale by = {f->scale, f->plus, to.flip, to.zero};
    return RUN_TIER(tier, product_codes_8, a, b, c, n, p.zero + base, s.zero + base, by);
}

/* Makes 8-bit codes of sums, if the last stage multiplies by a power of two, adds one number and shifts by fewer than 32
 * bits; returns 0 if it does more, or if a sum may be beyond int32. */
static inline ptrdiff_t sum_codes_8__simd(int tier, const void *a, const void *b, void *c, int is_signed, ptrdiff_t n,
                                          binary_operand p, binary_operand s, const integer_params *f)
{
    code_clamp to;
    integer_params same = *f;
    const int64_t unit = f->multiplier, add = f->first.add / (unit ? unit : 1);
    const int64_t most = (1LL << 8) * ((int64_t)labs(p.multiplier) + labs(s.multiplier)) + llabs(add);
    const int64_t zeros = (int64_t)p.zero * p.multiplier + (int64_t)s.zero * s.multiplier;
    int shift = f->first.right_shift;
    same.high_wraps = 0; /* int32 holds all sums, so the shift gets no wrapped one */
    for (int64_t power = unit; power > 1; power /= 2)
        shift--;
    if (unit < 1 || (unit & (unit - 1)) || add * unit != f->first.add || shift < 0 || shift > 31 || !has_one_shift(&same) ||
        !by_addend(f->first) || most > INT32_MAX || llabs(zeros) > INT32_MAX - most ||
        !has_code_clamp(f->zero_point, f->lowest_code, f->highest_code, is_signed, &to))
        return 0;
    const sum_scale by = {p.multiplier, s.multiplier, (int32_t)(add - zeros), shift};
    return RUN_TIER(tier, sum_codes_8, a, b, c, n, by, to);
}
#endif
#endif
