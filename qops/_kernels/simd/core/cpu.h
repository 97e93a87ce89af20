/* Which tier of lanes this CPU and operating system can run. */
#ifndef QOPS_CPU_H
#define QOPS_CPU_H

enum { QOPS_PLAIN = 0, QOPS_AVX2 = 1, QOPS_AVX512 = 2, QOPS_VNNI = 3 };

#if defined(__x86_64__) && defined(__GNUC__)
#define QOPS_X86 1
static inline int qops_best_tier(void)
{
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
        return QOPS_PLAIN;
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")))
        return QOPS_AVX2;
    return __builtin_cpu_supports("avx512vnni") ? QOPS_VNNI : QOPS_AVX512;
}
#else
#define QOPS_X86 0
static inline int qops_best_tier(void) { return QOPS_PLAIN; }
#endif

#endif
