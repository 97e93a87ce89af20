/* The speed that no product can pass: nothing but the multiplications of one, on registers. Assembly, since compilers
 * fold or spill such loops. Each loop does n turns of OPS operations, 2 a multiplication and the addition of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether there is a matrix unit (AMX), Linux lets this process use it, and QOPS_ISA does not forbid it. */
static int matrix_unit(void)
{
    unsigned a, b, c, d;
    const char *forced = getenv("QOPS_ISA");
    return (!forced || !*forced || !strcmp(forced, "amx")) && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d >> 24 & 3) == 3 && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}

/* 4 tiles of 16 x 16 sums, each with 64 products a sum. Not of zeros: on them the unit is
 * an eighth quicker than on what products are made of. */
static void tdpbusd(int64_t n)
{
    static uint8_t numbers[1024];
    struct { uint8_t palette, start, reserved[14]; uint16_t bytes[16]; uint8_t rows[16]; } setup = {.palette = 1};
    for (int i = 0; i < 8; ++i) {
        setup.rows[i] = 16;
        setup.bytes[i] = 64;
    }
    for (uint32_t i = 0; i < sizeof numbers; ++i)
        numbers[i] = i * 2654435761u >> 16;
    __asm__ volatile("ldtilecfg %1\n\t"
                     "tileloadd (%2, %3), %%tmm4\n\ttileloadd (%2, %3), %%tmm5\n\t"
                     "tileloadd (%2, %3), %%tmm6\n\ttileloadd (%2, %3), %%tmm7\n\t"
                     "1:\n\ttdpbusd %%tmm6, %%tmm4, %%tmm0\n\ttdpbusd %%tmm7, %%tmm4, %%tmm1\n\t"
                     "tdpbusd %%tmm6, %%tmm5, %%tmm2\n\ttdpbusd %%tmm7, %%tmm5, %%tmm3\n\tdec %0\n\tjnz 1b\n\t"
                     "tilerelease" : "+r"(n) : "m"(setup), "r"(numbers), "r"((int64_t)64) : "cc", "memory");
}
#else
static int matrix_unit(void) { return 0; }
static void tdpbusd(int64_t n) { (void)n; }
#endif

#if defined(__x86_64__) && defined(__GNUC__)

#define TIMES12(X) X(0, 1) X(2, 3) X(4, 5) X(6, 7) X(8, 9) X(10, 11)
#define TIMES24(X) TIMES12(X) X(12, 13) X(14, 15) X(16, 17) X(18, 19) X(20, 21) X(22, 23)
#define LOW_HALF "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
    "xmm12", "xmm13", "xmm14", "xmm15"
#define HIGH_HALF "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
    "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"

/* two accumulators i, j of vectors v ("zmm", "ymm"), factors a and b, temporaries s and t, ones o */
#define ADD2(v, s, t, i, j) \
    "vpaddd %%" v s ", %%" v #i ", %%" v #i "\n\t" "vpaddd %%" v t ", %%" v #j ", %%" v #j "\n\t"
#define MUL2(op, v, a, b, c, d, s, t) \
    op " %%" v a ", %%" v b ", %%" v s "\n\t" op " %%" v c ", %%" v d ", %%" v t "\n\t"
#define VPDPBUSD(i, j) "vpdpbusd %%zmm30, %%zmm31, %%zmm" #i "\n\tvpdpbusd %%zmm30, %%zmm31, %%zmm" #j "\n\t"
#define VPDPBUSD_YMM(i, j) \
    "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #i "\n\t%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #j "\n\t"
#define VPMADDWD_ZMM(i, j) MUL2("vpmaddwd", "zmm", "30", "31", "30", "31", "28", "29") ADD2("zmm", "28", "29", i, j)
#define VPMADDWD_YMM(i, j) MUL2("vpmaddwd", "ymm", "14", "15", "14", "15", "12", "13") ADD2("ymm", "12", "13", i, j)
#define VPMADDUBSW_ZMM(i, j) MUL2("vpmaddubsw", "zmm", "30", "31", "30", "31", "28", "29") \
    MUL2("vpmaddwd", "zmm", "27", "28", "27", "29", "28", "29") ADD2("zmm", "28", "29", i, j)
#define VPMADDUBSW_YMM(i, j) MUL2("vpmaddubsw", "ymm", "14", "15", "14", "15", "12", "13") \
    MUL2("vpmaddwd", "ymm", "14", "12", "14", "13", "12", "13") ADD2("ymm", "12", "13", i, j)

#define LOOP(name, isa, body, ...) \
    static __attribute__((target(isa), noinline)) void name(int64_t n) \
    { \
        __asm__ volatile("1:\n\t" body "dec %0\n\tjnz 1b" : "+r"(n) : : "cc", __VA_ARGS__); \
    }

LOOP(vpdpbusd, "avx512f,avx512vnni", TIMES24(VPDPBUSD), LOW_HALF, HIGH_HALF)
LOOP(vpmaddwd_zmm, "avx512f,avx512bw", TIMES24(VPMADDWD_ZMM), LOW_HALF, HIGH_HALF)
LOOP(vpmaddubsw_zmm, "avx512f,avx512bw", TIMES24(VPMADDUBSW_ZMM), LOW_HALF, HIGH_HALF)
LOOP(vpmaddwd_ymm, "avx2", TIMES12(VPMADDWD_YMM), LOW_HALF)
LOOP(vpmaddubsw_ymm, "avx2", TIMES12(VPMADDUBSW_YMM), LOW_HALF)
#endif

#if defined(__x86_64__) && (defined(__clang__) ? __clang_major__ >= 12 : defined(__GNUC__) && __GNUC__ >= 11)
#include <cpuid.h>
LOOP(vpdpbusd_ymm, "avx2", TIMES12(VPDPBUSD_YMM), LOW_HALF)

/* Whether there is AVX-VNNI: VPDPBUSD without AVX-512. */
static int small_vnni(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}
#elif defined(__x86_64__) && defined(__GNUC__)
static int small_vnni(void) { return 0; }
static void vpdpbusd_ymm(int64_t n) { (void)n; }
#endif

static void multiplications(int64_t n)
{
    int32_t x = 1, acc = 0;
    for (int64_t i = 0; i < n; ++i) {
        acc += x * 3;
        __asm__ volatile("" : "+r"(x), "+r"(acc));
    }
}

typedef struct {
    const char *name;
    int64_t operations;  /* of one turn */
    void (*loop)(int64_t turns);
} peak;

/* The best that this CPU has. */
static peak best(int saturating)
{
#if defined(__x86_64__) && defined(__GNUC__)
    const int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    if (avx512 && saturating)
        return (peak){"VPMADDUBSW zmm", 24 * 64 * 2, vpmaddubsw_zmm};
    if (!saturating && matrix_unit())
        return (peak){"TDPBUSD", 4 * 16 * 16 * 64 * 2, tdpbusd};
    if (avx512)
        return __builtin_cpu_supports("avx512vnni") ? (peak){"VPDPBUSD zmm", 24 * 64 * 2, vpdpbusd}
                                                    : (peak){"VPMADDWD zmm", 24 * 32 * 2, vpmaddwd_zmm};
    if (!saturating && small_vnni())
        return (peak){"VPDPBUSD ymm", 12 * 32 * 2, vpdpbusd_ymm};
    if (__builtin_cpu_supports("avx2"))
        return saturating ? (peak){"VPMADDUBSW ymm", 12 * 32 * 2, vpmaddubsw_ymm}
                          : (peak){"VPMADDWD ymm", 12 * 16 * 2, vpmaddwd_ymm};
#else
    (void)saturating;
#endif
    return (peak){"one multiplication after the other", 2, multiplications};
}

const char *peak_name(int saturating) { return best(saturating).name; }
int64_t peak_operations(int saturating) { return best(saturating).operations; }
void peak_run(int saturating, int64_t turns) { best(saturating).loop(turns); }
