/* Depthwise convolution of a row of pixels with VPDPBUSD: y[c] = times * sums[c] + sum over taps of x[tap + c] *
 * w[tap][c].
 *
 * A quad here is 4 taps of one channel. The bytes of 4 taps are unpacked to quads of 64 channels. Unpacking works
 * inside 128-bit lanes: of each 64 channels, vector v holds channel 16 L + 4 v + i in dword i of lane L. Weights are
 * packed in the same order, [block of 64 channels][4 taps][v][L][i][tap], with zeros where taps or channels are
 * missing. The order of the sums is restored before they are stored. */
#ifndef QOPS_CONVOLUTION_DEPTHWISE_H
#define QOPS_CONVOLUTION_DEPTHWISE_H

#include "machine/cpu.h"
#include <stddef.h>
#include <stdint.h>

#if QOPS_X86
#include <immintrin.h>

/* whether depthwise_vnni runs on this tier */
static inline int depthwise_takes_quads(int tier) { return tier >= QOPS_VNNI; }

#define DEPTHWISE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define DOT(v, quads) s##v = _mm512_dpbusd_epi32(s##v, quads, _mm512_loadu_si512(w + 64 * v))
#define FIRST(v) _mm512_mullo_epi32(_mm512_maskz_loadu_epi32((__mmask16)(some >> 16 * v), sums + 16 * v), _mm512_set1_epi32(times))
#define PUT(v, dots) \
    _mm512_mask_storeu_epi32(y + 16 * v, (__mmask16)(some >> 16 * v), _mm512_add_epi32(dots, FIRST(v)))

/* Computes 64 channels of one pixel. `some` has a bit for each channel that exists. `tap` has a multiple of 4
 * offsets; those beyond the last tap may be any that can be read, because their weights are 0. */
static inline __attribute__((always_inline)) DEPTHWISE_VNNI
void depthwise_64(const uint8_t *x, const ptrdiff_t *tap, ptrdiff_t taps, const int8_t *w, const int32_t *sums,
                  const int32_t times, const __mmask64 some, int32_t *y)
{
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;
    for (ptrdiff_t i = 0; i < taps; i += 4, w += 256) {
        const __m512i x0 = _mm512_maskz_loadu_epi8(some, x + tap[i]);
        const __m512i x1 = _mm512_maskz_loadu_epi8(some, x + tap[i + 1]);
        const __m512i x2 = _mm512_maskz_loadu_epi8(some, x + tap[i + 2]);
        const __m512i x3 = _mm512_maskz_loadu_epi8(some, x + tap[i + 3]);
        const __m512i low01 = _mm512_unpacklo_epi8(x0, x1), high01 = _mm512_unpackhi_epi8(x0, x1);
        const __m512i low23 = _mm512_unpacklo_epi8(x2, x3), high23 = _mm512_unpackhi_epi8(x2, x3);
        DOT(0, _mm512_unpacklo_epi16(low01, low23));
        DOT(1, _mm512_unpackhi_epi16(low01, low23));
        DOT(2, _mm512_unpacklo_epi16(high01, high23));
        DOT(3, _mm512_unpackhi_epi16(high01, high23));
    }
    /* transposes the 4 lanes of the 4 vectors */
    const __m512i a = _mm512_shuffle_i32x4(s0, s1, 0x44), b = _mm512_shuffle_i32x4(s0, s1, 0xEE);
    const __m512i c = _mm512_shuffle_i32x4(s2, s3, 0x44), d = _mm512_shuffle_i32x4(s2, s3, 0xEE);
    PUT(0, _mm512_shuffle_i32x4(a, c, 0x88));
    PUT(1, _mm512_shuffle_i32x4(a, c, 0xDD));
    PUT(2, _mm512_shuffle_i32x4(b, d, 0x88));
    PUT(3, _mm512_shuffle_i32x4(b, d, 0xDD));
}

static inline DEPTHWISE_VNNI void depthwise_vnni(const uint8_t *x, ptrdiff_t stride, ptrdiff_t pixels, const ptrdiff_t *tap,
                                          ptrdiff_t taps, const int8_t *w, const int32_t *sums, int32_t times,
                                          ptrdiff_t channels, int32_t *y)
{
    const ptrdiff_t block = (taps + 3) / 4 * 256, whole = channels / 64 * 64;
    const __mmask64 rest = ((__mmask64)1 << (channels - whole)) - 1;
    for (ptrdiff_t p = 0; p < pixels; ++p, x += stride, y += channels) {
        for (ptrdiff_t c = 0; c < whole; c += 64)
            depthwise_64(x + c, tap, taps, w + c / 64 * block, sums + c, times, ~(__mmask64)0, y + c);
        if (rest)
            depthwise_64(x + whole, tap, taps, w + whole / 64 * block, sums + whole, times, rest, y + whole);
    }
}

#undef DOT
#undef FIRST
#undef PUT

#else
static inline int depthwise_takes_quads(int tier) { (void)tier; return 0; }
static inline void depthwise_vnni(const uint8_t *x, ptrdiff_t stride, ptrdiff_t pixels, const ptrdiff_t *tap, ptrdiff_t taps,
                           const int8_t *w, const int32_t *sums, int32_t times, ptrdiff_t channels, int32_t *y)
{
    (void)x; (void)stride; (void)pixels; (void)tap; (void)taps; (void)w; (void)sums; (void)times; (void)channels; (void)y;
}
#endif
#endif
