/* Loops over two arrays of codes. A step reads one code of each, side by side in a lane of 32 bits, 16 bits each. */
#ifndef QOPS_PAIRS_H
#define QOPS_PAIRS_H
#include <stdint.h>

/* the low 16 bits of two numbers, to be multiplied with a pair */
static inline int32_t pair_of(int64_t first, int64_t second)
{
    return (int32_t)((uint32_t)second << 16 | (uint16_t)first);
}

/* c = step(pairs, p) of n elements, n >= LANES */
#define STORE_PAIRS(step, p, a, b, c, n, stream)                              \
    FOR_VECTORS(i, n, LANES, c) {                                             \
        const vec qa = to_widen(load(a + i)), qb = to_widen(load(b + i));     \
        const vec first = pair_lo_u8(qa, qb), second = pair_hi_u8(qa, qb);    \
        store(c + i, step(widen_lo_u8_s16(first), p), stream);                \
        store(c + i + LANES / 4, step(widen_hi_u8_s16(first), p), stream);    \
        store(c + i + LANES / 2, step(widen_lo_u8_s16(second), p), stream);   \
        store(c + i + LANES * 3 / 4, step(widen_hi_u8_s16(second), p), stream); \
    }

#endif
