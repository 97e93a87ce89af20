/* The loops of float_stage.pyx, many lanes at a time, for codes of 8 and of 32 bits. */
#ifdef TIER

TARGET static inline vecf TIER(rounded)(vecf v, qops_rounding rounding)
{
    const vec sign = set1_s32(INT32_MIN);
    if (rounding == QOPS_HALF_EVEN)
        return rint_f32(v);
    if (rounding == QOPS_HALF_AWAY) /* the float32 before 0.5, with the sign of v */
        v = add_f32(v, TIER(floats)(or_bits(TIER(bits)(set1_f32(0.49999997f)), and_bits(TIER(bits)(v), sign))));
    return trunc_f32(v);
}

TARGET static inline vec TIER(float_code)(const int32_t *x, int is_int, float_row p, qops_rounding rounding)
{
    const vecf value = is_int ? s32_to_f32(load(x)) : load_f32((const float *)x);
    const vecf near = min_f32(max_f32(value, set1_f32(p.lowest_x)), set1_f32(p.highest_x));
    const vecf scaled = add_f32(mul_f32(sub_f32(near, set1_f32(p.minus)), set1_f32(p.scale)), set1_f32(p.plus));
    const vecf code = add_f32(TIER(rounded)(scaled, rounding), set1_f32(p.shift));
    return f32_to_s32_trunc(min_f32(max_f32(code, set1_f32(p.lowest)), set1_f32(p.highest)));
}

/* `is_int` and `rounding` are constants of each call, so no loop asks for them; 8 bits are cut as C cuts an int32: not every
 * row clamps its codes */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(float_loop)(const int32_t *x, int is_int, void *codes,
                                                                              int bytes, ptrdiff_t n, float_row p,
                                                                              qops_rounding rounding, int stream)
{
    const vec low_byte = set1_s32(0xFF);
    const ptrdiff_t w = LANES / 4;
    uint8_t *c = codes;
    int32_t *y = codes;
    vec q[4];

    if (n < LANES / bytes)
        return 0;
    if (bytes == 4) {
        FOR_VECTORS(i, n, w, y)
            store(y + i, TIER(float_code)(x + i, is_int, p, rounding), stream);
        return done(n, stream);
    }
    FOR_VECTORS(i, n, LANES, c) {
        for (int j = 0; j < 4; j++)
            q[j] = and_bits(TIER(float_code)(x + i + j * w, is_int, p, rounding), low_byte);
        store(c + i, narrow_s32_u8(q[0], q[1], q[2], q[3]), stream);
    }
    return done(n, stream);
}

TARGET static ptrdiff_t TIER(float_codes)(const void *x, int is_int, void *c, int bytes, ptrdiff_t n, float_row p, int stream)
{
#define LOOP(is_int, bytes, rounding) TIER(float_loop)(x, is_int, c, bytes, n, p, rounding, stream)
#define LOOP_OF(is_int, bytes)                                                       \
    (p.rounding == QOPS_HALF_EVEN   ? LOOP(is_int, bytes, QOPS_HALF_EVEN)            \
     : p.rounding == QOPS_HALF_AWAY ? LOOP(is_int, bytes, QOPS_HALF_AWAY)            \
     : p.rounding == QOPS_TRUNCATE  ? LOOP(is_int, bytes, QOPS_TRUNCATE) : 0)
    if (bytes == 4)
        return is_int ? LOOP_OF(1, 4) : LOOP_OF(0, 4);
    return is_int ? LOOP_OF(1, 1) : LOOP_OF(0, 1);
#undef LOOP_OF
#undef LOOP
}

#else
#ifndef QOPS_FLOAT_STAGE_H
#define QOPS_FLOAT_STAGE_H
#include "core/rounding.h"
#include <stdint.h>

typedef struct { float lowest_x, highest_x, minus, scale, plus, shift, lowest, highest; qops_rounding rounding; } float_row;

#define QOPS_BODY "core/float_stage.h"
#include "core/tiers.h"

static inline ptrdiff_t float_codes__simd(int tier, const void *x, int is_int, void *c, int bytes, ptrdiff_t n, float_row p,
                                          int stream)
{
    return RUN_TIER(tier, float_codes, x, is_int, c, bytes, n, p, stream);
}
#endif
#endif
