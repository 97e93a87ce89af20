/* The loops of sums.pyx for the whole vectors of each row. They return how many columns they did. */
#ifdef TIER

/* Half a vector of positions, from column j on: `position` in sums.pyx. */
TARGET static inline vecd TIER(positions)(const sums_row *r, ptrdiff_t j)
{
    vecd x = mul_f64(load_s32_f64(r->sums + j), load_f64(r->of_sum + j));
    if (r->rows) {
        const vecd row = r->each ? load_s32_f64(r->rows + j) : set1_f64(*r->rows);
        const vecd term = add_f64(mul_f64(row, load_f64(r->of_row + j)), load_f64(r->of_count + j));
        x = add_f64(x, mul_f64(term, load_f64(r->per_value + j)));
    }
    x = add_f64(x, load_f64(r->added + j));
    return min_f64(max_f64(x, load_f64(r->lowest + j)), load_f64(r->highest + j));
}

TARGET static inline vec TIER(codes)(const sums_row *r, ptrdiff_t j)
{
    return f64_to_s32_rint(TIER(positions)(r, j), TIER(positions)(r, j + LANES / 8));
}

TARGET static ptrdiff_t TIER(codes_32)(const sums_rows *s, int32_t *codes)
{
    enum { MANY = LANES / 4 };
    const ptrdiff_t n = s->n / MANY * MANY;
    for (ptrdiff_t i = 0; i < s->m; i++) {
        const sums_row r = row_of(s, i);
        for (ptrdiff_t j = 0; j < n; j += MANY)
            store(codes + i * s->stride + j, TIER(codes)(&r, j), 0);
    }
    return n;
}

TARGET static ptrdiff_t TIER(codes_8)(const sums_rows *s, uint8_t *codes, uint8_t flip)
{
    enum { MANY = LANES / 4 };
    const ptrdiff_t n = s->n / MANY * MANY;
    for (ptrdiff_t i = 0; i < s->m; i++) {
        const sums_row r = row_of(s, i);
        uint8_t *c = codes + i * s->stride;
        ptrdiff_t j = 0;
        for (; j + LANES <= n; j += LANES) {
            const vec low = TIER(codes)(&r, j), next = TIER(codes)(&r, j + MANY);
            const vec third = TIER(codes)(&r, j + 2 * MANY), high = TIER(codes)(&r, j + 3 * MANY);
            store(c + j, xor_bits(narrow_s32_u8(low, next, third, high), set1_u8(flip)), 0);
        }
        for (; j < n; j += MANY) {
            int32_t some[MANY];
            store(some, TIER(codes)(&r, j), 0);
            for (int k = 0; k < MANY; k++)
                c[j + k] = (uint8_t)some[k] ^ flip;
        }
    }
    return n;
}

TARGET static ptrdiff_t TIER(ends)(const sums_rows *s, double *ends)
{
    enum { HALF = LANES / 8 };
    const ptrdiff_t n = s->n / HALF * HALF;
    vecd low = set1_f64(ends[0]), high = set1_f64(ends[1]);
    double lows[HALF], highs[HALF];
    for (ptrdiff_t i = 0; i < s->m; i++) {
        const sums_row r = row_of(s, i);
        for (ptrdiff_t j = 0; j < n; j += HALF) {
            const vecd x = TIER(positions)(&r, j);
            low = min_f64(low, x);
            high = max_f64(high, x);
        }
    }
    memcpy(lows, &low, sizeof(lows));
    memcpy(highs, &high, sizeof(highs));
    for (int k = 0; k < HALF; k++) {
        ends[0] = lows[k] < ends[0] ? lows[k] : ends[0];
        ends[1] = highs[k] > ends[1] ? highs[k] : ends[1];
    }
    return n;
}

#else
#ifndef QOPS_FRONTDOOR_SUMS_H
#define QOPS_FRONTDOOR_SUMS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* a row of sums, and the tables of its columns; see sums.pxd */
typedef struct {
    const int32_t *sums, *rows;
    int each;
    double *of_sum, *of_row, *of_count, *per_value, *added, *lowest, *highest;
} sums_row;

/* m rows of n columns */
typedef struct {
    sums_row first;
    ptrdiff_t m, n, stride, ld, places;
    const int64_t *which;
} sums_rows;

static inline sums_row row_of(const sums_rows *s, ptrdiff_t i)
{
    const ptrdiff_t cut = s->places == 1 ? s->which[0] : s->which[i % s->places];
    sums_row r = s->first;
    r.sums += i * s->stride;
    r.of_count += cut * s->ld;
    r.added += cut * s->ld;
    if (r.rows)
        r.rows += r.each ? i * s->stride : i;
    return r;
}

#define QOPS_BODY "frontdoor/sums.h"
#include "lanes/tiers.h"

static inline ptrdiff_t codes_32__simd(int tier, const sums_rows *s, int32_t *codes)
{
    return RUN_TIER(tier, codes_32, s, codes);
}

static inline ptrdiff_t codes_8__simd(int tier, const sums_rows *s, uint8_t *codes, uint8_t flip)
{
    return RUN_TIER(tier, codes_8, s, codes, flip);
}

static inline ptrdiff_t ends__simd(int tier, const sums_rows *s, double *ends)
{
    return RUN_TIER(tier, ends, s, ends);
}
#endif
#endif
