/* The lane operations that the SIMD bodies are written in; lanes_neon.h defines the same operations for ARM. A body is
 * compiled once for each tier (see tiers.h), which defines
 *     TIER(name)       the tier's own function of that name: avx2_name, avx512_name
 *     MM(op)           the intrinsic of the tier's width:    _mm256_op, _mm512_op
 *     vec, vecf, vecd  a vector of integers, of floats, of doubles
 *     LANES            bytes in a vector
 */
#ifndef QOPS_LANES_H
#define QOPS_LANES_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AVX2_FN __attribute__((target("avx2,fma"), always_inline)) static inline
#define AVX512_FN __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"), always_inline)) static inline

/* broadcast */
#define set1_u8(x) MM(set1_epi8)((char)(x))
#define set1_s8(x) MM(set1_epi8)(x)
#define set1_u16(x) MM(set1_epi16)((short)(x))
#define set1_s16(x) MM(set1_epi16)(x)
#define set1_s32(x) MM(set1_epi32)(x)
#define set1_f32(x) MM(set1_ps)(x)

/* wrap-around arithmetic, as vadd/vsub without :sat */
#define add_s16(a, b) MM(add_epi16)(a, b)
#define add_sat_s16(a, b) MM(adds_epi16)(a, b)
#define add_s32(a, b) MM(add_epi32)(a, b)
#define sub_sat_s8(a, b) MM(subs_epi8)(a, b)
#define sub_s16(a, b) MM(sub_epi16)(a, b)
#define sub_s32(a, b) MM(sub_epi32)(a, b)

/* the high half of a product, which is floor(a * b / 2^16), and the low half */
#define mulhi_u16(a, b) MM(mulhi_epu16)(a, b)
#define mulhi_s16(a, b) MM(mulhi_epi16)(a, b)
#define mullo_s16(a, b) MM(mullo_epi16)(a, b)
#define mullo_s32(a, b) MM(mullo_epi32)(a, b)
/* (2 * a * b + 0x8000) >> 16: the DSP's vmpy(.h,.h):<<1:rnd:sat, but -32768 * -32768 wraps instead of saturating */
#define mulhrs_s16(a, b) MM(mulhrs_epi16)(a, b)

/* right shifts by a constant: sra is arithmetic (it rounds down), srl is logical */
#define sra_s16(a, n) MM(srai_epi16)(a, n)
#define sra_s32(a, n) MM(srai_epi32)(a, n)
#define srl_s32(a, n) MM(srli_epi32)(a, n)

/* bitwise operations */
#define and_bits(a, b) TIER(and_bits)(a, b)
#define or_bits(a, b) TIER(or_bits)(a, b)
#define xor_bits(a, b) TIER(xor_bits)(a, b)

#define min_u8(a, b) MM(min_epu8)(a, b)
#define max_u8(a, b) MM(max_epu8)(a, b)
#define min_s8(a, b) MM(min_epi8)(a, b)
#define max_s8(a, b) MM(max_epi8)(a, b)
#define min_u16(a, b) MM(min_epu16)(a, b)
#define max_u16(a, b) MM(max_epu16)(a, b)
#define min_s16(a, b) MM(min_epi16)(a, b)
#define max_s16(a, b) MM(max_epi16)(a, b)
#define min_s32(a, b) MM(min_epi32)(a, b)
#define max_s32(a, b) MM(max_epi32)(a, b)

/* Widens u8 to 16-bit lanes, shifted left by 8. lo and hi take the two halves of each 128-bit block; narrow_s16_u8
 * of the results restores the order. */
#define widen_lo_u8_s16_shl8(a) MM(unpacklo_epi8)(TIER(zero)(), a)
#define widen_hi_u8_s16_shl8(a) MM(unpackhi_epi8)(TIER(zero)(), a)
/* widens u8 to 16-bit lanes, in the same order */
#define widen_lo_u8_s16(a) MM(unpacklo_epi8)(a, TIER(zero)())
#define widen_hi_u8_s16(a) MM(unpackhi_epi8)(a, TIER(zero)())
/* interleaves the bytes of a and b (a0, b0, a1, b1, ...), of the low or the high half of each 128-bit block */
#define interleave_lo_u8(a, b) MM(unpacklo_epi8)(a, b)
#define interleave_hi_u8(a, b) MM(unpackhi_epi8)(a, b)
/* interleaves s16 lanes in the same way; dot2_s16 gives a0*b0 + a1*b1 of neighbouring lanes, as s32 */
#define interleave_lo_s16(a, b) MM(unpacklo_epi16)(a, b)
#define interleave_hi_s16(a, b) MM(unpackhi_epi16)(a, b)
#define dot2_s16(a, b) MM(madd_epi16)(a, b)
/* narrows two vectors with saturation (vsat / vpackus, vpackss), within each 128-bit block, so not in order */
#define narrow_s16_u8(lo, hi) MM(packus_epi16)(lo, hi)
#define narrow_s32_s16(lo, hi) MM(packs_epi32)(lo, hi)
/* restores the order after two rounds of narrowing within 128-bit blocks */
#define in_order(a) TIER(in_order)(a)
/* restores the order after one round */
#define in_order_once(a) TIER(in_order_once)(a)
/* reorders bytes so that two rounds of widening within 128-bit blocks put them in order */
#define to_widen(a) TIER(to_widen)(a)
/* narrows four vectors of s32 to u8 with saturation, in order */
#define narrow_s32_u8(a, b, c, d) in_order(narrow_s16_u8(narrow_s32_s16(a, b), narrow_s32_s16(c, d)))
/* narrows two vectors of s32 to u16 with saturation, in order */
#define narrow_s32_u16(a, b) in_order_once(MM(packus_epi32)(a, b))

/* shifts by a count that is known only at run time: arithmetic right shifts, and a left shift that loses high bits */
#define sra_s16_by(a, n) MM(sra_epi16)(a, _mm_cvtsi32_si128(n))
#define sra_s32_by(a, n) MM(sra_epi32)(a, _mm_cvtsi32_si128(n))
#define sll_s32(a, n) MM(sll_epi32)(a, _mm_cvtsi32_si128(n))

/* logical shifts with a count for each lane; the result is 0 where the count is negative or at least 32 */
#define srl_s32_lanes(a, n) MM(srlv_epi32)(a, n)
#define sll_s32_lanes(a, n) MM(sllv_epi32)(a, n)
#define sll_s64_lanes(a, n) MM(sllv_epi64)(a, n)
/* arithmetic right shift by 0 to 31, a count for each lane; sll_s64_lanes takes 0 to 63 */
#define sra_s32_lanes(a, n) MM(srav_epi32)(a, n)

/* 64-bit products of half of the s32 lanes (on x86 the even ones, on ARM the lower ones), and of the other half */
#define mul_half_s32(a, b) MM(mul_epi32)(a, b)
#define mul_other_half_s32(a, b) mul_half_s32(odd_to_even(a), odd_to_even(b))
#define odd_to_even(a) TIER(bits)(MM(movehdup_ps)(TIER(floats)(a)))
#define add_s64(a, b) MM(add_epi64)(a, b)
#define set1_s64(x) TIER(set1_s64)(x)
/* adds b to the lanes of a that are negative */
#define add_where_negative_s64(a, b) TIER(add_where_negative_s64)(a, b)
/* whether a and b are equal in at least one lane */
#define any_equal_s16(a, b) TIER(any_equal_s16)(a, b)
/* joins the high 32 bits of products of mul_half_s32 (a) and mul_other_half_s32 (b), in the lanes of their operands */
#define weave_high_s32(a, b) TIER(weave_high_s32)(a, b)

/* float32 arithmetic: each operation rounds once */
#define add_f32(a, b) MM(add_ps)(a, b)
#define sub_f32(a, b) MM(sub_ps)(a, b)
#define mul_f32(a, b) MM(mul_ps)(a, b)
#define div_f32(a, b) MM(div_ps)(a, b)
/* round to an integer that is still float32: half-even (rint), toward zero (trunc), down (floor) */
#define rint_f32(a) TIER(rint_f32)(a)
#define trunc_f32(a) TIER(trunc_f32)(a)
#define floor_f32(a) MM(floor_ps)(a)
/* a * b + c, rounded once */
#define fma_f32(a, b, c) MM(fmadd_ps)(a, b, c)
/* these give the second operand if either is NaN */
#define min_f32(a, b) MM(min_ps)(a, b)
#define max_f32(a, b) MM(max_ps)(a, b)
/* conversions between s32 and float32: rint rounds half-even, trunc toward zero */
#define s32_to_f32(a) MM(cvtepi32_ps)(a)
#define f32_to_s32_rint(a) MM(cvtps_epi32)(a)
#define f32_to_s32_trunc(a) MM(cvttps_epi32)(a)

/* Double arithmetic. A vector of s32 becomes two of double: `low` has the first half of its lanes, `high` the last. The
 * conversions back need values that s32 holds. */
#define set1_f64(x) MM(set1_pd)(x)
#define load_f64(p) MM(loadu_pd)(p)
#define add_f64(a, b) MM(add_pd)(a, b)
#define mul_f64(a, b) MM(mul_pd)(a, b)
#define min_f64(a, b) MM(min_pd)(a, b)
#define max_f64(a, b) MM(max_pd)(a, b)
/* a, which is not negative, with the sign of b */
#define with_sign_f64(a, b) MM(or_pd)(a, MM(and_pd)(b, set1_f64(-0.0)))
#define low_f32_f64(a) TIER(low_f32_f64)(a)
#define high_f32_f64(a) TIER(high_f32_f64)(a)
#define load_s32_f64(p) MM(cvtepi32_pd)(TIER(load_half)(p))
#define f64_to_s32_rint(low, high) JOIN(MM(cvtpd_epi32)(low), MM(cvtpd_epi32)(high))
#define f64_to_s32_trunc(low, high) JOIN(MM(cvttpd_epi32)(low), MM(cvttpd_epi32)(high))
#define JOIN(low, high) TIER(join)(low, high)

/* load and store a vector at any address */
#define load(p) TIER(load)(p)
#define store(p, a) TIER(store)(p, a)
/* rows_u8 repeats 16 bytes in each 128-bit block. shuffle_u8 looks up bytes of each such block of a: each byte of
 * `which` holds an index in its low 4 bits, or gives 0 if it is negative. */
#define rows_u8(p) TIER(rows_u8)(p)
#define shuffle_u8(a, which) MM(shuffle_epi8)(a, which)
#define load_f32(p) MM(loadu_ps)(p)
#define store_f32(p, a) TIER(store)(p, TIER(bits)(a))
/* loads LANES / 4 codes of u8 or s8 and widens them to s32 */
#define load_u8_s32(p) TIER(load_u8_s32)(p)
#define load_s8_s32(p) TIER(load_s8_s32)(p)
/* load LANES / 2 codes of u8 or s8 as s16, or LANES / 4 of u16 or s16 as s32 */
#define load_u8_s16(p) MM(cvtepu8_epi16)(TIER(load_half)(p))
#define load_s8_s16(p) MM(cvtepi8_epi16)(TIER(load_half)(p))
#define load_u16_s32(p) MM(cvtepu16_epi32)(TIER(load_half)(p))
#define load_s16_s32(p) MM(cvtepi16_epi32)(TIER(load_half)(p))
/* floor(a * b / 2^32) of s32 lanes; b is the same in all lanes, so only the odd lanes of a are moved to even ones */
#define mulhi_s32(a, b) weave_high_s32(mul_half_s32(a, b), mul_half_s32(odd_to_even(a), b))

AVX2_FN __m256i avx2_zero(void) { return _mm256_setzero_si256(); }
AVX512_FN __m512i avx512_zero(void) { return _mm512_setzero_si512(); }

AVX2_FN __m256i avx2_and_bits(__m256i a, __m256i b) { return _mm256_and_si256(a, b); }
AVX512_FN __m512i avx512_and_bits(__m512i a, __m512i b) { return _mm512_and_si512(a, b); }
AVX2_FN __m256i avx2_or_bits(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }
AVX512_FN __m512i avx512_or_bits(__m512i a, __m512i b) { return _mm512_or_si512(a, b); }
AVX2_FN __m256i avx2_xor_bits(__m256i a, __m256i b) { return _mm256_xor_si256(a, b); }
AVX512_FN __m512i avx512_xor_bits(__m512i a, __m512i b) { return _mm512_xor_si512(a, b); }

AVX2_FN __m256i avx2_bits(__m256 a) { return _mm256_castps_si256(a); }
AVX512_FN __m512i avx512_bits(__m512 a) { return _mm512_castps_si512(a); }
AVX2_FN __m256 avx2_floats(__m256i a) { return _mm256_castsi256_ps(a); }
AVX512_FN __m512 avx512_floats(__m512i a) { return _mm512_castsi512_ps(a); }
AVX2_FN __m256i avx2_join(__m128i low, __m128i high) { return _mm256_set_m128i(high, low); }
AVX512_FN __m512i avx512_join(__m256i low, __m256i high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

AVX2_FN __m256d avx2_low_f32_f64(__m256 a) { return _mm256_cvtps_pd(_mm256_castps256_ps128(a)); }
AVX512_FN __m512d avx512_low_f32_f64(__m512 a) { return _mm512_cvtps_pd(_mm512_castps512_ps256(a)); }
AVX2_FN __m256d avx2_high_f32_f64(__m256 a) { return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)); }
AVX512_FN __m512d avx512_high_f32_f64(__m512 a) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)); }
AVX2_FN __m256 avx2_rint_f32(__m256 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
AVX512_FN __m512 avx512_rint_f32(__m512 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
AVX2_FN __m256 avx2_trunc_f32(__m256 a) { return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
AVX512_FN __m512 avx512_trunc_f32(__m512 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }

AVX2_FN __m256i avx2_load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
AVX512_FN __m512i avx512_load(const void *p) { return _mm512_loadu_si512(p); }

AVX2_FN __m256i avx2_rows_u8(const uint8_t *p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p)); }
AVX512_FN __m512i avx512_rows_u8(const uint8_t *p) { return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p)); }

AVX2_FN void avx2_store(void *p, __m256i a) { _mm256_storeu_si256((__m256i *)p, a); }
AVX512_FN void avx512_store(void *p, __m512i a) { _mm512_storeu_si512(p, a); }

AVX2_FN __m256i avx2_load_u8_s32(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
AVX512_FN __m512i avx512_load_u8_s32(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}

AVX2_FN __m256i avx2_load_s8_s32(const uint8_t *p)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
AVX512_FN __m512i avx512_load_s8_s32(const uint8_t *p)
{
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
}

AVX2_FN __m128i avx2_load_half(const void *p) { return _mm_loadu_si128((const __m128i *)p); }
AVX512_FN __m256i avx512_load_half(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }

AVX2_FN __m256i avx2_in_order_once(__m256i a) { return _mm256_permute4x64_epi64(a, 0xD8); }
AVX512_FN __m512i avx512_in_order_once(__m512i a)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), a);
}

AVX2_FN __m256i avx2_in_order(__m256i a)
{
    return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
AVX512_FN __m512i avx512_in_order(__m512i a)
{
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), a);
}

AVX2_FN __m256i avx2_to_widen(__m256i a)
{
    return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}
AVX512_FN __m512i avx512_to_widen(__m512i a) { return avx512_in_order(a); }

AVX2_FN int avx2_any_equal_s16(__m256i a, __m256i b) { return _mm256_movemask_epi8(_mm256_cmpeq_epi16(a, b)) != 0; }
AVX512_FN int avx512_any_equal_s16(__m512i a, __m512i b) { return _mm512_cmpeq_epi16_mask(a, b) != 0; }

AVX2_FN __m256i avx2_set1_s64(int64_t x) { return _mm256_set1_epi64x(x); }
AVX512_FN __m512i avx512_set1_s64(int64_t x) { return _mm512_set1_epi64(x); }

AVX2_FN __m256i avx2_add_where_negative_s64(__m256i a, __m256i b)
{
    return _mm256_add_epi64(a, _mm256_and_si256(b, _mm256_cmpgt_epi64(_mm256_setzero_si256(), a)));
}
AVX512_FN __m512i avx512_add_where_negative_s64(__m512i a, __m512i b)
{
    return _mm512_mask_add_epi64(a, _mm512_movepi64_mask(a), a, b);
}

AVX2_FN __m256i avx2_weave_high_s32(__m256i a, __m256i b)
{
    return _mm256_blend_epi32(_mm256_srli_epi64(a, 32), b, 0xAA);
}
AVX512_FN __m512i avx512_weave_high_s32(__m512i a, __m512i b)
{
    return avx512_bits(_mm512_mask_movehdup_ps(avx512_floats(b), 0x5555, avx512_floats(a)));
}

#include "lanes/loops.h"

#endif
