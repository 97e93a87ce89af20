/* The tiers of this CPU architecture, and which of them this CPU and its operating system can run. */
#ifndef QOPS_CPU_H
#define QOPS_CPU_H

enum { QOPS_PLAIN = 0 };

#if defined(__x86_64__) && defined(__GNUC__)
#define QOPS_X86 1
#define QOPS_ARM 0
#define QOPS_TIERS "plain avx2 avxvnni avx512 vnni amx"
enum { QOPS_AVX2 = 1, QOPS_AVXVNNI = 2, QOPS_AVX512 = 3, QOPS_VNNI = 4, QOPS_AMX = 5 };

/* The best tier up to VNNI that this CPU may have. It is an upper bound: machine/avxvnni.h checks AVX-VNNI, and
 * machine/amx.h checks AMX. */
static inline int qops_best_tier(void)
{
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
        return QOPS_PLAIN;
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")))
        return QOPS_AVXVNNI;
    return __builtin_cpu_supports("avx512vnni") ? QOPS_VNNI : QOPS_AVX512;
}

#elif defined(__aarch64__) && defined(__GNUC__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#define QOPS_X86 0
#define QOPS_ARM 1
#define QOPS_TIERS "plain neon dotprod i8mm"
enum { QOPS_NEON = 1, QOPS_DOTPROD = 2, QOPS_I8MM = 3 };

#if defined(__linux__)
#include <sys/auxv.h>
static inline int qops_has_dotprod(void) { return getauxval(AT_HWCAP) >> 20 & 1; }
static inline int qops_has_i8mm(void) { return getauxval(AT_HWCAP2) >> 13 & 1; }
#elif defined(__APPLE__)
#include <sys/sysctl.h>
static inline int qops_has_dotprod(void) { return 1; }
static inline int qops_has_i8mm(void)
{
    int has = 0;
    size_t size = sizeof has;
    return sysctlbyname("hw.optional.arm.FEAT_I8MM", &has, &size, (void *)0, 0) == 0 && has;
}
#else
static inline int qops_has_dotprod(void) { return 0; }
static inline int qops_has_i8mm(void) { return 0; }
#endif

/* The best tier of this CPU. Every 64-bit ARM CPU has NEON. */
static inline int qops_best_tier(void)
{
    if (!qops_has_dotprod())
        return QOPS_NEON;
    return qops_has_i8mm() ? QOPS_I8MM : QOPS_DOTPROD;
}

#else
#define QOPS_X86 0
#define QOPS_ARM 0
#define QOPS_TIERS "plain"
static inline int qops_best_tier(void) { return QOPS_PLAIN; }
/* This is never called. It takes the arguments of a kernel, so that compilers do not warn that they are unused. */
static inline int qops_unused(int tier, ...) { return tier; }
#endif

#endif
