/* VPDPBUSD of AVX-VNNI as the same instruction of AVX-512, so that kernels written for it can be tested on a CPU without
 * it. The compiler reads this file first, in place of machine/avxvnni.h. */
#define QOPS_AVXVNNI_H
#define QOPS_HAS_AVXVNNI 1
#define QOPS_AVXVNNI_TARGET "avx2,avx512f,avx512vl,avx512vnni"
#define QOPS_DPBUSD_32 _mm256_dpbusd_epi32

#include "machine/cpu.h"

static inline int qops_lacks_tier(int tier) { return tier == QOPS_AVXVNNI && qops_best_tier() != QOPS_VNNI; }
