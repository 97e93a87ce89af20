/* The loops of float_stage.pyx, many lanes at a time. */
#ifdef TIER

/* Changes v so that dropping its fraction rounds it. */
TARGET static inline __attribute__((always_inline)) vecf TIER(nearest)(vecf v, qops_rounding rounding)
{
    const vec sign = set1_s32(INT32_MIN);
    if (rounding == QOPS_HALF_EVEN)
        return rint_f32(v);
    if (rounding == QOPS_HALF_UP)
        return floor_f32(add_f32(v, set1_f32(0.5f)));
    if (rounding == QOPS_HALF_AWAY) /* the float32 before 0.5, with the sign of v */
        return add_f32(v, TIER(floats)(or_bits(TIER(bits)(set1_f32(0.49999997f)), and_bits(TIER(bits)(v), sign))));
    return v;
}

TARGET static inline __attribute__((always_inline)) vecf TIER(scaled)(vecf near, vecf scale, float_params p, int flags)
{
    if (flags & FLOAT_CUT)
        near = sub_f32(min_f32(max_f32(near, set1_f32(p.lowest_x)), set1_f32(p.highest_x)), set1_f32(p.minus));
    if (flags & FLOAT_ONCE)
        return fma_f32(near, scale, set1_f32(p.plus));
    if (flags & FLOAT_THRICE)
        near = mul_f32(near, set1_f32(p.before));
    near = flags & FLOAT_BY ? div_f32(near, scale) : mul_f32(near, scale);
    if (flags & FLOAT_THRICE)
        near = mul_f32(near, set1_f32(p.after));
    return flags & FLOAT_PLUS ? add_f32(near, set1_f32(p.plus)) : near;
}

/* Adds the shift and clamps in double, for half of the lanes. */
TARGET static inline vecd TIER(wide_ends)(vecd code, float_params p)
{
    return min_f64(max_f64(add_f64(code, set1_f64(p.shift)), set1_f64(p.lowest)), set1_f64(p.highest));
}

/* The last steps of a stage that does not saturate values beyond int32. */
TARGET static inline vec TIER(beyond)(vecf near, float_params p)
{
    const int32_t shift = (int32_t)p.shift, lowest = (int32_t)p.lowest, highest = (int32_t)p.highest;
    if (p.beyond == BEYOND_LOWEST)
        return add_s32(min_s32(max_s32(f32_to_s32_trunc(near), set1_s32(lowest - shift)), set1_s32(highest - shift)),
                       set1_s32(shift));
    if (p.beyond == BEYOND_CUT_WRAPS)
        near = min_f32(near, set1_f32(2147483520));
    return min_s32(max_s32(add_s32(f32_to_s32_trunc(near), set1_s32(shift)), set1_s32(lowest)), set1_s32(highest));
}

TARGET static inline __attribute__((always_inline)) vec TIER(float_code)(vecf x, vecf scale, float_params p, int flags, qops_rounding rounding)
{
    const vecf near = TIER(nearest)(TIER(scaled)(x, scale, p, flags), rounding);
    const vecf code = rounding == QOPS_HALF_EVEN ? near : trunc_f32(near);
    if (flags & FLOAT_BEYOND)
        return TIER(beyond)(code, p);
    if (flags & FLOAT_WIDE)
        return f64_to_s32_trunc(TIER(wide_ends)(low_f32_f64(code), p), TIER(wide_ends)(high_f32_f64(code), p));
    return f32_to_s32_trunc(min_f32(max_f32(add_f32(code, set1_f32((float)p.shift)), set1_f32((float)p.lowest)),
                                    set1_f32((float)p.highest)));
}

/* The rounded value before the shift and the clamp, for codes of 8 bits. Values may be cut to 2^20, as that saturates too.
 * Values below int32, and NaN, become INT32_MIN. */
TARGET static inline __attribute__((always_inline)) vec TIER(float_sum)(vecf x, vecf scale, float_params p, int flags, qops_rounding rounding)
{
    const vecf sum = TIER(scaled)(x, scale, p, flags), most = set1_f32(1 << 20);
    return rounding == QOPS_HALF_EVEN ? f32_to_s32_rint(min_f32(most, sum))
                                      : f32_to_s32_trunc(min_f32(most, TIER(nearest)(sum, rounding)));
}

/* A vector of values, read as int32 or as float32. */
TARGET static inline vecf TIER(float_near)(const int32_t *x, int is_int)
{
    return is_int ? s32_to_f32(load(x)) : load_f32((const float *)x);
}

/* The number of the scale of the next vector. */
static inline ptrdiff_t TIER(next_scale)(channel_scales s, ptrdiff_t at)
{
    at += LANES / 4;
    return at >= s.period ? at - s.period : at;
}

/* The code of a vector of values; with `fits_8`, what `narrow_s32_codes` takes to codes of 8 bits. */
TARGET static inline __attribute__((always_inline)) vec TIER(float_vector)(const int32_t *x, int is_int, vecf scale,
                                                                          float_params p, int fits_8,
                                                                          qops_rounding rounding, int flags)
{
    const vecf near = TIER(float_near)(x, is_int);
    return fits_8 ? TIER(float_sum)(near, scale, p, flags, rounding) : TIER(float_code)(near, scale, p, flags, rounding);
}

/* Stores a vector of codes, whose bytes are `size`. Codes of 8 bits that do not fit are cut as C cuts an int32. */
TARGET static inline __attribute__((always_inline)) void TIER(store_floats)(void *c, ptrdiff_t i, vec *q, int size,
                                                                           float_ends to)
{
    if (size == 4)
        store((int32_t *)c + i, q[0]);
    else if (size == 2)
        store((uint16_t *)c + i, narrow_s32_16(q[0], q[1], to.is_signed));
    else if (to.fits_8)
        store((uint8_t *)c + i, narrow_s32_codes(q, to.of_8));
    else {
        for (int j = 0; j < 4; j++)
            q[j] = and_bits(q[j], set1_s32(0xFF));
        store((uint8_t *)c + i, narrow_s32_u8(q[0], q[1], q[2], q[3]));
    }
}

/* Codes of `size` bytes; of channels only whole vectors. `is_int`, `size`, `to.fits_8` and `rounding` are constants of the
 * calls, so no loop asks for them. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(float_loop)(const int32_t *x, int is_int, void *c, int size,
                                                                              ptrdiff_t n, float_params p, channel_scales s,
                                                                              float_ends to, qops_rounding rounding,
                                                                              int flags)
{
    const ptrdiff_t w = LANES / 4, width = LANES / size;
    const vecf scale = set1_f32(p.scale);
    const int32_t *const line = size == 4 ? c : x;
    const int many = 4 / size, fits_8 = size == 1 && to.fits_8;
    vec q[4];
    ptrdiff_t end = 0, at = s.at;
    for (; s.each && end + width <= n; end += width) {
        for (int j = 0; j < many; j++, at = TIER(next_scale)(s, at)) {
            const vecf own = load_f32((const float *)s.each + at);
            q[j] = TIER(float_vector)(x + end + j * w, is_int, own, p, fits_8, rounding, flags);
        }
        TIER(store_floats)(c, end, q, size, to);
    }
    if (s.each)
        return end;
    FOR_VECTORS(i, n, width, line) {
        for (int j = 0; j < many; j++)
            q[j] = TIER(float_vector)(x + i + j * w, is_int, scale, p, fits_8, rounding, flags);
        TIER(store_floats)(c, i, q, size, to);
    }
    return n;
}

/* There are two loops, so that flags which few rules have cost the other rules nothing. */
#define BY_ROUNDING(size)                                                                       \
    (flags < FLOAT_ONCE ? BY_ROUNDING_OF(size, flags & (FLOAT_CUT | FLOAT_PLUS)) : BY_ROUNDING_OF(size, flags))
#define BY_ROUNDING_OF(size, done)                                    \
    (p.rounding == QOPS_HALF_EVEN   ? LOOP(size, QOPS_HALF_EVEN, done) \
     : p.rounding == QOPS_HALF_AWAY ? LOOP(size, QOPS_HALF_AWAY, done) \
     : p.rounding == QOPS_HALF_UP   ? LOOP(size, QOPS_HALF_UP, done)   \
     : p.rounding == QOPS_TRUNCATE  ? LOOP(size, QOPS_TRUNCATE, done) : 0)
#define LOOP(size, rounding, done)                                                 \
    (is_int ? TIER(float_loop)(x, 1, c, size, n, p, s, to, rounding, done)          \
            : TIER(float_loop)(x, 0, c, size, n, p, s, to, rounding, done))

TARGET static ptrdiff_t TIER(float_codes)(const void *x, int is_int, void *c, ptrdiff_t n, float_params p, channel_scales s,
                                          float_ends to, int flags)
{
    return BY_ROUNDING(4);
}

TARGET static ptrdiff_t TIER(float_codes_16)(const void *x, int is_int, void *c, ptrdiff_t n, float_params p, channel_scales s,
                                             float_ends to, int flags)
{
    return BY_ROUNDING(2);
}

TARGET static ptrdiff_t TIER(float_codes_8)(const void *x, int is_int, void *c, ptrdiff_t n, float_params p, channel_scales s,
                                            float_ends to, int flags)
{
    if (to.fits_8) {
        to.fits_8 = 1;
        return BY_ROUNDING(1);
    }
    to.fits_8 = 0;
    return BY_ROUNDING(1);
}
#undef LOOP
#undef BY_ROUNDING
#undef BY_ROUNDING_OF

#else
#ifndef QOPS_FLOAT_STAGE_H
#define QOPS_FLOAT_STAGE_H
#include "stage/batch.h"
#include "stage/float_params.h"

typedef struct { code_clamp of_8; int is_signed, fits_8; } float_ends; /* fits_8: the clamp is that of codes of 8 bits */

#define QOPS_BODY "stage/float_stage.h"
#include "lanes/tiers.h"

/* The flags of a stage. Scales of channels may be 0 or below, and larger than the first one. */
static inline int flags_of_stage(float_params p, int is_int, int has_channels)
{
    const int flags = float_flags(p, is_int);
    return has_channels ? flags | (is_int ? 0 : FLOAT_CUT) | FLOAT_BEYOND * (p.beyond != BEYOND_SATURATES) : flags;
}

/* The first codes of a batch, and how many. */
static inline ptrdiff_t float_codes__simd(int tier, const float_params *f, channel_scales s, const stage_batch *b)
{
    if (b->from == FROM_S64 || b->n < LANES_OF(tier) / b->size)
        return 0;
    const float_params p = *f;
    const int is_int = b->from == FROM_S32, base = b->is_signed ? INT16_MIN : 0;
    const int flags = flags_of_stage(p, is_int, s.each != NULL);
    float_ends to = {.is_signed = b->is_signed};
    to.fits_8 = has_float_clamp(p, b->is_signed, &to.of_8) && !(flags & FLOAT_BEYOND);
    if (!is_for_lanes(p, flags) || (b->size < 4 && p.wide))
        return 0;
    if (b->size == 4)
        return RUN_TIER(tier, float_codes, b->x, is_int, b->c, b->n, p, s, to, flags);
    if (b->size == 1)
        return s.each && !to.fits_8 ? 0 : RUN_TIER(tier, float_codes_8, b->x, is_int, b->c, b->n, p, s, to, flags);
    if (p.lowest < base || p.highest > base + UINT16_MAX)
        return 0;
    return RUN_TIER(tier, float_codes_16, b->x, is_int, b->c, b->n, p, s, to, flags);
}
#endif
#endif
