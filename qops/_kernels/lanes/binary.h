/* Loops over two operands, arrays of codes. A lane of 32 bits holds one code of each: that of a in the low 16 bits,
 * that of b in the high 16. dot2_s16 multiplies both by two factors and adds the products. */
#ifndef QOPS_LANES_BINARY_H
#define QOPS_LANES_BINARY_H
#include <stdint.h>

/* the low 16 bits of two factors in the same order: `first` multiplies codes of a, `second` codes of b */
static inline int32_t two_factors(int64_t first, int64_t second)
{
    return (int32_t)((uint32_t)second << 16 | (uint16_t)first);
}

/* the two bytes with which STORE_BINARY xors the codes of a and of b */
static inline int16_t two_bytes(uint8_t first, uint8_t second)
{
    return (int16_t)(second << 8 | first);
}

/* c[i] = op(a[i] and b[i] in one lane, p) for n >= LANES elements; `op` is a function of a vector of such lanes and of p.
 * Before that the codes are xored with the bytes of `flips`, which alternate: one for a, one for b. */
#define STORE_BINARY(op, p, a, b, flips, c, n)                            \
    FOR_VECTORS(i, n, LANES, c) {                                         \
        const vec qa = to_widen(load(a + i)), qb = to_widen(load(b + i)); \
        const vec first = xor_bits(interleave_lo_u8(qa, qb), flips);      \
        const vec second = xor_bits(interleave_hi_u8(qa, qb), flips);     \
        store(c + i, op(widen_lo_u8_s16(first), p));                      \
        store(c + i + LANES / 4, op(widen_hi_u8_s16(first), p));          \
        store(c + i + LANES / 2, op(widen_lo_u8_s16(second), p));         \
        store(c + i + LANES * 3 / 4, op(widen_hi_u8_s16(second), p));     \
    }

#endif
