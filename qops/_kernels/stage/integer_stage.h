/* The loops of integer_stage.pyx, a vector at a time. Most rules need lanes of 32 bits only; with AVX-512, lanes of 64
 * bits do the others. */
#ifdef TIER

/* Parameters in the lanes of vectors; `one` and `other` are for the products of each half of the lanes. */
typedef struct { vec add, if_negative, low; } TIER(term);
typedef struct { vec m, lowest, highest, centre, left, high, half; TIER(term) one, other; } TIER(numbers);

TARGET static inline TIER(numbers) TIER(same_in_all)(const integer_params *p)
{
    const int shift = p->first.right_shift;
    const TIER(term) term = {set1_s64(p->first.add), set1_s64(p->first.if_negative), set1_s64(shift < 32 ? 32 - shift : 0)};
    return (TIER(numbers)){set1_s32((int32_t)p->multiplier), set1_s32(p->lowest), set1_s32(p->highest), set1_s32(p->centre),
                           set1_s32(p->left_shift), set1_s32(p->product_wraps ? shift : shift > 32 ? shift - 32 : 0),
                           set1_s32((int32_t)p->first.add), term, term};
}

/* Vectors of the parameters of each channel; the first element has parameters number `at`. */
TARGET static inline __attribute__((always_inline)) TIER(numbers) TIER(each_its_own)(params_of_lanes r, ptrdiff_t at,
                                                                                     TIER(numbers) k)
{
    const ptrdiff_t from = at / HALVES_APART;
    const vec high = load(r.high + at);
    k.m = load(r.m + at);
    k.left = load(r.left + at);
    k.high = high;
    k.half = srl_s32(sll_s32_lanes(set1_s32(1), high), 1);
    k.one = (TIER(term)){load(r.add[0] + from), load(r.if_negative[0] + from), load(r.low[0] + from)};
    k.other = (TIER(term)){load(r.add[1] + from), load(r.if_negative[1] + from), load(r.low[1] + from)};
    return k;
}

/* Products of half of the lanes and their terms, shifted left until their low 32 bits are the high word. */
TARGET static inline __attribute__((always_inline)) vec TIER(product)(vec p, TIER(term) k, int flags)
{
    if (flags & INTEGER_NEGATIVE)
        p = add_where_negative_s64(p, k.if_negative);
    p = add_s64(p, k.add);
    return flags & INTEGER_LOW ? sll_s64_lanes(p, k.low) : p;
}

/* All that comes before the zero point. `flags` is a constant in the common loops. */
TARGET static inline __attribute__((always_inline)) vec TIER(high)(const int32_t *x, TIER(numbers) k, int flags)
{
    vec near = load(x), high;
    if (flags & INTEGER_CUT)
        near = sub_s32(min_s32(max_s32(near, k.lowest), k.highest), k.centre);
    if (flags & INTEGER_LEFT)
        near = sll_s32_lanes(near, k.left);
    if (flags & INTEGER_WRAPS)
        high = add_s32(mullo_s32(near, k.m), k.half);
    else
        high = weave_high_s32(TIER(product)(mul_half_s32(near, k.m), k.one, flags),
                              TIER(product)(mul_other_half_s32(near, k.m), k.other, flags));
    return flags & (INTEGER_HIGH | INTEGER_WRAPS) ? sra_s32_lanes(high, k.high) : high;
}

/* Int32 codes. The clamp comes before the zero point is added, so that nothing wraps. */
TARGET static inline vec TIER(clamped)(vec high, integer_clamp to)
{
    return add_s32(min_s32(max_s32(high, set1_s32(to.lowest)), set1_s32(to.highest)), set1_s32(to.zero_point));
}

/* Stores a vector of codes, whose bytes are `size`, of as many vectors as that takes. */
TARGET static inline __attribute__((always_inline)) void TIER(store_codes)(void *c, ptrdiff_t i, const vec *high, int size,
                                                                          integer_ends to)
{
    if (size == 1)
        store((uint8_t *)c + i, narrow_s32_codes(high, to.of_8));
    else if (size == 2)
        store((uint16_t *)c + i, narrow_s32_16(TIER(clamped)(high[0], to.wide), TIER(clamped)(high[1], to.wide), to.is_signed));
    else
        store((int32_t *)c + i, TIER(clamped)(high[0], to.wide));
}

TARGET static inline __attribute__((always_inline)) void TIER(vector_of_codes)(const int32_t *x, void *c, ptrdiff_t i,
                                                                              TIER(numbers) k, int size, integer_ends to,
                                                                              int flags)
{
    vec high[4];
    for (int j = 0; j < 4 / size; j++)
        high[j] = TIER(high)(x + i + j * (LANES / 4), k, flags);
    TIER(store_codes)(c, i, high, size, to);
}

/* `size` is a constant of the calls, and `flags` are where they are common, so that no loop asks for them. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(integer_loop)(const int32_t *x, void *c, ptrdiff_t n,
                                                                                const integer_params *p, integer_ends to,
                                                                                int size, int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    if (size == 4)
        FOR_VECTORS_UNROLLED(i, n, LANES / 4, (int32_t *)c)
            TIER(vector_of_codes)(x, c, i, k, 4, to, flags);
    else
        FOR_VECTORS(i, n, LANES / size, x)
            TIER(vector_of_codes)(x, c, i, k, size, to, flags);
    return n;
}

/* Calls a loop with constant flags where they are common. A flag that the parameters do not need changes nothing. */
#define BY_FLAGS(size)                                                                                  \
    (!(flags & ~INTEGER_HIGH)                        ? LOOP(size, INTEGER_HIGH)                     \
     : !(flags & ~(INTEGER_HIGH | INTEGER_NEGATIVE)) ? LOOP(size, INTEGER_HIGH | INTEGER_NEGATIVE) \
     : flags == INTEGER_LOW                          ? LOOP(size, INTEGER_LOW)                      \
     : flags == (INTEGER_LOW | INTEGER_CUT)          ? LOOP(size, INTEGER_LOW | INTEGER_CUT)        \
     : flags == INTEGER_WRAPS                        ? LOOP(size, INTEGER_WRAPS)                    \
                                                     : LOOP(size, flags))
#define LOOP(size, flags) TIER(integer_loop)(x, c, n, p, to, size, flags)

TARGET static ptrdiff_t TIER(stage_s32)(const int32_t *x, void *c, ptrdiff_t n, const integer_params *p, integer_ends to, int flags)
{
    return BY_FLAGS(4);
}

TARGET static ptrdiff_t TIER(stage_16)(const int32_t *x, void *c, ptrdiff_t n, const integer_params *p, integer_ends to, int flags)
{
    return BY_FLAGS(2);
}

TARGET static ptrdiff_t TIER(stage_8)(const int32_t *x, void *c, ptrdiff_t n, const integer_params *p, integer_ends to, int flags)
{
    return BY_FLAGS(1);
}
#undef BY_FLAGS
#undef LOOP

/* All whole vectors of codes of channels. The first element has parameters number `at`, the next one the next; after a
 * period they begin again. */
TARGET static inline __attribute__((always_inline)) ptrdiff_t TIER(each_loop)(const int32_t *x, void *c, ptrdiff_t n,
                                                                             const integer_lanes *r, ptrdiff_t at,
                                                                             const integer_params *p, integer_ends to,
                                                                             int size, int flags)
{
    const TIER(numbers) k = TIER(same_in_all)(p);
    const params_of_lanes params = r->params;
    const ptrdiff_t w = LANES / 4, period = r->period;
    ptrdiff_t i = 0;
    vec high[4];
    for (; i + LANES / size <= n; i += LANES / size) {
        for (int j = 0; j < 4 / size; j++) {
            high[j] = TIER(high)(x + i + j * w, TIER(each_its_own)(params, at, k), flags);
            at += w;
            at -= at >= period ? period : 0;
        }
        TIER(store_codes)(c, i, high, size, to);
    }
    return i;
}

#define BY_FLAGS(size)                                                                                               \
    (r->flags & ~(INTEGER_HIGH | INTEGER_NEGATIVE) ? TIER(each_loop)(x, c, n, r, at, p, to, size, r->flags)          \
                                                   : TIER(each_loop)(x, c, n, r, at, p, to, size,                    \
                                                                     INTEGER_HIGH | INTEGER_NEGATIVE))
TARGET static ptrdiff_t TIER(stage_each_8)(const int32_t *x, void *c, ptrdiff_t n, const integer_lanes *r, ptrdiff_t at,
                                           const integer_params *p, integer_ends to)
{
    return BY_FLAGS(1);
}

TARGET static ptrdiff_t TIER(stage_each)(const int32_t *x, void *c, ptrdiff_t n, const integer_lanes *r, ptrdiff_t at,
                                         const integer_params *p, integer_ends to)
{
    return BY_FLAGS(4);
}
#undef BY_FLAGS

#include "stage/wide_params.h"

#else
#ifndef QOPS_INTEGER_STAGE_H
#define QOPS_INTEGER_STAGE_H
#include "stage/batch.h"
#include "stage/integer_params.h"

typedef struct { integer_clamp wide; code_clamp of_8; int is_signed; } integer_ends; /* for codes of 32 and 16 bits; of 8 */

#define QOPS_BODY "stage/integer_stage.h"
#include "lanes/tiers.h"

#if QOPS_X86
#define ANY_PARAMS(tier, ...) ((tier) >= QOPS_AVX512 ? avx512_any_params(__VA_ARGS__) : 0)
#else
#define ANY_PARAMS(tier, ...) 0
#endif

/* Whether lanes can clamp to the ends of codes of so many bytes; sets `to`. */
static inline int has_ends(const integer_params *p, const stage_batch *b, integer_ends *to)
{
    *to = (integer_ends){.is_signed = b->is_signed};
    if (b->size > 1)
        return whole_range(p) && has_integer_clamp(p, &to->wide);
    return (whole_range(p) || range_16(p)) && !p->code_wraps &&
           has_code_clamp(p->zero_point, p->lowest_code, p->highest_code, b->is_signed, &to->of_8);
}

/* The first codes of elements that have the same parameters, and how many. */
static inline ptrdiff_t integer_codes__simd(int tier, const integer_params *p, const stage_batch *b)
{
    integer_params room;
    integer_ends to;
    if (b->from == FROM_S64)
        return b->size == 4 ? ANY_PARAMS(tier, b->x, 1, b->c, b->n, p) : 0;
    if (b->n < LANES_OF(tier) / (b->size == 1 ? 1 : 2)) /* the plain loop is as quick for a single vector of int32 */
        return 0;
    const integer_params *const once = in_one_shift(p, &room);
    if (!is_for_lanes_32(once) || !has_ends(p, b, &to))
        return b->size == 4 ? ANY_PARAMS(tier, b->x, 0, b->c, b->n, p) : 0;
    const int flags = flags_of(once);
    return b->size == 4   ? RUN_TIER(tier, stage_s32, b->x, b->c, b->n, once, to, flags)
           : b->size == 2 ? RUN_TIER(tier, stage_16, b->x, b->c, b->n, once, to, flags)
                          : RUN_TIER(tier, stage_8, b->x, b->c, b->n, once, to, flags);
}

/* Runs the loops with parameters for each channel; the first element has an even number. p: those of channel 0. */
static inline ptrdiff_t integer_each__simd(int tier, const integer_params *p, const integer_lanes *r, const stage_batch *b)
{
    integer_ends to;
    const ptrdiff_t at = b->first % r->period;
    if (b->from == FROM_S64 || b->size == 2 || !r->are_of_use || !whole_range(p) || !has_ends(p, b, &to))
        return 0;
    return b->size == 4 ? RUN_TIER(tier, stage_each, b->x, b->c, b->n, r, at, p, to)
                        : RUN_TIER(tier, stage_each_8, b->x, b->c, b->n, r, at, p, to);
}
#endif
#endif
