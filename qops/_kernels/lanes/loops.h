/* The loops of SIMD bodies over the vectors of an array, and helpers for their ends. */
#ifndef QOPS_LOOPS_H
#define QOPS_LOOPS_H

#include "machine/cpu.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if QOPS_X86
#include <immintrin.h>
#endif

/* Vectors of `width` elements cover 0..n (n >= width) in three parts: one vector at 0, the vectors from the first
 * aligned address of `p` on, and one vector that ends at n. Where these overlap, the same result is written twice. */
typedef struct { ptrdiff_t start, end; } part;

/* the start and end of part number `which`, 0 to 2, for elements of `itemsize` bytes at p */
static inline part part_of(int which, ptrdiff_t n, ptrdiff_t width, const void *p, ptrdiff_t itemsize)
{
    const ptrdiff_t past = ((uintptr_t)p & 63) / itemsize; /* elements past the last aligned address */
    const ptrdiff_t start = width - past % width, end = start > n ? start : n - (n - start) % width;
    const part parts[] = {{0, width}, {start, end}, {end < n ? n - width : n, n}};
    return parts[which];
}
/* Loops over i, the first element of each such vector. The loop's body does one vector. */
#define FOR_VECTORS(i, n, width, p) FOR_PARTS(i, n, width, p, )
#define FOR_PARTS(i, n, width, p, unrolled)                                                       \
    for (int which = 0; which < 3; which++)                                                       \
        for (part s = part_of(which, n, width, p, sizeof *(p)); s.start < s.end; s.end = s.start) \
            unrolled for (ptrdiff_t i = s.start; i < s.end; i += (width))
/* FOR_VECTORS unrolled by 4 on 64-bit ARM, for bodies so short that instructions of the loop itself count. clang
 * unrolls such loops without being told. */
#define FOR_VECTORS_UNROLLED(i, n, width, p) FOR_PARTS(i, n, width, p, UNROLL_4)
#if QOPS_ARM && !defined(__clang__)
#define UNROLL_4 _Pragma("GCC unroll 4")
#else
#define UNROLL_4
#endif

/* Extends the range *lowest..*highest by the lanes of the vectors `low` and `high`. It works in local variables,
 * because through the pointers each lane would wait for the store of the lane before. */
#define DRAW_OUT(type, low, high, lowest, highest)                            \
    do {                                                                      \
        enum { lanes = sizeof(low) / sizeof(type) };                          \
        type lows[lanes], highs[lanes], least = *(lowest), most = *(highest); \
        memcpy(lows, &(low), sizeof(low));                                    \
        memcpy(highs, &(high), sizeof(high));                                 \
        for (int j = 0; j < lanes; j++) {                                     \
            least = lows[j] < least ? lows[j] : least;                        \
            most = highs[j] > most ? highs[j] : most;                         \
        }                                                                     \
        *(lowest) = least;                                                    \
        *(highest) = most;                                                    \
    } while (0)

#endif
