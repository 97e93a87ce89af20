/* The sizes of the L1 and L2 caches of a core, as the CPU reports them. */
#ifndef QOPS_CACHES_H
#define QOPS_CACHES_H

#include "machine/cpu.h"

#if QOPS_X86
#include <cpuid.h>

/* Bytes of the data cache of level `wanted`; 0 if the leaf does not list one. Intel lists the caches in CPUID leaf
 * 4, AMD in leaf 0x8000001D, which has the same form. Each subleaf describes one cache; type 0 ends the list. */
static inline long long qops_cache_of_leaf(unsigned leaf, unsigned wanted)
{
    enum { INSTRUCTIONS = 2 };
    unsigned a, b, c, d;
    for (unsigned i = 0; __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31); ++i)
        if ((a & 31) != INSTRUCTIONS && (a >> 5 & 7) == wanted)
            /* ways * partitions * bytes of a line * sets; the CPU reports each of them less 1 */
            return ((b >> 22) + 1LL) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) * (c + 1LL);
    return 0;
}

/* Bytes of the cache of this level that holds data; 0 if the CPU does not report it. */
static inline long long qops_cache(unsigned level)
{
    const long long found = qops_cache_of_leaf(4, level);
    return found ? found : qops_cache_of_leaf(0x8000001D, level);
}
#else
static inline long long qops_cache(unsigned level) { return 0 * level; }
#endif

#endif
