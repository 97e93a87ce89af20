/* Depthwise convolution of a row of pixels: y[c] = times * sums[c] + sum over taps of x[tap + c] * w[tap][c]. Included
 * once a kernel as tile.h is, with WIDEN(p), LANES bytes as uint32, and MADD, VPMADDWD of two V: with the high half of
 * every lane of x zero it multiplies x by the low half of w, which is faster than a 32-bit multiplication.
 * Does four vectors of channels at a time and returns how many channels that makes. */

#define LOAD_ONE(v) V y##v = LOAD(sums + c + v * LANES) * (uint32_t)times;
#define STEP_ONE(v) y##v += MADD(WIDEN(x + tap[i] + c + v * LANES), LOAD(w + i * channels + c + v * LANES));
#define STORE_ONE(v) STORE(y + c + v * LANES, y##v);

static TARGET ptrdiff_t NAME(depthwise)(const uint8_t *x, ptrdiff_t step, ptrdiff_t pixels, const ptrdiff_t *tap,
                                        ptrdiff_t taps, const int32_t *w, const int32_t *sums, int32_t times,
                                        ptrdiff_t channels, int32_t *y)
{
    const ptrdiff_t whole = channels / (4 * LANES) * (4 * LANES);
    for (ptrdiff_t p = 0; p < pixels; ++p, x += step, y += channels)
        for (ptrdiff_t c = 0; c < whole; c += 4 * LANES) {
            LOAD_ONE(0) LOAD_ONE(1) LOAD_ONE(2) LOAD_ONE(3)
            for (ptrdiff_t i = 0; i < taps; ++i) {
                STEP_ONE(0) STEP_ONE(1) STEP_ONE(2) STEP_ONE(3)
            }
            STORE_ONE(0) STORE_ONE(1) STORE_ONE(2) STORE_ONE(3)
        }
    return whole;
}

#undef LOAD_ONE
#undef STEP_ONE
#undef STORE_ONE
