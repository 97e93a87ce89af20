/* Codes of 8 bits: by float32 where that is certain to be right, else exactly. Only with AVX-512 is this faster: the
 * double stage takes a third of the time, integers two thirds to three quarters (10^6 codes, Zen 4). The copies of the
 * loop for sums that fit and for ends that do not cut take a quarter of that again off requantize_32to8.
 *
 * In 2^-16 output steps float32 is off by less than 8: where the code does not saturate, the roundings of x and of m cost
 * at most 2.01 each, that of the sum 1.01, of t and rint 0.5. With 8 added the result is 0 to 16 too high, so its high
 * half is the code unless its low half is below 16. */
#ifdef TIER

#if LANES == 64
/* x * m + t, rounded to an integer; where 32 bits may not hold that, cut so that its high half saturates and its low half
 * is not near 0. By the sign of x, `apart` is added or taken away before. */
TARGET static inline __attribute__((always_inline)) vec TIER(guessed)(const int32_t *x, guess g, int by_sign, int fits)
{
    const int32_t later = by_sign ? (int32_t)g.t : 0;
    const vecf most = set1_f32((float)((1 << 30) + (((1 << 15) - later) & 0xFFFF))), near = s32_to_f32(load(x));
    const vec apart = _mm512_ternarylogic_epi32(TIER(bits)(near), set1_s32(INT32_MIN), TIER(bits)(set1_f32(g.apart)), 0x6A);
    const vecf position = fma_f32(near, set1_f32(g.m), by_sign ? TIER(floats)(apart) : set1_f32(g.t)); /* 0x6A: a & b ^ c */
    const vec whole = f32_to_s32_rint(fits ? position : _mm512_range_ps(position, most, 2)); /* 2: the one nearer to 0 */
    return by_sign ? add_s32(whole, set1_s32(later)) : whole;
}

/* the high halves of two vectors, in the order that narrow_s32_s16 leaves */
TARGET static inline vec TIER(high_s32_s16)(vec lo, vec hi)
{
    const int64_t of_lo = 0x0007000500030001, of_hi = of_lo + 0x0020002000200020, block = 0x0008000800080008;
    const vec from = _mm512_setr_epi64(of_lo, of_hi, of_lo + block, of_hi + block, of_lo + 2 * block, of_hi + 2 * block,
                                       of_lo + 3 * block, of_hi + 3 * block);
    return _mm512_permutex2var_epi16(lo, from, hi);
}

TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(guess_loop)(
    const int32_t *x, uint8_t *c, ptrdiff_t n, guess g, code_ends e, int by_sign, int fits, ends_kind kind,
    vec (*exact)(const int32_t *, const void *, code_ends), const void *how, int stream)
{
    const vec sure = set1_s32(0xFFF0);
    vec q[4];
    FOR_LOADS(i, n, LANES, x, c, stream) {
        for (int j = 0; j < 4; j++)
            q[j] = TIER(guessed)(x + i + j * (LANES / 4), g, by_sign, fits);
        const vec lo = TIER(high_s32_s16)(q[0], q[1]), hi = TIER(high_s32_s16)(q[2], q[3]);
        vec code = in_order(kind == ALL_S8 ? _mm512_packs_epi16(lo, hi) : narrow_s16_u8(lo, hi));
        if (kind == SOME_CODES)
            code = clamp_codes(code, e);
        if (_mm512_testn_epi32_mask(min_u16(min_u16(q[0], q[1]), min_u16(q[2], q[3])), sure))
            code = exact(x + i, how, e);
        store(c + i, code, stream);
    }
    return done(n, stream);
}
#endif

/* `exact`, constant in each call, makes a vector of codes of x by what `how` points to. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(guess_8)(
    const int32_t *x, uint8_t *c, ptrdiff_t n, guess g, code_ends e, int by_sign,
    vec (*exact)(const int32_t *, const void *, code_ends), const void *how, int stream)
{
#if LANES == 64
    if (g.pays && g.m > 0.5f)
        return TIER(guess_loop)(x, c, n, g, e, by_sign, 0, SOME_CODES, exact, how, stream);
    if (g.pays && has_all_s8(e)) {
        g.t -= 128 * 65536.0f;
        return TIER(guess_loop)(x, c, n, g, e, by_sign, 1, ALL_S8, exact, how, stream);
    }
    if (g.pays && has_all_u8(e))
        return TIER(guess_loop)(x, c, n, g, e, by_sign, 1, ALL_U8, exact, how, stream);
    if (g.pays)
        return TIER(guess_loop)(x, c, n, g, e, by_sign, 1, SOME_CODES, exact, how, stream);
#endif
    FOR_LOADS(i, n, LANES, x, c, stream)
        store(c + i, exact(x + i, how, e), stream);
    return done(n, stream);
}

#else
#ifndef QOPS_GUESS_H
#define QOPS_GUESS_H
#include "stage/code_ends.h"
#include <math.h>

typedef struct { float m, t, apart; int pays; } guess;
typedef enum { SOME_CODES, ALL_U8, ALL_S8 } ends_kind; /* whether codes must be clamped */

/* x * scale + t, plus `if_negative` for x below 0, with t in 2^-16 steps: half of `if_negative` is part of t, and half is
 * taken away or added by the sign of x. It is not faster if many products are ties. */
static inline guess guess_of(double scale, double t, double if_negative)
{
    const double ties = scale * 4096, most = (1 << 24) - 8;
    return (guess){(float)(scale * 65536), (float)rint(t + if_negative / 2 + 8), (float)(-if_negative / 2),
                   scale > 0 && ties != floor(ties) && fabs(t) <= most && fabs(t + if_negative) <= most};
}

#define QOPS_BODY "stage/guess.h"
#include "lanes/tiers.h"
#endif
#endif
