/* How the SIMD bodies walk over their elements, and what they do at the end. */
#ifndef QOPS_LOOPS_H
#define QOPS_LOOPS_H

#include "machine/cpu.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if QOPS_X86
#include <immintrin.h>
#endif

/* Vectors of `width` elements that cover 0..n (n >= width) in three parts: one vector at 0, those from the first aligned
 * address of `p` on, one that ends at n. Where they overlap, the same result is written twice. */
typedef struct { ptrdiff_t start, end; } part;

static inline part part_of(int which, ptrdiff_t n, ptrdiff_t width, const void *p, ptrdiff_t itemsize)
{
    const ptrdiff_t past = ((uintptr_t)p & 63) / itemsize; /* elements past the last aligned address */
    const ptrdiff_t start = width - past % width, end = start > n ? start : n - (n - start) % width;
    const part parts[] = {{0, width}, {start, end}, {end < n ? n - width : n, n}};
    return parts[which];
}
#define FOR_VECTORS(i, n, width, p) FOR_VECTORS_OF(i, n, width, p, sizeof *(p))
#define FOR_VECTORS_OF(i, n, width, p, itemsize) FOR_PARTS(i, n, width, p, itemsize, )
#define FOR_PARTS(i, n, width, p, itemsize, unrolled)                                             \
    for (int which = 0; which < 3; which++)                                                       \
        for (part s = part_of(which, n, width, p, itemsize); s.start < s.end; s.end = s.start)    \
            unrolled for (ptrdiff_t i = s.start; i < s.end; i += (width))
/* For turns so short that the instructions of the loop itself count: on 64-bit ARM four turns are made one. */
#define FOR_SHORT_TURNS(i, n, width, p) FOR_PARTS(i, n, width, p, sizeof *(p), FOUR_TURNS)
#if QOPS_ARM && !defined(__clang__) /* which does so itself */
#define FOUR_TURNS _Pragma("GCC unroll 4")
#else
#define FOUR_TURNS
#endif
/* For loops that load more from x than they store to c: vectors are aligned to x, unless c is streamed to. */
#define FOR_LOADS(i, n, width, x, c, stream) \
    FOR_VECTORS_OF(i, n, width, (stream) ? (const void *)(c) : (x), (stream) ? sizeof *(c) : sizeof *(x))

/* The same in order, where the last vector ends at n: for loops too short for an aligned middle. */
#define FOR_FLUSH(i, n) \
    for (ptrdiff_t at = 0, i; i = at + LANES > (n) ? (n) - LANES : at, at < (n); at += LANES)

/* how many elements ahead x is fetched, if it may be in none of the caches */
enum { AHEAD = 1024 };

/* Widens *lowest..*highest by the lanes of two vectors. It works in variables, because through the pointers each lane
 * would wait for the store of the one before. */
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

/* gives n, the number of elements done; the fence makes streamed results visible to other threads */
static inline ptrdiff_t done(ptrdiff_t n, int stream)
{
#if QOPS_X86
    if (stream)
        _mm_sfence();
#endif
    (void)stream;
    return n;
}

#endif
