/* The loop of lookup.pyx that gives bytes, many lanes at a time. */
#ifdef TIER
#if QOPS_X86
/* A shuffle looks up 16 entries by the low 4 bits of each lane; a lane below 0 gets 0. So the table is cut into rows of 16
 * entries, each kept as its difference (xor) from the row before. A lane is looked up in each row
 * of its half of the table, 16 less each time, until it is below 0: the differences found so far make up its entry. Codes
 * from 128 on are below 0 from the start; with the top bit flipped the codes below 128 are. */
TARGET static ptrdiff_t TIER(look_up_bytes)(const uint8_t *codes, const uint8_t *table, uint8_t *out, ptrdiff_t n)
{
    const vec row = set1_u8(16), top = set1_u8(128);
    uint8_t differences[16][16];

    if (n < LANES)
        return 0;
    for (int i = 0; i < 256; i++)
        differences[i / 16][i % 16] = table[i] ^ (i % 128 < 16 ? 0 : table[i - 16]);
    FOR_VECTORS(i, n, LANES, out) {
        vec low = load(codes + i), high = xor_bits(low, top);
        vec entry = xor_bits(shuffle_u8(rows_u8(differences[0]), low), shuffle_u8(rows_u8(differences[8]), high));
        for (int r = 1; r < 8; r++) {
            low = sub_sat_s8(low, row);
            high = sub_sat_s8(high, row);
            entry = xor_bits(entry, shuffle_u8(rows_u8(differences[r]), low));
            entry = xor_bits(entry, shuffle_u8(rows_u8(differences[8 + r]), high));
        }
        store(out + i, entry);
    }
    return n;
}

#else
/* TBL looks up 64 entries. For numbers beyond them TBL gives 0, and TBX leaves the lane as it is. */
TARGET static ptrdiff_t TIER(look_up_bytes)(const uint8_t *codes, const uint8_t *table, uint8_t *out, ptrdiff_t n)
{
    const uint8x16x4_t a = vld1q_u8_x4(table), b = vld1q_u8_x4(table + 64);
    const uint8x16x4_t c = vld1q_u8_x4(table + 128), d = vld1q_u8_x4(table + 192);
    const uint8x16_t quarter = vdupq_n_u8(64);

    if (n < LANES)
        return 0;
    FOR_VECTORS_UNROLLED(i, n, LANES, out) {
        const uint8x16_t in_a = (uint8x16_t)load(codes + i), in_b = vsubq_u8(in_a, quarter);
        const uint8x16_t in_c = vsubq_u8(in_b, quarter), in_d = vsubq_u8(in_c, quarter);
        const uint8x16_t entry = vqtbx4q_u8(vqtbl4q_u8(a, in_a), b, in_b);
        store(out + i, vqtbx4q_u8(vqtbx4q_u8(entry, c, in_c), d, in_d));
    }
    return n;
}
#endif

#else
#ifndef QOPS_LOOKUP_H
#define QOPS_LOOKUP_H

#define QOPS_BODY "stage/lookup.h"
#include "lanes/tiers.h"

#if QOPS_X86
#define VBMI_FN __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi"))) static

/* A permutation of two vectors looks up 128 entries by the low bits of a lane. */
VBMI_FN ptrdiff_t look_up_bytes_vbmi(const uint8_t *codes, const uint8_t *table, uint8_t *out, ptrdiff_t n)
{
    const __m512i a = avx512_load(table), b = avx512_load(table + 64), c = avx512_load(table + 128), d = avx512_load(table + 192);

    if (n < 64)
        return 0;
    FOR_VECTORS(i, n, 64, out) {
        const __m512i code = avx512_load(codes + i), below = _mm512_permutex2var_epi8(a, code, b);
        const __m512i above = _mm512_permutex2var_epi8(c, code, d);
        avx512_store(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), below, above));
    }
    return n;
}
#endif

static inline ptrdiff_t look_up_bytes__simd(int tier, const uint8_t *codes, const uint8_t *table, uint8_t *out,
                                            ptrdiff_t n)
{
#if QOPS_X86
    if (tier >= QOPS_VNNI && __builtin_cpu_supports("avx512vbmi"))
        return look_up_bytes_vbmi(codes, table, out, n);
#endif
    return RUN_TIER(tier, look_up_bytes, codes, table, out, n);
}
#endif
#endif
