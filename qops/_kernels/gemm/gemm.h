/* The product kernels of this CPU architecture, and what each adds to an accumulator at a time.
 *
 *   exact, amx              TDPBUSD and its variants            as vnni, for 16 x 16 accumulators and any signs
 *   exact, vnni             VPDPBUSD                            acc += a0*b0 + a1*b1 + a2*b2 + a3*b3
 *   exact, avxvnni          VPDPBUSD of 32 bytes                as vnni
 *   exact, avx2 and avx512  VPMADDWD on int16, VPADDD           acc += a0*b0 + a1*b1
 *   saturating              VPMADDUBSW, VPMADDWD by 1, VPADDD   acc += sat16(a0*b0 + a1*b1) + sat16(a2*b2 + a3*b3) */
#ifndef QOPS_GEMM_H
#define QOPS_GEMM_H

#include "machine/cpu.h"
#include "gemm/types.h"
#include <string.h>

#if QOPS_X86 || QOPS_ARM
#define VECTOR_STRIDE (4 * LANES)
#define QUAD_STRIDE(vectors) (4 * LANES * (vectors))
#define FOR_ROWS(X, v) X(1, v) X(2, v) X(3, v) X(4, v) X(5, v) X(6, v)
#endif

#if QOPS_X86
#include <immintrin.h>
#include "machine/avxvnni.h"
#include "gemm/amx.h"

#define GEMM_AVX2 __attribute__((target("avx2")))
#define GEMM_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define GEMM_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

#include "gemm/pack.h"

typedef float gemm_quad __attribute__((aligned(1), may_alias)); /* 4 bytes, anywhere */
typedef uint32_t gemm_u32x8 __attribute__((vector_size(32)));
typedef uint32_t gemm_u32x16 __attribute__((vector_size(64)));

#define START_ROW(r) /* the start needs no change */

/* ---- kernels with vectors of 8 columns */
#define V gemm_u32x8
#define LANES 8
#define LOAD(p) ((V)_mm256_loadu_si256((const __m256i *)(p)))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (__m256i)(v))
#define BROADCAST(p) ((V)_mm256_castps_si256(_mm256_broadcastss_ps(_mm_set_ss(*(const gemm_quad *)(p)))))
#define WIDEN(p) ((V)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p))))
#define MADD(a, b) ((V)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)))
#define SHAPES(X) FOR_ROWS(X, 1) FOR_ROWS(X, 2)
#define TARGET GEMM_AVX2

#undef VECTOR_STRIDE
#undef QUAD_STRIDE
#define VECTOR_STRIDE (2 * LANES)
#define QUAD_STRIDE(vectors) (2 * LANES * (vectors))
#define NAME(f) gemm_exact_avx2_##f
#define WIDENS
#define DOT(acc, a, b) ((acc) + MADD(a, b))
#define QUADS(p) ((V)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(p))))
#include "gemm/depthwise.h"
#include "gemm/tile.h"
#undef WIDENS
#undef VECTOR_STRIDE
#undef QUAD_STRIDE
#define VECTOR_STRIDE (4 * LANES)
#define QUAD_STRIDE(vectors) (4 * LANES * (vectors))

#define NAME(f) gemm_saturating_avx2_##f
#define DOT(acc, a, b) \
    ((acc) + MADD(_mm256_maddubs_epi16((__m256i)(a), (__m256i)(b)), _mm256_set1_epi16(1)))
#include "gemm/tile.h"

#undef TARGET
#if QOPS_HAS_AVXVNNI
#define TARGET __attribute__((target(QOPS_AVXVNNI_TARGET)))
#define NAME(f) gemm_exact_avxvnni_##f
#define DOT(acc, a, b) ((V)QOPS_DPBUSD_32((__m256i)(acc), (__m256i)(a), (__m256i)(b)))
#include "gemm/depthwise.h"
#include "gemm/tile.h"
#undef TARGET
#endif

#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef BROADCAST
#undef WIDEN
#undef MADD
#undef SHAPES

/* ---- kernels with vectors of 16 columns */
#define V gemm_u32x16
#define LANES 16
#define LOAD(p) ((V)_mm512_loadu_si512(p))
#define STORE(p, v) _mm512_storeu_si512(p, (__m512i)(v))
#define BROADCAST(p) ((V)_mm512_broadcastss_ps(_mm_set_ss(*(const gemm_quad *)(p))))
#define WIDEN(p) ((V)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p))))
#define MADD(a, b) ((V)_mm512_madd_epi16((__m512i)(a), (__m512i)(b)))
#define SHAPES(X) FOR_ROWS(X, 1) FOR_ROWS(X, 2) FOR_ROWS(X, 3) FOR_ROWS(X, 4)
#define TARGET GEMM_AVX512

#define NAME(f) gemm_exact_avx512_##f
#define WIDENS
#define DOT(acc, a, b) ((acc) + MADD(a, b))
#include "gemm/depthwise.h"
#include "gemm/tile.h"
#undef WIDENS

#define NAME(f) gemm_saturating_avx512_##f
#define DOT(acc, a, b) \
    ((acc) + MADD(_mm512_maddubs_epi16((__m512i)(a), (__m512i)(b)), _mm512_set1_epi16(1)))
#include "gemm/stream.h"
#include "gemm/pack_tile.h"
#include "gemm/tile.h"

#undef TARGET
#define TARGET GEMM_VNNI
#define NAME(f) gemm_exact_vnni_##f
#define DOT(acc, a, b) ((V)_mm512_dpbusd_epi32((__m512i)(acc), (__m512i)(a), (__m512i)(b)))
#include "gemm/stream.h"
#include "gemm/pack_tile.h"
#include "gemm/depthwise.h"
#include "gemm/tile.h"

#undef VECTOR_STRIDE
#undef QUAD_STRIDE
#if QOPS_HAS_AMX
#define VECTOR_STRIDE t->vector_stride
#define QUAD_STRIDE(vectors) (4 * LANES)
#define NAME(f) gemm_exact_amx_##f
#define DOT(acc, a, b) ((V)_mm512_dpbusd_epi32((__m512i)(acc), (__m512i)(a), (__m512i)(b)))
#include "gemm/tile.h"
#undef VECTOR_STRIDE
#undef QUAD_STRIDE
#endif

#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef BROADCAST
#undef WIDEN
#undef MADD
#undef SHAPES
#undef TARGET
#undef START_ROW
#undef FOR_ROWS

/* The kernel for a B of s8; NULL if the tier has none. */
static const gemm_kernel *gemm_find(int tier, int saturating)
{
    static const gemm_kernel exact_avx2 = {
        .lanes = 8, .vectors = 2, .widens = 1, .narrow = 1, .tile = gemm_exact_avx2_tile, .pack = gemm_pack_pairs,
        .weave = gemm_exact_avx2_weave, .dots = gemm_exact_avx2_dots,
    };
#if QOPS_HAS_AVXVNNI
    static const gemm_kernel exact_avxvnni = {
        .lanes = 8, .vectors = 2, .tile = gemm_exact_avxvnni_tile, .pack = gemm_pack_bytes,
        .weave = gemm_exact_avxvnni_weave, .dots = gemm_exact_avxvnni_dots,
    };
#endif
    static const gemm_kernel exact_avx512 = {
        .lanes = 16, .vectors = 4, .widens = 1, .tile = gemm_exact_avx512_tile, .pack = gemm_pack_words,
        .weave = gemm_exact_avx512_weave, .dots = gemm_exact_avx512_dots,
    };
    static const gemm_kernel exact_vnni = {
        .lanes = 16, .vectors = 4, .tile = gemm_exact_vnni_tile, .pack = gemm_pack_bytes_avx512,
        .pack_tile = gemm_exact_vnni_pack_tile, .stream = gemm_exact_vnni_stream,
        .weave = gemm_exact_vnni_weave, .dots = gemm_exact_vnni_dots,
    };
#if QOPS_HAS_AMX
    static const gemm_kernel exact_amx = {
        .lanes = 16, .vectors = 4, .tile = gemm_exact_amx_tile, .pack_by_vector = gemm_pack_bytes_by_vector,
        .amx = { gemm_amx_u8s8, gemm_amx_s8s8 }, .by_vectors = &exact_vnni,
        .weave = gemm_exact_vnni_weave, .dots = gemm_exact_vnni_dots,
    };
#endif
    static const gemm_kernel saturating_avx2 = {
        .lanes = 8, .vectors = 2, .tile = gemm_saturating_avx2_tile, .pack = gemm_pack_bytes,
    };
    static const gemm_kernel saturating_avx512 = {
        .lanes = 16, .vectors = 4, .tile = gemm_saturating_avx512_tile, .pack = gemm_pack_bytes_avx512,
        .pack_tile = gemm_saturating_avx512_pack_tile, .stream = gemm_saturating_avx512_stream,
    };
    switch (tier) {
    case QOPS_AVX2: return saturating ? &saturating_avx2 : &exact_avx2;
#if QOPS_HAS_AVXVNNI
    case QOPS_AVXVNNI: return saturating ? &saturating_avx2 : &exact_avxvnni;
#endif
    case QOPS_AVX512: return saturating ? &saturating_avx512 : &exact_avx512;
    case QOPS_VNNI: return saturating ? &saturating_avx512 : &exact_vnni;
#if QOPS_HAS_AMX
    case QOPS_AMX: return saturating ? &saturating_avx512 : &exact_amx;
#endif
    default: return NULL;
    }
}

/* The kernel for a B of u8; NULL if the tier has none. */
static const gemm_kernel *gemm_find_unsigned(int tier)
{
#if QOPS_HAS_AMX
    static const gemm_kernel exact_amx = {
        .lanes = 16, .vectors = 4, .tile = gemm_amx_u8u8, .pack_by_vector = gemm_pack_bytes_by_vector, .is_unsigned = 1,
        .amx = { gemm_amx_u8u8, gemm_amx_s8u8 },
    };
    return tier == QOPS_AMX ? &exact_amx : NULL;
#else
    (void)tier;
    return NULL;
#endif
}

#elif QOPS_ARM
#include "gemm/gemm_arm.h"

#else

static const gemm_kernel *gemm_find(int tier, int saturating) { (void)tier; (void)saturating; return NULL; }
static const gemm_kernel *gemm_find_unsigned(int tier) { (void)tier; return NULL; }
static void gemm_amx_release(void) {}

#endif
#endif
