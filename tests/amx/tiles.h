/* The instructions of the matrix unit AMX in plain C, after Intel's manual (SDM volume 2), so that kernels written for
 * it can be tested on a CPU without one. The compiler reads this file first, in place of machine/amx.h.
 *
 * What the CPU would refuse, a tile that is not set up or whose shape does not fit, ends the process with a message. */
#define QOPS_AMX_H
#define QOPS_HAS_AMX 1

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpu.h"

static inline int qops_tier_allowed(void) { return qops_best_tier() == QOPS_VNNI ? QOPS_AMX : qops_best_tier(); }

/* in one place each: inlined, they would make the compiler slow */
#define MODEL static __attribute__((noinline, unused))

enum { MODEL_TILES = 8, MODEL_ROWS = 16, MODEL_BYTES = 64 };

typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} model_setup;

static _Thread_local model_setup model;
static _Thread_local uint8_t model_tile[MODEL_TILES][MODEL_ROWS][MODEL_BYTES];

static inline void model_expects(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "AMX would refuse this: %s\n", what);
    abort();
}

static inline void model_expects_tile(int i)
{
    model_expects(model.palette == 1 && model.rows[i] && model.bytes[i], "a tile that is not set up");
}

MODEL void model_loadconfig(const void *setup)
{
    memcpy(&model, setup, sizeof model);
    memset(model_tile, 0, sizeof model_tile);
    model_expects(model.palette == 1 && model.start_row == 0, "an unknown palette");
    for (int i = 0; i < 16; ++i)
        model_expects(i < MODEL_TILES ? model.rows[i] <= MODEL_ROWS && model.bytes[i] <= MODEL_BYTES &&
                                            !model.rows[i] == !model.bytes[i]
                                      : !model.rows[i] && !model.bytes[i],
                      "a shape that no tile has");
}

MODEL void model_release(void) { memset(&model, 0, sizeof model); }

MODEL void model_zero(int i)
{
    model_expects_tile(i);
    memset(model_tile[i], 0, sizeof model_tile[i]);
}

MODEL void model_loadd(int i, const void *from, ptrdiff_t stride)
{
    model_zero(i);
    for (int row = 0; row < model.rows[i]; ++row)
        memcpy(model_tile[i][row], (const uint8_t *)from + row * stride, model.bytes[i]);
}

MODEL void model_stored(int i, void *to, ptrdiff_t stride)
{
    model_expects_tile(i);
    for (int row = 0; row < model.rows[i]; ++row)
        memcpy((uint8_t *)to + row * stride, model_tile[i][row], model.bytes[i]);
}

static inline uint32_t model_times(uint8_t a, int a_signed, uint8_t b, int b_signed)
{
    return (uint32_t)((a_signed ? (int8_t)a : a) * (b_signed ? (int8_t)b : b));
}

/* c[m][n] += a[m][4 k + i] * b[k][4 n + i] for all k and for i of 0 to 3, modulo 2^32 */
MODEL void model_dot(int c, int a, int a_signed, int b, int b_signed)
{
    model_expects_tile(a), model_expects_tile(b), model_expects_tile(c);
    model_expects(a != b && b != c && a != c, "a tile named twice");
    model_expects(model.rows[c] == model.rows[a] && model.bytes[c] == model.bytes[b] &&
                      4 * model.rows[b] == model.bytes[a] && model.bytes[c] % 4 == 0,
                  "shapes that do not fit");
    for (int m = 0; m < model.rows[c]; ++m)
        for (int n = 0; 4 * n < model.bytes[c]; ++n) {
            uint32_t sum;
            memcpy(&sum, model_tile[c][m] + 4 * n, sizeof sum);
            for (int k = 0; k < model.rows[b]; ++k)
                for (int i = 0; i < 4; ++i)
                    sum += model_times(model_tile[a][m][4 * k + i], a_signed, model_tile[b][k][4 * n + i], b_signed);
            memcpy(model_tile[c][m] + 4 * n, &sum, sizeof sum);
        }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbusd
#undef _tile_dpbssd
#undef _tile_dpbuud
#undef _tile_dpbsud
#define _tile_loadconfig(setup) model_loadconfig(setup)
#define _tile_release() model_release()
#define _tile_zero(i) model_zero(i)
#define _tile_loadd(i, from, stride) model_loadd(i, from, stride)
#define _tile_stored(i, to, stride) model_stored(i, to, stride)
#define _tile_dpbusd(c, a, b) model_dot(c, a, 0, b, 1)
#define _tile_dpbssd(c, a, b) model_dot(c, a, 1, b, 1)
#define _tile_dpbuud(c, a, b) model_dot(c, a, 0, b, 0)
#define _tile_dpbsud(c, a, b) model_dot(c, a, 1, b, 0)
