/* The matrix unit AMX: whether this CPU has it, and whether the operating system lets this process use it. */
#ifndef QOPS_AMX_H
#define QOPS_AMX_H

#include "machine/cpu.h"

#if defined(__x86_64__) && defined(__linux__) && \
    (defined(__clang__) ? __clang_major__ >= 12 : defined(__GNUC__) && __GNUC__ >= 11)
#define QOPS_HAS_AMX 1
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { QOPS_AMX_BITS = 1 << 24 | 1 << 25, QOPS_ASK_PERMISSION = 0x1023, QOPS_TILE_DATA = 18 };

/* Whether the CPU has AMX and Linux lets this process use it. Linux gives the 8 KiB of tile registers only to a process
 * that asks for them, because it must then save them whenever it switches threads. */
static inline int qops_amx_allowed(void)
{
    unsigned a, b, c, d;
    return qops_best_tier() == QOPS_VNNI && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d & QOPS_AMX_BITS) == QOPS_AMX_BITS && syscall(SYS_arch_prctl, QOPS_ASK_PERMISSION, QOPS_TILE_DATA) == 0;
}
/* The best tier that this process may use; see qops_lacks_tier for AVX-VNNI. */
static inline int qops_tier_allowed(void) { return qops_amx_allowed() ? QOPS_AMX : qops_best_tier(); }
#else
#define QOPS_HAS_AMX 0
static inline int qops_tier_allowed(void) { return qops_best_tier(); }
#endif

#endif
