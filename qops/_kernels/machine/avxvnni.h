/* AVX-VNNI is VPDPBUSD on vectors of 32 bytes. Some CPUs without AVX-512 have it, and some with AVX-512 lack it. */
#ifndef QOPS_AVXVNNI_H
#define QOPS_AVXVNNI_H

#include "machine/cpu.h"

#if QOPS_X86 && !defined(__APPLE__) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define QOPS_HAS_AVXVNNI 1
#define QOPS_AVXVNNI_TARGET "avx2,avxvnni"
#define QOPS_DPBUSD_32 _mm256_dpbusd_avx_epi32
#include <cpuid.h>

/* Whether this CPU lacks `tier`, which is qops_best_tier() or a lower one. Only AVX-VNNI may be missing below the best. */
static inline int qops_lacks_tier(int tier)
{
    unsigned a, b, c, d;
    return tier == QOPS_AVXVNNI && !(__get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1);
}
#else
#define QOPS_HAS_AVXVNNI 0
#if QOPS_X86
static inline int qops_lacks_tier(int tier) { return tier == QOPS_AVXVNNI; }
#else
static inline int qops_lacks_tier(int tier) { (void)tier; return 0; }
#endif
#endif

#endif
