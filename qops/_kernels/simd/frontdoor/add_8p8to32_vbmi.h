/* The 8p8to32 loop for long arrays on AVX-512 VBMI, 32 codes a round. Five batches of 32 are under way, each in registers
 * of its own; a round takes every one of them a step further. So ten operations or more lie between each and what it waits
 * for, and no unit idles: on Zen 4 a vector takes 4.25 cycles, of which 4 are the least for its 8 operations. With fewer
 * between them, or in an order that the compiler picks, it takes 4.4 to 5.9, from call to call. */
#ifndef QOPS_ADD_8P8TO32_VBMI_H
#define QOPS_ADD_8P8TO32_VBMI_H

#define VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")))
#define VBMI_STAGE VBMI static inline __attribute__((always_inline))

/* Two vectors of a and two of b. A pair's lane i stands for the codes i and 16 + i: in a0, b0 first the pair
 * 2^23 + 256 * second + first, in a1, b1 the same with the zero point as first; then first - zero and 256 * (second - zero);
 * then their products; then, in a0 and a1, the sums. */
typedef struct { __m512 a0, a1, b0, b1; } vbmi_batch;
typedef struct { __m512 a_both, b_both, ma, ma_256, mb, mb_256, half, one; __m512i from, exponent, za, zb; } vbmi_constants;

enum { VBMI_TURN = 160, VBMI_AHEAD = 128 }; /* codes that a turn of the loop adds, and how far beyond them it reads */

/* One instruction, on registers that the compiler picks, which stays where it stands among the others: z = name(x, y), and
 * x changed in place. */
#define OP(name, z, x, y) __asm__ volatile(name " %2, %1, %0" : "=v"(z) : "v"(x), "v"(y))
#define OP_ON(name, x, y, z) __asm__ volatile(name " %2, %1, %0" : "+v"(x) : "v"(y), "v"(z))

VBMI_STAGE vbmi_constants vbmi_prepare(add_terms p)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return (vbmi_constants){
        _mm512_set1_ps((float)((1 << 23) + 257 * p.za)), _mm512_set1_ps((float)((1 << 23) + 257 * p.zb)),
        _mm512_set1_ps(p.ma), _mm512_set1_ps(p.ma / 256), _mm512_set1_ps(p.mb), _mm512_set1_ps(p.mb / 256),
        _mm512_set1_ps(p.ca), _mm512_set1_ps(1),
        _mm512_or_si512(_mm512_mullo_epi32(lane, _mm512_set1_epi32(0x0101)), _mm512_set1_epi32(0x43401000)),
        _mm512_set1_epi32(0x4B000000), _mm512_set1_epi8((char)p.za), _mm512_set1_epi8((char)p.zb)};
}

VBMI_STAGE void vbmi_load(vbmi_batch *q, const uint8_t *a, const uint8_t *b)
{
    __asm__ volatile("vmovdqu8 %1, %t0" : "=v"(q->a0) : "m"(*(const __m256i_u *)a));
    __asm__ volatile("vmovdqu8 %1, %t0" : "=v"(q->b0) : "m"(*(const __m256i_u *)b));
}

/* the bytes of two codes, of 0 and of the exponent of 2^23: a permutation widens, converts and pairs */
VBMI_STAGE void vbmi_pair(vbmi_batch *q, const vbmi_constants *k)
{
    OP_ON("vpermt2b", q->a0, k->from, k->exponent);
    OP_ON("vpermt2b", q->b0, k->from, k->exponent);
}

VBMI_STAGE void vbmi_separate(vbmi_batch *q, const vbmi_constants *k)
{
    const __mmask64 firsts = 0x1111111111111111;
    __asm__ volatile("vpblendmb %2, %1, %0%{%3%}" : "=v"(q->a1) : "v"(q->a0), "v"(k->za), "Yk"(firsts));
    __asm__ volatile("vpblendmb %2, %1, %0%{%3%}" : "=v"(q->b1) : "v"(q->b0), "v"(k->zb), "Yk"(firsts));
}

/* exact: integers below 2^24 */
VBMI_STAGE void vbmi_subtract(vbmi_batch *q, const vbmi_constants *k)
{
    OP("vsubps", q->a0, q->a0, q->a1);
    OP("vsubps", q->b0, q->b0, q->b1);
    OP("vsubps", q->a1, q->a1, k->a_both);
    OP("vsubps", q->b1, q->b1, k->b_both);
}

/* 256 * x by m / 256 is the product of x and m, and rounds as that does. (Where m / 256 is too small for it, the product
 * is too small for any sum.) */
VBMI_STAGE void vbmi_multiply(vbmi_batch *q, const vbmi_constants *k, const int fused)
{
    if (fused) {
        OP_ON("vfmadd213ps", q->a0, k->ma, k->half);
        OP_ON("vfmadd213ps", q->a1, k->ma_256, k->half);
    } else {
        OP("vmulps", q->a0, q->a0, k->ma);
        OP("vmulps", q->a1, q->a1, k->ma_256);
        OP("vaddps", q->a0, q->a0, k->half);
        OP("vaddps", q->a1, q->a1, k->half);
    }
    OP("vmulps", q->b0, q->b0, k->mb);
    OP("vmulps", q->b1, q->b1, k->mb_256);
}

VBMI_STAGE void vbmi_add(vbmi_batch *q, const vbmi_constants *k)
{
    OP_ON("vfmadd213ps", q->a0, k->one, q->b0);
    OP_ON("vfmadd213ps", q->a1, k->one, q->b1);
}

VBMI_STAGE void vbmi_put(vbmi_batch *q, int32_t *c, const int stream)
{
    __m512i first, second;
    __asm__ volatile("vcvttps2dq %1, %0" : "=v"(first) : "v"(q->a0));
    __asm__ volatile("vcvttps2dq %1, %0" : "=v"(second) : "v"(q->a1));
    avx512_store(c, first, stream);
    avx512_store(c + 16, second, stream);
}

/* n: a multiple of VBMI_TURN; VBMI_AHEAD more codes are read. */
VBMI_STAGE void vbmi_add_all(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_terms p,
                             const int fused, const int stream)
{
    const vbmi_constants k = vbmi_prepare(p);
    vbmi_batch q0, q1, q2, q3, q4;

#define LOAD(q, at) vbmi_load(&q, a + (at), b + (at))
#define PAIR(q) vbmi_pair(&q, &k)
#define SEPARATE(q) vbmi_separate(&q, &k)
#define SUBTRACT(q) vbmi_subtract(&q, &k)
#define MULTIPLY(q) vbmi_multiply(&q, &k, fused)
#define ADD(q) vbmi_add(&q, &k)
#define PUT(q, at) vbmi_put(&q, c + (at), stream)
#define ROUND(at, last, third, second, first, next) \
    LOAD(next, i + at + VBMI_AHEAD);                \
    ADD(last);                                      \
    PAIR(next);                                     \
    MULTIPLY(third);                                \
    SEPARATE(first);                                \
    SUBTRACT(second);                               \
    PUT(last, i + at);

    LOAD(q0, 0), LOAD(q1, 32), LOAD(q2, 64), LOAD(q3, 96);
    PAIR(q0), PAIR(q1), PAIR(q2), PAIR(q3);
    SEPARATE(q0), SEPARATE(q1), SEPARATE(q2);
    SUBTRACT(q0), SUBTRACT(q1);
    MULTIPLY(q0);
    for (ptrdiff_t i = 0; i < n; i += VBMI_TURN) {
        ROUND(0, q0, q1, q2, q3, q4)
        ROUND(32, q1, q2, q3, q4, q0)
        ROUND(64, q2, q3, q4, q0, q1)
        ROUND(96, q3, q4, q0, q1, q2)
        ROUND(128, q4, q0, q1, q2, q3)
    }
#undef ROUND
#undef PUT
#undef ADD
#undef MULTIPLY
#undef SUBTRACT
#undef SEPARATE
#undef PAIR
#undef LOAD
}

/* n: WORTH_CHECKING and more */
VBMI_STAGE void vbmi_add_parts(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_terms p,
                               const int fused, const int stream)
{
    const ptrdiff_t start = part_of(1, n, 64, c, sizeof *c).start;
    const ptrdiff_t inner = (n - VBMI_AHEAD - start) / VBMI_TURN * VBMI_TURN;

    avx512_add_once(a, b, c, p, fused, 0, stream);
    vbmi_add_all(a + start, b + start, c + start, inner, p, fused, stream);
    for (ptrdiff_t i = start + inner; i < n - 64; i += 64)
        avx512_add_once(a + i, b + i, c + i, p, fused, 0, stream);
    avx512_add_once(a + n - 64, b + n - 64, c + n - 64, p, fused, 0, stream);
}

VBMI static ptrdiff_t vbmi_add_u8u8_s32(const uint8_t *a, const uint8_t *b, int32_t *c, ptrdiff_t n, add_s32 p, int stream)
{
    const add_terms t = {p.za, p.zb, p.ma, p.mb, 0.5f, 0};
    const int fused = avx512_fuses(p.za, p.ma);

#define ADD_PARTS(fused, stream) vbmi_add_parts(a, b, c, n, t, fused, stream)
    if (fused)
        stream ? ADD_PARTS(1, 1) : ADD_PARTS(1, 0);
    else
        stream ? ADD_PARTS(0, 1) : ADD_PARTS(0, 0);
#undef ADD_PARTS
    return done(n, stream);
}

#undef OP_ON
#undef OP
#undef VBMI_STAGE
#undef VBMI
#endif
