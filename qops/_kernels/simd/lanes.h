/* The lane operations that the SIMD bodies are written in. Each is one DSP instruction, or what x86 needs for one.
 *
 * A body is compiled once a tier (see tiers.h), which sets
 *     TIER(name)  the tier's own function of that name: avx2_name, avx512_name
 *     MM(op)      the intrinsic of the tier's width:    _mm256_op, _mm512_op
 *     vec, vecf   a vector of integers, of floats
 *     LANES       bytes in a vector
 */
#ifndef QOPS_LANES_H
#define QOPS_LANES_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define AVX2_FN __attribute__((target("avx2"), always_inline)) static inline
#define AVX512_FN __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"), always_inline)) static inline

/* broadcast */
#define set1_s16(x) MM(set1_epi16)(x)
#define set1_s32(x) MM(set1_epi32)(x)
#define set1_f32(x) MM(set1_ps)(x)

/* wrap-around arithmetic, as vadd/vsub without :sat */
#define add_s16(a, b) MM(add_epi16)(a, b)
#define add_s32(a, b) MM(add_epi32)(a, b)
#define sub_s16(a, b) MM(sub_epi16)(a, b)
#define sub_s32(a, b) MM(sub_epi32)(a, b)

/* high half of a product, truncated (floor) */
#define mulhi_u16(a, b) MM(mulhi_epu16)(a, b)
/* (2 * a * b + 0x8000) >> 16: the DSP's vmpy(.h,.h):<<1:rnd:sat, but -32768 * -32768 wraps instead of saturating */
#define mulhrs_s16(a, b) MM(mulhrs_epi16)(a, b)

/* right shift, arithmetic (floor) */
#define sra_s16(a, n) MM(srai_epi16)(a, n)
#define sra_s32(a, n) MM(srai_epi32)(a, n)

#define min_s16(a, b) MM(min_epi16)(a, b)
#define max_s16(a, b) MM(max_epi16)(a, b)
#define min_s32(a, b) MM(min_epi32)(a, b)
#define max_s32(a, b) MM(max_epi32)(a, b)

/* u8 << 8 in 16-bit lanes; low and high half of each 128-bit block, the order that narrow_s16_u8 undoes */
#define widen_lo_u8_s16_shl8(a) MM(unpacklo_epi8)(TIER(zero)(), a)
#define widen_hi_u8_s16_shl8(a) MM(unpackhi_epi8)(TIER(zero)(), a)
/* u8 in 16-bit lanes, in the same order */
#define widen_lo_u8_s16(a) MM(unpacklo_epi8)(a, TIER(zero)())
#define widen_hi_u8_s16(a) MM(unpackhi_epi8)(a, TIER(zero)())
/* saturating narrow of two vectors of s16 to u8: vsat / vpackus */
#define narrow_s16_u8(lo, hi) MM(packus_epi16)(lo, hi)

/* the same by a count known only at run time; left shift: bits that leave the lane are lost */
#define sra_s32_by(a, n) MM(sra_epi32)(a, _mm_cvtsi32_si128(n))
#define sll_s32(a, n) MM(sll_epi32)(a, _mm_cvtsi32_si128(n))

/* products of the even lanes in 64 bits, and what the odd lanes need to become even */
#define mul_even_s32(a, b) MM(mul_epi32)(a, b)
#define odd_to_even(a) MM(srli_epi64)(a, 32)
#define add_s64(a, b) MM(add_epi64)(a, b)
#define set1_s64(x) TIER(set1_s64)(x)
/* logical right shift of 64-bit lanes; left by 32 */
#define srl_s64(a, n) MM(srl_epi64)(a, _mm_cvtsi32_si128(n))
#define even_to_odd(a) MM(slli_epi64)(a, 32)
/* even lanes of a, odd lanes of b */
#define weave_s32(a, b) TIER(weave_s32)(a, b)

/* float32, one rounding an operation; to s32 half-even (rint) or toward zero */
#define add_f32(a, b) MM(add_ps)(a, b)
#define sub_f32(a, b) MM(sub_ps)(a, b)
#define mul_f32(a, b) MM(mul_ps)(a, b)
/* the second operand if either is NaN */
#define min_f32(a, b) MM(min_ps)(a, b)
#define max_f32(a, b) MM(max_ps)(a, b)
#define s32_to_f32(a) MM(cvtepi32_ps)(a)
#define f32_to_s32_rint(a) MM(cvtps_epi32)(a)
#define f32_to_s32_trunc(a) MM(cvttps_epi32)(a)

#define load(p) TIER(load)(p)
#define store(p, a, stream) TIER(store)(p, a, stream)
#define load_f32(p) MM(loadu_ps)(p)
#define store_f32(p, a, stream) TIER(store)(p, TIER(bits)(a), stream)
/* LANES / 4 codes u8 -> s32 */
#define load_u8_s32(p) TIER(load_u8_s32)(p)
/* saturating narrow of four vectors of s32 to one of u8, in order */
#define narrow_s32_u8(a, b, c, d) TIER(narrow_s32_u8)(a, b, c, d)
/* floor(a * b / 2^32) of s32 lanes: x86 multiplies the even ones only, so the odd ones are moved there */
#define mulhi_s32(a, b) \
    weave_s32(odd_to_even(mul_even_s32(a, b)), mul_even_s32(odd_to_even(a), odd_to_even(b)))

AVX2_FN __m256i avx2_zero(void) { return _mm256_setzero_si256(); }
AVX512_FN __m512i avx512_zero(void) { return _mm512_setzero_si512(); }

AVX2_FN __m256i avx2_bits(__m256 a) { return _mm256_castps_si256(a); }
AVX512_FN __m512i avx512_bits(__m512 a) { return _mm512_castps_si512(a); }

AVX2_FN __m256i avx2_load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
AVX512_FN __m512i avx512_load(const void *p) { return _mm512_loadu_si512(p); }

/* stream: past the caches, for results too big to stay in them; only an aligned address can be streamed to */
AVX2_FN void avx2_store(void *p, __m256i a, int stream)
{
    if (stream && ((uintptr_t)p & 31) == 0)
        _mm256_stream_si256((__m256i *)p, a);
    else
        _mm256_storeu_si256((__m256i *)p, a);
}
AVX512_FN void avx512_store(void *p, __m512i a, int stream)
{
    if (stream && ((uintptr_t)p & 63) == 0)
        _mm512_stream_si512((__m512i *)p, a);
    else
        _mm512_storeu_si512(p, a);
}

AVX2_FN __m256i avx2_load_u8_s32(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
AVX512_FN __m512i avx512_load_u8_s32(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}

/* the packs work within 128-bit blocks; the last step puts the 32-bit groups back in order */
AVX2_FN __m256i avx2_narrow_s32_u8(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i ab = _mm256_packs_epi32(a, b), cd = _mm256_packs_epi32(c, d);
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order);
}
AVX512_FN __m512i avx512_narrow_s32_u8(__m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i ab = _mm512_packs_epi32(a, b), cd = _mm512_packs_epi32(c, d);
    return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(ab, cd));
}

AVX2_FN __m256i avx2_set1_s64(int64_t x) { return _mm256_set1_epi64x(x); }
AVX512_FN __m512i avx512_set1_s64(int64_t x) { return _mm512_set1_epi64(x); }

AVX2_FN __m256i avx2_weave_s32(__m256i a, __m256i b) { return _mm256_blend_epi32(a, b, 0xAA); }
AVX512_FN __m512i avx512_weave_s32(__m512i a, __m512i b) { return _mm512_mask_blend_epi32(0xAAAA, a, b); }

/* Where the next vector of `width` elements starts, so that the vectors cover 0..n (n >= width): the first at 0, the
 * next at the first aligned address of `p`, the last one flush with n. Where two overlap, the same result is written
 * twice. */
static inline ptrdiff_t next_start(ptrdiff_t i, ptrdiff_t n, ptrdiff_t width, const void *p, ptrdiff_t itemsize)
{
    const ptrdiff_t past = ((uintptr_t)p & 63) / itemsize; /* elements past the last aligned address */
    const ptrdiff_t next = i == 0 ? width - past % width : i + width;
    return i + width >= n ? n : next + width > n ? n - width : next;
}
#define FOR_VECTORS(i, n, width, p) \
    for (ptrdiff_t i = 0; i < (n); i = next_start(i, n, width, p, sizeof *(p)))

#endif
