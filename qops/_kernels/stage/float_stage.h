/* The loops of float_stage.pyx, many lanes at a time. */
#ifdef TIER

/* Changes v so that dropping its fraction rounds it. */
TARGET static inline vecf TIER(nearest)(vecf v, qops_rounding rounding)
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

TARGET static inline vecf TIER(scaled)(vecf near, vecf scale, float_params p, int flags)
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

TARGET static inline vec TIER(float_code)(vecf x, vecf scale, float_params p, int flags, qops_rounding rounding)
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
TARGET static inline vec TIER(float_sum)(vecf x, vecf scale, float_params p, int flags, qops_rounding rounding)
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

/* Int32 codes; of channels only whole vectors. `is_int` and `rounding` are constants of the calls, so no loop asks for them. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(float_loop)(const int32_t *x, int is_int, int32_t *y,
                                                                              ptrdiff_t n, float_params p, channel_scales s,
                                                                              qops_rounding rounding, int flags)
{
    const ptrdiff_t w = LANES / 4;
    const vecf scale = set1_f32(p.scale);
    ptrdiff_t end = 0;
    for (ptrdiff_t at = s.at; s.each && end + w <= n; end += w, at = TIER(next_scale)(s, at)) {
        const vecf own = load_f32((const float *)s.each + at);
        store(y + end, TIER(float_code)(TIER(float_near)(x + end, is_int), own, p, flags, rounding));
    }
    if (s.each)
        return end;
    FOR_VECTORS(i, n, w, y)
        store(y + i, TIER(float_code)(TIER(float_near)(x + i, is_int), scale, p, flags, rounding));
    return n;
}

/* The same for codes of 8 bits. Without `to`, int32 codes are cut to 8 bits as C cuts an int32; channels have it. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(float_loop_8)(const int32_t *x, int is_int, uint8_t *c,
                                                                                ptrdiff_t n, float_params p, channel_scales s,
                                                                                const code_clamp *to, qops_rounding rounding,
                                                                                int flags)
{
    const vecf scale = set1_f32(p.scale);
    const vec low_byte = set1_s32(0xFF);
    const ptrdiff_t w = LANES / 4;
    vec q[4];
    ptrdiff_t end = 0, at = s.at;
    for (; s.each && to && end + LANES <= n; end += LANES) {
        for (int j = 0; j < 4; j++, at = TIER(next_scale)(s, at)) {
            const vecf near = TIER(float_near)(x + end + j * w, is_int), own = load_f32((const float *)s.each + at);
            q[j] = TIER(float_sum)(near, own, p, flags, rounding);
        }
        store(c + end, narrow_s32_codes(q, *to));
    }
    if (s.each)
        return end;
    FOR_VECTORS(i, n, LANES, x) {
        for (int j = 0; j < 4; j++) {
            const vecf near = TIER(float_near)(x + i + j * w, is_int);
            q[j] = to ? TIER(float_sum)(near, scale, p, flags, rounding)
                        : and_bits(TIER(float_code)(near, scale, p, flags, rounding), low_byte);
        }
        store(c + i, to ? narrow_s32_codes(q, *to) : narrow_s32_u8(q[0], q[1], q[2], q[3]));
    }
    return n;
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(float_loop_16)(const int32_t *x, int is_int, uint16_t *c,
                                                                                 ptrdiff_t n, float_params p, int is_signed,
                                                                                 qops_rounding rounding, int flags)
{
    const vecf scale = set1_f32(p.scale);
    FOR_VECTORS(i, n, LANES / 2, x) {
        const vec a = TIER(float_code)(TIER(float_near)(x + i, is_int), scale, p, flags, rounding);
        const vec b = TIER(float_code)(TIER(float_near)(x + i + LANES / 4, is_int), scale, p, flags, rounding);
        store(c + i, narrow_s32_16(a, b, is_signed));
    }
    return n;
}

/* There are two loops, so that flags which few rules have cost the other rules nothing. */
#define BY_ROUNDING(loop, ...)                                                                \
    (flags < FLOAT_ONCE ? BY_ROUNDING_OF(flags & (FLOAT_CUT | FLOAT_PLUS), loop, __VA_ARGS__) \
                        : BY_ROUNDING_OF(flags, loop, __VA_ARGS__))
#define BY_ROUNDING_OF(done, loop, ...)                                       \
    (p.rounding == QOPS_HALF_EVEN   ? loop(__VA_ARGS__, QOPS_HALF_EVEN, done) \
     : p.rounding == QOPS_HALF_AWAY ? loop(__VA_ARGS__, QOPS_HALF_AWAY, done) \
     : p.rounding == QOPS_HALF_UP   ? loop(__VA_ARGS__, QOPS_HALF_UP, done)   \
     : p.rounding == QOPS_TRUNCATE  ? loop(__VA_ARGS__, QOPS_TRUNCATE, done) : 0)

TARGET static ptrdiff_t TIER(float_codes)(const void *x, int is_int, int32_t *y, ptrdiff_t n, float_params p,
                                          channel_scales s, int flags)
{
    if (n < LANES / 4)
        return 0;
    return is_int ? BY_ROUNDING(TIER(float_loop), x, 1, y, n, p, s) : BY_ROUNDING(TIER(float_loop), x, 0, y, n, p, s);
}

TARGET static ptrdiff_t TIER(float_codes_8)(const void *x, int is_int, void *c, ptrdiff_t n, float_params p, channel_scales s,
                                            code_clamp to, int clamps, int flags)
{
    if (n < LANES)
        return 0;
    if (clamps)
        return is_int ? BY_ROUNDING(TIER(float_loop_8), x, 1, c, n, p, s, &to)
                      : BY_ROUNDING(TIER(float_loop_8), x, 0, c, n, p, s, &to);
    return is_int ? BY_ROUNDING(TIER(float_loop_8), x, 1, c, n, p, s, 0)
                  : BY_ROUNDING(TIER(float_loop_8), x, 0, c, n, p, s, 0);
}

TARGET static ptrdiff_t TIER(float_codes_16)(const void *x, int is_int, void *c, ptrdiff_t n, float_params p, int is_signed,
                                             int flags)
{
    if (n < LANES / 2)
        return 0;
    return is_int ? BY_ROUNDING(TIER(float_loop_16), x, 1, c, n, p, is_signed)
                  : BY_ROUNDING(TIER(float_loop_16), x, 0, c, n, p, is_signed);
}
#undef BY_ROUNDING
#undef BY_ROUNDING_OF

#else
#ifndef QOPS_FLOAT_STAGE_H
#define QOPS_FLOAT_STAGE_H
#include "stage/float_params.h"

#define QOPS_BODY "stage/float_stage.h"
#include "lanes/tiers.h"

/* The flags of a stage. Scales of channels may be 0 or below, and larger than the first one. */
static inline int flags_of_stage(float_params p, int is_int, int has_channels)
{
    const int flags = float_flags(p, is_int);
    return has_channels ? flags | (is_int ? 0 : FLOAT_CUT) | FLOAT_BEYOND * (p.beyond != BEYOND_SATURATES) : flags;
}

static inline ptrdiff_t float_codes__simd(int tier, const void *x, int is_int, int32_t *y, ptrdiff_t n, float_params p,
                                          channel_scales s)
{
    const int flags = flags_of_stage(p, is_int, s.each != NULL);
    return is_for_lanes(p, flags) ? RUN_TIER(tier, float_codes, x, is_int, y, n, p, s, flags) : 0;
}

static inline ptrdiff_t float_codes_8__simd(int tier, const void *x, int is_int, void *c, int is_signed, ptrdiff_t n,
                                            float_params p, channel_scales s)
{
    code_clamp to;
    const int flags = flags_of_stage(p, is_int, s.each != NULL);
    const int clamps = has_float_clamp(p, is_signed, &to) && !(flags & FLOAT_BEYOND);
    return p.wide || !is_for_lanes(p, flags) || (s.each && !clamps)
               ? 0 : RUN_TIER(tier, float_codes_8, x, is_int, c, n, p, s, to, clamps, flags);
}

/* Only for codes whose ends lie within the type. */
static inline ptrdiff_t float_codes_16__simd(int tier, const void *x, int is_int, void *c, int is_signed, ptrdiff_t n,
                                             float_params p)
{
    const int base = is_signed ? INT16_MIN : 0, flags = flags_of_stage(p, is_int, 0);
    return p.wide || p.lowest < base || p.highest > base + UINT16_MAX || !is_for_lanes(p, flags)
               ? 0 : RUN_TIER(tier, float_codes_16, x, is_int, c, n, p, is_signed, flags);
}
#endif
#endif
