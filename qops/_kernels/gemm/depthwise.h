/* Depthwise convolution of a row of pixels whose channels lie side by side. Rows of the image are woven: a quad is DEPTH
 * taps below each other, one byte (or word) of each row. y[i] = starts[c] + the sum over taps t of quads[i + tap[t]] *
 * w[t][c], where c = i % period: pixels are no edges, so few channels fill vectors as well as many. A row of windows
 * that lie side by side is one run; if the stride is not 1, each window is a run. This is included once for each exact
 * kernel, as tile.h is, with WIDEN(p), which loads LANES bytes as uint32. */

#ifdef WIDENS
#define DEPTH 2
#else
#define DEPTH 4
#endif

static TARGET void NAME(weave)(const uint8_t **rows, ptrdiff_t n, uint32_t flip, uint32_t *quads)
{
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        V quad = WIDEN(rows[0] + i) ^ flip;
        for (int r = 1; r < DEPTH; ++r)
            quad ^= WIDEN(rows[r] + i) << 32 / DEPTH * r;
        STORE(quads + i, quad);
    }
    for (; i < n; ++i) {
        quads[i] = flip;
        for (int r = 0; r < DEPTH; ++r)
            quads[i] ^= (uint32_t)rows[r][i] << 32 / DEPTH * r;
    }
}

static inline __attribute__((always_inline)) TARGET
void NAME(some_dots)(const gemm_depthwise *d, const ptrdiff_t taps, const uint32_t *quads, int32_t *y)
{
    const ptrdiff_t n = d->n, stride = d->w_stride, period = d->period, *tap = d->tap;
    const ptrdiff_t near[3] = {tap[0], taps > 1 ? tap[1] : 0, taps > 2 ? tap[2] : 0}; /* stores may alias tap */
    const int32_t *starts = d->starts, *w = d->w;
    int32_t last[LANES];
    for (ptrdiff_t run = 0; run < d->runs; ++run, quads += d->run_stride, y += n) {
        ptrdiff_t at = 0;
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            V acc = LOAD(starts + at);
            for (ptrdiff_t t = 0; t < taps; ++t)
                acc = DOT(acc, LOAD(quads + i + (t < 3 ? near[t] : tap[t])), LOAD(w + t * stride + at));
            if (i + LANES <= n) {
                STORE(y + i, acc);
            } else {
                STORE(last, acc); /* the address of acc would keep it in memory */
                memcpy(y + i, last, 4 * (n - i));
            }
            at += LANES;
            at -= at >= period ? period : 0;
        }
    }
}

static TARGET void NAME(dots)(const gemm_depthwise *d, const uint32_t *quads, int32_t *y)
{
    if (d->taps == 3)
        NAME(some_dots)(d, 3, quads, y);
    else
        NAME(some_dots)(d, d->taps, quads, y);
}

#undef DEPTH
