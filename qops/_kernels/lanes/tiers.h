/* Compiles a SIMD body once for each tier that has lanes of its own. A header `x.h` with a body has this form:
 *
 *     #ifdef TIER
 *         ... static ptrdiff_t TIER(kernel)(...) in the operations of lanes.h; returns how many elements it did ...
 *     #else
 *         #define QOPS_BODY "x.h"
 *         #include "lanes/tiers.h"
 *         SIMD(kernel, (parameters), arguments)
 *     #endif
 *
 * SIMD makes kernel__simd(int tier, parameters), which calls the body of the best such tier up to `tier`, as RUN_TIER
 * does; it gives 0, no elements done, if there is none. LANES_OF gives the bytes of a vector of that body. */
#include "machine/cpu.h"
#include <stddef.h>
#include <stdint.h>

#if QOPS_X86
#include "lanes/lanes.h"

#define TIER(name) avx2_##name
#define MM(op) _mm256_##op
#define vec __m256i
#define vecf __m256
#define vecd __m256d
#define LANES 32
#define TARGET __attribute__((target("avx2,fma")))
#include QOPS_BODY
#undef TIER
#undef MM
#undef vec
#undef vecf
#undef vecd
#undef LANES
#undef TARGET

#define TIER(name) avx512_##name
#define MM(op) _mm512_##op
#define vec __m512i
#define vecf __m512
#define vecd __m512d
#define LANES 64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#include QOPS_BODY
#undef TIER
#undef MM
#undef vec
#undef vecf
#undef vecd
#undef LANES
#undef TARGET

#define RUN_TIER(tier, kernel, ...)                             \
    ((tier) >= QOPS_AVX512 ? avx512_##kernel(__VA_ARGS__)       \
     : (tier) >= QOPS_AVX2 ? avx2_##kernel(__VA_ARGS__) : 0)
#define LANES_OF(tier) ((tier) >= QOPS_AVX512 ? 64 : 32)

#elif QOPS_ARM
#include "lanes/lanes_neon.h"

#define TIER(name) neon_##name
#define vec int32x4_t
#define vecf float32x4_t
#define vecd float64x2_t
#define LANES 16
#define TARGET
#include QOPS_BODY
#undef TIER
#undef vec
#undef vecf
#undef vecd
#undef LANES
#undef TARGET

#define RUN_TIER(tier, kernel, ...) ((tier) >= QOPS_NEON ? neon_##kernel(__VA_ARGS__) : 0)
#define LANES_OF(tier) 16

#else
#define RUN_TIER(tier, kernel, ...) (0 ? qops_unused(tier, __VA_ARGS__) : 0)
#define LANES_OF(tier) 1
#endif

#define SIMD(kernel, parameters, ...)                                                      \
    static inline ptrdiff_t kernel##__simd(int tier, PARAMETERS_OF parameters)             \
    {                                                                                      \
        return RUN_TIER(tier, kernel, __VA_ARGS__);                                        \
    }
#define PARAMETERS_OF(...) __VA_ARGS__
#undef QOPS_BODY
