/* The loops of layer_stage.pyx for the whole vectors of each row. They return how many columns they did. */
#ifdef TIER

/* A vecd of positions from column j on, each as `position` in layer_stage.pyx makes it. Two make a vec of codes. */
TARGET static inline vecd TIER(layer_positions)(const layer_row *r, ptrdiff_t j)
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

/* A vec of int32 codes, from column j on. */
TARGET static inline vec TIER(layer_vector)(const layer_row *r, ptrdiff_t j)
{
    return f64_to_s32_rint(TIER(layer_positions)(r, j), TIER(layer_positions)(r, j + LANES / 8));
}

/* The tables for float32 of a vec of columns, from column j on. */
typedef struct { vecf of_sum, added, lowest, highest; } TIER(f32_tables);

TARGET static inline TIER(f32_tables) TIER(tables_of)(const layer_row *r, ptrdiff_t ld, ptrdiff_t j)
{
    const float *t = r->f32 + j;
    return (TIER(f32_tables)){ load_f32(t), load_f32(t + ld), load_f32(t + 2 * ld), load_f32(t + 3 * ld) };
}

/* A vec of codes of 8 bits, computed in float32 for the columns for which that is exact enough. */
TARGET static inline vec TIER(f32_vector)(const int32_t *sums, TIER(f32_tables) t)
{
    const vecf x = add_f32(mul_f32(s32_to_f32(load(sums)), t.of_sum), t.added);
    return f32_to_s32_rint(min_f32(max_f32(x, t.lowest), t.highest));
}

/* The 8-bit codes of LANES columns from j on, in all rows, in float32; their tables stay in registers. A layer of 64 inputs
 * and 64 outputs takes 1.6 times as long in double, a 1 x 1 convolution of 32 to 64 channels 1.8 times. */
TARGET static void TIER(f32_columns)(const layer_params *p, uint8_t *codes, uint8_t flip, ptrdiff_t j)
{
    enum { MANY = LANES / 4 };
    const TIER(f32_tables) t0 = TIER(tables_of)(&p->row, p->ld, j), t1 = TIER(tables_of)(&p->row, p->ld, j + MANY),
                            t2 = TIER(tables_of)(&p->row, p->ld, j + 2 * MANY),
                            t3 = TIER(tables_of)(&p->row, p->ld, j + 3 * MANY);
    const int32_t *sums = p->row.sums + j;
    const vec flips = set1_u8(flip);
    for (ptrdiff_t i = 0; i < p->m; i++, sums += p->sums_stride) {
        const vec q0 = TIER(f32_vector)(sums, t0), q1 = TIER(f32_vector)(sums + MANY, t1);
        const vec q2 = TIER(f32_vector)(sums + 2 * MANY, t2), q3 = TIER(f32_vector)(sums + 3 * MANY, t3);
        store(codes + i * p->stride + j, xor_bits(narrow_s32_u8(q0, q1, q2, q3), flips));
    }
}

TARGET static inline vec TIER(either_vector)(const layer_row *r, ptrdiff_t ld, ptrdiff_t j)
{
    const int32_t *in_f32 = r->in_f32 + j;
    const vec code = TIER(f32_vector)(r->sums + j, TIER(tables_of)(r, ld, j));
    if (in_f32[ld])
        return code;
    const vec wide = TIER(layer_vector)(r, j);
    return xor_bits(wide, and_bits(xor_bits(wide, code), load(in_f32)));
}

TARGET static ptrdiff_t TIER(layer_32)(const layer_params *p, int32_t *codes)
{
    enum { MANY = LANES / 4 };
    const ptrdiff_t n = p->n / MANY * MANY;
    for (ptrdiff_t i = 0; i < p->m; i++) {
        const layer_row r = row_of(p, i);
        for (ptrdiff_t j = 0; j < n; j += MANY)
            store(codes + i * p->stride + j, TIER(layer_vector)(&r, j));
    }
    return n;
}

/* The 8-bit codes of the columns from `first` to n, row by row. */
TARGET static inline __attribute__((always_inline)) void TIER(layer_8_by)(
    const layer_params *p, uint8_t *codes, uint8_t flip, ptrdiff_t first, ptrdiff_t n, int with_f32)
{
    enum { MANY = LANES / 4 };
    vec q[4];
    for (ptrdiff_t i = 0; i < p->m; i++) {
        const layer_row r = row_of(p, i);
        uint8_t *c = codes + i * p->stride;
        ptrdiff_t j = first;
        for (; j + LANES <= n; j += LANES) {
            for (int k = 0; k < 4; k++)
                q[k] = with_f32 ? TIER(either_vector)(&r, p->ld, j + k * MANY) : TIER(layer_vector)(&r, j + k * MANY);
            store(c + j, xor_bits(narrow_s32_u8(q[0], q[1], q[2], q[3]), set1_u8(flip)));
        }
        for (; j < n; j += MANY) {
            int32_t some[MANY];
            store(some, with_f32 ? TIER(either_vector)(&r, p->ld, j) : TIER(layer_vector)(&r, j));
            for (int k = 0; k < MANY; k++)
                c[j + k] = (uint8_t)some[k] ^ flip;
        }
    }
}

TARGET static ptrdiff_t TIER(layer_8)(const layer_params *p, uint8_t *codes, uint8_t flip)
{
    enum { MANY = LANES / 4 };
    const ptrdiff_t n = p->n / MANY * MANY;
    ptrdiff_t j = 0;
    if (!p->row.f32) {
        TIER(layer_8_by)(p, codes, flip, 0, n, 0);
        return n;
    }
    const int32_t *all_in_f32 = p->row.in_f32 + p->ld;
    for (; j + LANES <= n && all_in_f32[j]; j += LANES)
        TIER(f32_columns)(p, codes, flip, j);
    if (j < n)
        TIER(layer_8_by)(p, codes, flip, j, n, 1);
    return n;
}

TARGET static ptrdiff_t TIER(layer_ends)(const layer_params *p, double *ends)
{
    enum { HALF = LANES / 8 };
    const ptrdiff_t n = p->n / HALF * HALF;
    vecd low = set1_f64(ends[0]), high = set1_f64(ends[1]);
    double lows[HALF], highs[HALF];
    for (ptrdiff_t i = 0; i < p->m; i++) {
        const layer_row r = row_of(p, i);
        for (ptrdiff_t j = 0; j < n; j += HALF) {
            const vecd x = TIER(layer_positions)(&r, j);
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
#ifndef QOPS_LAYER_STAGE_H
#define QOPS_LAYER_STAGE_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* a row of sums, and the tables of its columns; see layer_stage.pxd */
typedef struct {
    const int32_t *sums, *rows;
    int each;
    double *of_sum, *of_row, *of_count, *per_value, *added, *lowest, *highest;
    float *f32;      /* NULL, or tables: of_sum, added, lowest, highest */
    int32_t *in_f32; /* whether to use these, 0 or -1; in the next table whether all of each COLUMNS columns do */
} layer_row;
enum { COLUMNS = 64 }; /* those whose 8-bit codes fill the widest vector */

typedef struct {
    layer_row row;
    ptrdiff_t start, m, n, stride, sums_stride, ld, places;
    const int64_t *which;
    double *ends;
} layer_params;

/* Row i of m: its sums, and the tables of its cut. */
static inline layer_row row_of(const layer_params *p, ptrdiff_t i)
{
    const ptrdiff_t at = p->start + i, cut = p->which[p->places == 1 ? 0 : at % p->places];
    layer_row r = p->row;
    r.sums += i * p->sums_stride;
    r.of_count += cut * p->ld;
    r.added += cut * p->ld;
    if (r.rows)
        r.rows += r.each ? at * p->stride : at;
    return r;
}

#define QOPS_BODY "stage/layer_stage.h"
#include "lanes/tiers.h"

SIMD(layer_32, (const layer_params *p, int32_t *codes), p, codes)
SIMD(layer_8, (const layer_params *p, uint8_t *codes, uint8_t flip), p, codes, flip)
SIMD(layer_ends, (const layer_params *p, double *ends), p, ends)
#endif
#endif
