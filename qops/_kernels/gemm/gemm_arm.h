/* The exact product kernels of 64-bit ARM. One NEON vector holds 4 columns, a panel 16 of them.
 *
 *   neon      SMLAL by a lane, SMLAL2, on int16     acc += a0*b0 + a1*b1
 *   dotprod   UDOT, SDOT                            acc += a0*b0 + a1*b1 + a2*b2 + a3*b3 of the same signs
 *   i8mm      USMMLA, SMMLA, UMMLA                  2 rows of A by 2 columns of B: see tile_i8mm.h
 *
 * For the dot products, a B of s8 is packed as b + 128 and a B of u8 as it is. UDOT multiplies an A of u8 by the packed
 * bytes, SDOT an A of s8 by the packed bytes less 128. Where these are 128 more or less than B, the accumulators begin
 * with -128 or 128 times the sum of the row of A. */
#ifndef QOPS_GEMM_ARM_H
#define QOPS_GEMM_ARM_H

#include <arm_neon.h>
#include <string.h>

#if defined(__clang__)
#define GEMM_DOTPROD __attribute__((target("dotprod")))
#define GEMM_I8MM __attribute__((target("i8mm")))
#else
#define GEMM_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#define GEMM_I8MM __attribute__((target("arch=armv8.2-a+i8mm")))
#endif

typedef uint32_t gemm_u32x4 __attribute__((vector_size(16)));

/* the 4 bytes at p, which need no alignment */
static inline uint32_t gemm_word(const void *p)
{
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

/* Packs 4 rows of 16 columns as quads of bytes, each byte combined with `flip` by exclusive or. */
static inline void gemm_pack_16(const int8_t *b, ptrdiff_t ldb, uint8x16_t flip, uint8_t *quads)
{
    const int8x16_t r0 = vld1q_s8(b), r1 = vld1q_s8(b + ldb), r2 = vld1q_s8(b + 2 * ldb), r3 = vld1q_s8(b + 3 * ldb);
    const int8x16x2_t even = vzipq_s8(r0, r2), odd = vzipq_s8(r1, r3);
    for (int i = 0; i < 2; ++i) {
        const int8x16x2_t four = vzipq_s8(even.val[i], odd.val[i]);
        vst1q_u8(quads + 32 * i, veorq_u8((uint8x16_t)four.val[0], flip));
        vst1q_u8(quads + 32 * i + 16, veorq_u8((uint8x16_t)four.val[1], flip));
    }
}

/* the same for 4 columns */
static inline void gemm_pack_4(const int8_t *b, ptrdiff_t ldb, uint8x16_t flip, uint8_t *quads)
{
    const uint8x8_t r0 = vcreate_u8(gemm_word(b)), r1 = vcreate_u8(gemm_word(b + ldb));
    const uint8x8_t r2 = vcreate_u8(gemm_word(b + 2 * ldb)), r3 = vcreate_u8(gemm_word(b + 3 * ldb));
    const uint8x8x2_t four = vzip_u8(vzip1_u8(r0, r2), vzip1_u8(r1, r3));
    vst1q_u8(quads, veorq_u8(vcombine_u8(four.val[0], four.val[1]), flip));
}

/* Packs whole quads of bytes into a panel, each byte combined with `flip`. */
static inline void gemm_pack_flipped(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8x16_t flip,
                                     uint8_t *panel)
{
    for (ptrdiff_t q = 0; q < quads; ++q, b += 4 * ldb, panel += 4 * columns) {
        if (columns == 16)
            gemm_pack_16(b, ldb, flip, panel);
        else
            for (ptrdiff_t j = 0; j < columns; j += 4)
                gemm_pack_4(b + j, ldb, flip, panel + 4 * j);
    }
}

/* Packs B as it is. */
static void gemm_pack_bytes(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    gemm_pack_flipped(b, ldb, quads, columns, vdupq_n_u8(0), panel);
}

/* Packs a B of s8 as b + 128. */
static void gemm_pack_shifted(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    gemm_pack_flipped(b, ldb, quads, columns, vdupq_n_u8(128), panel);
}

/* Packs quads of 16 bits: 2 rows of each 4 columns, widened, one row behind the other, as SMLAL and SMLAL2 read them. */
static inline void gemm_pack_widened(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, int is_unsigned,
                                     uint8_t *panel)
{
    for (ptrdiff_t q = 0; q < quads; ++q, b += 2 * ldb)
        for (ptrdiff_t j = 0; j < columns; j += 4, panel += 16) {
            const uint8x8_t rows = (uint8x8_t)vset_lane_u32(gemm_word(b + ldb + j), vdup_n_u32(gemm_word(b + j)), 1);
            vst1q_u16((uint16_t *)panel, is_unsigned ? vmovl_u8(rows) : (uint16x8_t)vmovl_s8((int8x8_t)rows));
        }
}

/* Packs a B of s8 so. */
static void gemm_pack_s16(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    gemm_pack_widened(b, ldb, quads, columns, 0, panel);
}

/* Packs a B of u8 so. */
static void gemm_pack_u16(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    gemm_pack_widened(b, ldb, quads, columns, 1, panel);
}

/* With instruction scheduling, gcc would load far ahead, for which 32 registers are too few. */
#if !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-schedule-insns")
#endif

#define V gemm_u32x4
#define LANES 4
#define LOAD(p) ((V)vld1q_u8((const uint8_t *)(p)))
#define STORE(p, v) vst1q_u32((uint32_t *)(p), (uint32x4_t)(v))
/* a quad of A in the first lane only, from where SMLAL and UDOT take it */
#define BROADCAST(p) ((V)vcombine_u32(vcreate_u32(gemm_word(p)), vdup_n_u32(0)))
#define SHAPES(X) FOR_ROWS(X, 1) FOR_ROWS(X, 2) FOR_ROWS(X, 3) FOR_ROWS(X, 4)

#define NAME(f) gemm_exact_neon_##f
#define WIDENS
#define TARGET
#define START_ROW(r)
#define DOT(acc, a, b) gemm_exact_neon_dot((int32x4_t)(acc), vget_low_s16((int16x8_t)(a)), (int16x8_t)(b))
static inline __attribute__((always_inline)) V gemm_exact_neon_dot(int32x4_t acc, int16x4_t a, int16x8_t b)
{
    return (V)vmlal_high_lane_s16(vmlal_lane_s16(acc, vget_low_s16(b), a, 0), b, a, 1);
}
#include "gemm/tile.h"
#undef WIDENS
#undef TARGET
#undef START_ROW

#define NAME(f) gemm_exact_dotprod_##f
#define TARGET GEMM_DOTPROD
#define START_ROW(r) if (t->is_unsigned == shift) { \
        const V off = gemm_exact_dotprod_off(t, a + r * lda, shift); \
        c##r##0 -= off; c##r##1 -= off; c##r##2 -= off; c##r##3 -= off; \
    }
#define QUAD(p) BROADCAST(p)
#define QUADS(p) (shift ? LOAD(p) ^ 0x80808080u : LOAD(p))
#define DOT(acc, a, b) (shift ? gemm_exact_dotprod_signed(acc, a, b) : gemm_exact_dotprod_unsigned(acc, a, b))
static inline __attribute__((always_inline)) TARGET V gemm_exact_dotprod_unsigned(V acc, V a, V b)
{
    return (V)vdotq_lane_u32((uint32x4_t)acc, (uint8x16_t)b, vget_low_u8((uint8x16_t)a), 0);
}
static inline __attribute__((always_inline)) TARGET V gemm_exact_dotprod_signed(V acc, V a, V b)
{
    return (V)vdotq_lane_s32((int32x4_t)acc, (int8x16_t)b, vget_low_s8((int8x16_t)a), 0);
}
/* Adds 16 bytes of A to the lanes of `sum`. */
static inline __attribute__((always_inline)) TARGET uint32x4_t gemm_exact_dotprod_sum(uint32x4_t sum, uint8x16_t a,
                                                                                      int is_signed)
{
    const uint8x16_t ones = vdupq_n_u8(1);
    return is_signed ? (uint32x4_t)vdotq_s32((int32x4_t)sum, (int8x16_t)a, (int8x16_t)ones) : vdotq_u32(sum, a, ones);
}
/* Gives what is subtracted from the start of the accumulators of a row: 128 times the sum of the row of A, or -128 times
 * if A is signed. */
static inline TARGET V gemm_exact_dotprod_off(const gemm_tile *t, const uint8_t *row, int is_signed)
{
    uint32x4_t sum = vdupq_n_u32(0);
    for (ptrdiff_t i = 0; i < t->taps; ++i) {
        const uint8_t *a = row + t->tap[i];
        ptrdiff_t q = t->quads;
        for (; q >= 4; q -= 4, a += 16)
            sum = gemm_exact_dotprod_sum(sum, vld1q_u8(a), is_signed);
        for (; q > 0; --q, a += 4)
            sum = gemm_exact_dotprod_sum(sum, (uint8x16_t)BROADCAST(a), is_signed);
    }
    return (V)vdupq_n_u32(vaddvq_u32(sum) * (is_signed ? -128u : 128u));
}
#include "gemm/tile.h"
#undef TARGET
#undef START_ROW

#define TARGET GEMM_I8MM
#define NAME(f) gemm_exact_i8mm_##f
#define SHIFTS 0
#define MMLA(acc, a, b) (shift ? vmmlaq_s32(acc, (int8x16_t)(a), b) : vusmmlaq_s32(acc, a, b))
#include "gemm/tile_i8mm.h"

#define NAME(f) gemm_unsigned_i8mm_##f
#define SHIFTS 1
#define MMLA(acc, a, b) ((int32x4_t)vmmlaq_u32((uint32x4_t)(acc), a, (uint8x16_t)(b)))
#include "gemm/tile_i8mm.h"
#undef TARGET

#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef BROADCAST
#undef SHAPES
#undef FOR_ROWS

#if !defined(__clang__)
#pragma GCC pop_options
#endif

/* The kernel for a B of s8. ARM has none for saturating products: the plain kernel computes these. */
static const gemm_kernel *gemm_find(int tier, int saturating)
{
    static const gemm_kernel exact[] = {
        { .lanes = 4, .vectors = 4, .widens = 1, .tile = gemm_exact_neon_tile, .pack = gemm_pack_s16 },
        { .lanes = 4, .vectors = 4, .takes_signed = 1, .tile = gemm_exact_dotprod_tile, .pack = gemm_pack_shifted },
        { .lanes = 4, .vectors = 4, .takes_signed = 1, .tile = gemm_exact_i8mm_tile, .pack = gemm_pack_bytes },
    };
    return tier >= QOPS_NEON && !saturating ? exact + tier - QOPS_NEON : NULL;
}

/* the kernel for a B of u8 */
static const gemm_kernel *gemm_find_unsigned(int tier)
{
    static const gemm_kernel exact[] = {
        { .lanes = 4, .vectors = 4, .is_unsigned = 1, .widens = 1, .tile = gemm_exact_neon_tile, .pack = gemm_pack_u16 },
        { .lanes = 4, .vectors = 4, .is_unsigned = 1, .takes_signed = 1, .tile = gemm_exact_dotprod_tile,
          .pack = gemm_pack_bytes },
        { .lanes = 4, .vectors = 4, .is_unsigned = 1, .tile = gemm_unsigned_i8mm_tile, .pack = gemm_pack_bytes },
    };
    return tier >= QOPS_NEON ? exact + tier - QOPS_NEON : NULL;
}

static void gemm_amx_release(void) {}

#endif
