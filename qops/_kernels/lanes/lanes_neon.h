/* The operations of lanes.h for 64-bit ARM. Each is one NEON instruction, unless a comment names several. A vector
 * is one block of 128 bits, so elements that x86 leaves out of order are in order here. */
#ifndef QOPS_LANES_NEON_H
#define QOPS_LANES_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NEON_FN __attribute__((always_inline)) static inline
#define NEON(lanes, op, a, b) ((vec)op((lanes)(a), (lanes)(b)))

#define set1_u8(x) ((vec)vdupq_n_u8((uint8_t)(x)))
#define set1_s8(x) ((vec)vdupq_n_s8((int8_t)(x)))
#define set1_u16(x) ((vec)vdupq_n_u16((uint16_t)(x)))
#define set1_s16(x) ((vec)vdupq_n_s16((int16_t)(x)))
#define set1_s32(x) vdupq_n_s32(x)
#define set1_f32(x) vdupq_n_f32(x)

#define add_s16(a, b) NEON(int16x8_t, vaddq_s16, a, b)
#define add_sat_s16(a, b) NEON(int16x8_t, vqaddq_s16, a, b)
#define add_s32(a, b) vaddq_s32(a, b)
#define sub_s16(a, b) NEON(int16x8_t, vsubq_s16, a, b)
#define sub_s32(a, b) vsubq_s32(a, b)

/* UMULL, UMULL2, UZP2 */
#define mulhi_u16(a, b) neon_mulhi_u16((uint16x8_t)(a), (uint16x8_t)(b))
#define mulhi_s16(a, b) neon_mulhi_s16((int16x8_t)(a), (int16x8_t)(b))
#define mullo_s16(a, b) NEON(int16x8_t, vmulq_s16, a, b)
#define mullo_s32(a, b) vmulq_s32(a, b)
#define mulhrs_s16(a, b) neon_mulhrs_s16((int16x8_t)(a), (int16x8_t)(b))
/* SMULL, SMULL2, UZP2 */
#define mulhi_s32(a, b) weave_high_s32(mul_half_s32(a, b), mul_other_half_s32(a, b))

#define sra_s16(a, n) ((vec)vshrq_n_s16((int16x8_t)(a), n))
#define sra_s32(a, n) vshrq_n_s32(a, n)
#define srl_s32(a, n) ((vec)vshrq_n_u32((uint32x4_t)(a), n))

#define and_bits(a, b) vandq_s32(a, b)
#define or_bits(a, b) vorrq_s32(a, b)
#define xor_bits(a, b) veorq_s32(a, b)

#define min_u8(a, b) NEON(uint8x16_t, vminq_u8, a, b)
#define max_u8(a, b) NEON(uint8x16_t, vmaxq_u8, a, b)
#define min_s8(a, b) NEON(int8x16_t, vminq_s8, a, b)
#define max_s8(a, b) NEON(int8x16_t, vmaxq_s8, a, b)
#define min_u16(a, b) NEON(uint16x8_t, vminq_u16, a, b)
#define max_u16(a, b) NEON(uint16x8_t, vmaxq_u16, a, b)
#define min_s16(a, b) NEON(int16x8_t, vminq_s16, a, b)
#define max_s16(a, b) NEON(int16x8_t, vmaxq_s16, a, b)
#define min_s32(a, b) vminq_s32(a, b)
#define max_s32(a, b) vmaxq_s32(a, b)

#define widen_lo_u8_s16_shl8(a) interleave_lo_u8(set1_u8(0), a)
#define widen_hi_u8_s16_shl8(a) interleave_hi_u8(set1_u8(0), a)
#define widen_lo_u8_s16(a) interleave_lo_u8(a, set1_u8(0))
#define widen_hi_u8_s16(a) interleave_hi_u8(a, set1_u8(0))
#define interleave_lo_u8(a, b) NEON(uint8x16_t, vzip1q_u8, a, b)
#define interleave_hi_u8(a, b) NEON(uint8x16_t, vzip2q_u8, a, b)
#define interleave_lo_s16(a, b) NEON(int16x8_t, vzip1q_s16, a, b)
#define interleave_hi_s16(a, b) NEON(int16x8_t, vzip2q_s16, a, b)
/* SMULL, SMULL2, ADDP */
#define dot2_s16(a, b) neon_dot2_s16((int16x8_t)(a), (int16x8_t)(b))

/* each takes two instructions, and the second fills the upper half */
#define narrow_s16_u8(lo, hi) ((vec)vqmovun_high_s16(vqmovun_s16((int16x8_t)(lo)), (int16x8_t)(hi)))
#define narrow_s32_s16(lo, hi) ((vec)vqmovn_high_s32(vqmovn_s32(lo), hi))
#define narrow_s32_u8(a, b, c, d) narrow_s16_u8(narrow_s32_s16(a, b), narrow_s32_s16(c, d))
#define narrow_s32_u16(a, b) ((vec)vqmovun_high_s32(vqmovun_s32(a), b))
#define in_order(a) (a)
#define in_order_once(a) (a)
#define to_widen(a) (a)

/* SSHL and USHL shift left by the signed low byte of each lane's count, and right if that is below 0 */
#define sra_s16_by(a, n) ((vec)vshlq_s16((int16x8_t)(a), vdupq_n_s16((int16_t)-(n))))
#define sra_s32_by(a, n) vshlq_s32(a, vdupq_n_s32(-(n)))
#define sll_s32(a, n) vshlq_s32(a, vdupq_n_s32(n))
#define sra_s32_lanes(a, n) vshlq_s32(a, vnegq_s32(n))
#define srl_s32_lanes(a, n) ((vec)vshlq_u32((uint32x4_t)(a), vnegq_s32(neon_count(n))))
#define sll_s32_lanes(a, n) vshlq_s32(a, neon_count(n))
#define sll_s64_lanes(a, n) ((vec)vshlq_s64((int64x2_t)(a), (int64x2_t)(n)))

#define mul_half_s32(a, b) ((vec)vmull_s32(vget_low_s32(a), vget_low_s32(b)))
#define mul_other_half_s32(a, b) ((vec)vmull_high_s32(a, b))
#define add_s64(a, b) NEON(int64x2_t, vaddq_s64, a, b)
#define set1_s64(x) ((vec)vdupq_n_s64(x))
/* CMLT, AND, ADD */
#define add_where_negative_s64(a, b) add_s64(a, vandq_s32((vec)vcltzq_s64((int64x2_t)(a)), b))
#define any_equal_s16(a, b) (vmaxvq_u16(vceqq_s16((int16x8_t)(a), (int16x8_t)(b))) != 0)
#define weave_high_s32(a, b) vuzp2q_s32(a, b)

#define add_f32(a, b) vaddq_f32(a, b)
#define sub_f32(a, b) vsubq_f32(a, b)
#define mul_f32(a, b) vmulq_f32(a, b)
#define div_f32(a, b) vdivq_f32(a, b)
#define rint_f32(a) vrndnq_f32(a)
#define trunc_f32(a) vrndq_f32(a)
#define floor_f32(a) vrndmq_f32(a)
#define fma_f32(a, b, c) vfmaq_f32(c, a, b)
/* FMIN and FMAX give NaN if either operand is NaN, and order -0 below 0, unlike x86. So these are FCMGT and BSL. */
#define min_f32(a, b) neon_min_f32(a, b)
#define max_f32(a, b) neon_max_f32(a, b)
#define s32_to_f32(a) vcvtq_f32_s32(a)
/* FCVT gives 0 for NaN and INT32_MAX for values that are too high, where x86 gives INT32_MIN. FCMGT and BSL mend it. */
#define f32_to_s32_rint(a) neon_where_s32(a, vcvtnq_s32_f32(a))
#define f32_to_s32_trunc(a) neon_where_s32(a, vcvtq_s32_f32(a))

#define set1_f64(x) vdupq_n_f64(x)
#define load_f64(p) vld1q_f64(p)
#define add_f64(a, b) vaddq_f64(a, b)
#define mul_f64(a, b) vmulq_f64(a, b)
#define min_f64(a, b) neon_min_f64(a, b)
#define max_f64(a, b) neon_max_f64(a, b)
#define with_sign_f64(a, b) vbslq_f64(vdupq_n_u64((uint64_t)1 << 63), b, a)
#define low_f32_f64(a) vcvt_f64_f32(vget_low_f32(a))
#define high_f32_f64(a) vcvt_high_f64_f32(a)
#define load_s32_f64(p) vcvtq_f64_s64(vmovl_s32(vld1_s32(p)))
/* two conversions, then SQXTN and SQXTN2 */
#define f64_to_s32_rint(low, high) vqmovn_high_s64(vqmovn_s64(vcvtnq_s64_f64(low)), vcvtnq_s64_f64(high))
#define f64_to_s32_trunc(low, high) vqmovn_high_s64(vqmovn_s64(vcvtq_s64_f64(low)), vcvtq_s64_f64(high))

#define load(p) ((vec)vld1q_u8((const uint8_t *)(p)))
#define store(p, a) vst1q_u8((uint8_t *)(p), (uint8x16_t)(a))
#define load_f32(p) vld1q_f32(p)
#define store_f32(p, a) vst1q_f32(p, a)
/* LDR, USHLL twice */
#define load_u8_s32(p) ((vec)vmovl_u16(vget_low_u16(vmovl_u8(neon_load_4(p)))))
#define load_s8_s32(p) vmovl_s16(vget_low_s16(vmovl_s8((int8x8_t)neon_load_4(p))))
#define load_u8_s16(p) ((vec)vmovl_u8(vld1_u8(p)))
#define load_s8_s16(p) ((vec)vmovl_s8(vld1_s8((const int8_t *)(p))))
#define load_u16_s32(p) ((vec)vmovl_u16(vld1_u16((const uint16_t *)(p))))
#define load_s16_s32(p) vmovl_s16(vld1_s16((const int16_t *)(p)))

NEON_FN int32x4_t neon_bits(float32x4_t a) { return vreinterpretq_s32_f32(a); }
NEON_FN float32x4_t neon_floats(int32x4_t a) { return vreinterpretq_f32_s32(a); }

NEON_FN int32x4_t neon_mulhi_u16(uint16x8_t a, uint16x8_t b)
{
    const uint32x4_t low = vmull_u16(vget_low_u16(a), vget_low_u16(b)), high = vmull_high_u16(a, b);
    return (int32x4_t)vuzp2q_u16((uint16x8_t)low, (uint16x8_t)high);
}

NEON_FN int32x4_t neon_mulhi_s16(int16x8_t a, int16x8_t b)
{
    const int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b)), high = vmull_high_s16(a, b);
    return (int32x4_t)vuzp2q_s16((int16x8_t)low, (int16x8_t)high);
}

/* SQRDMULH saturates -32768 * -32768 to 32767. Where both operands are that, -1 * -1 is added, which makes the result
 * wrap as on x86. */
NEON_FN int32x4_t neon_mulhrs_s16(int16x8_t a, int16x8_t b)
{
    const int16x8_t least = vdupq_n_s16(INT16_MIN);
    const int16x8_t is_a = (int16x8_t)vceqq_s16(a, least), is_b = (int16x8_t)vceqq_s16(b, least);
    return (int32x4_t)vmlaq_s16(vqrdmulhq_s16(a, b), is_a, is_b);
}

NEON_FN int32x4_t neon_dot2_s16(int16x8_t a, int16x8_t b)
{
    return vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}

/* Limits a count to 32, because the instructions read a signed byte: larger counts still shift everything out. */
NEON_FN int32x4_t neon_count(int32x4_t n)
{
    return (int32x4_t)vminq_u32((uint32x4_t)n, vdupq_n_u32(32));
}

NEON_FN float32x4_t neon_min_f32(float32x4_t a, float32x4_t b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
NEON_FN float32x4_t neon_max_f32(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
NEON_FN float64x2_t neon_min_f64(float64x2_t a, float64x2_t b) { return vbslq_f64(vcltq_f64(a, b), a, b); }
NEON_FN float64x2_t neon_max_f64(float64x2_t a, float64x2_t b) { return vbslq_f64(vcgtq_f64(a, b), a, b); }

/* `integer`, the converted a, but INT32_MIN where a is NaN or at least 2^31. Values that are too low have become
 * INT32_MIN in the conversion. */
NEON_FN int32x4_t neon_where_s32(float32x4_t a, int32x4_t integer)
{
    return vbslq_s32(vcltq_f32(a, vdupq_n_f32(0x1p31f)), integer, vdupq_n_s32(INT32_MIN));
}

NEON_FN uint8x8_t neon_load_4(const uint8_t *p)
{
    uint32_t four;
    memcpy(&four, p, 4);
    return vcreate_u8(four);
}

#include "lanes/loops.h"

#endif
