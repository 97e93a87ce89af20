/* How the host's floating point is set for this thread: the MXCSR of x86, the FPCR of ARM, or what C says.
 *
 * qops_host_rounding: 0 to nearest, 1 downward, 2 upward, 3 toward zero. Ops ask this often, and reading MXCSR takes 5 ns:
 * so two additions come first, which take next to nothing and give one value to nearest alone.
 * qops_host_flushes: 1 subnormal results become 0, 2 subnormal operands are read as 0; both bits may be set.
 * qops_host_control: all that a thread must take over to compute as this one does. */
#ifndef QOPS_HOST_H
#define QOPS_HOST_H

#if defined __SSE__ || defined _M_X64
#include <xmmintrin.h>
static inline unsigned long long qops_host_control(void) { return _mm_getcsr() & ~0x3Fu; } /* without what has happened */
static inline void qops_set_host_control(unsigned long long control) { _mm_setcsr((unsigned)control); }
static inline int qops_host_mode(void) { return (int)(_mm_getcsr() >> 13 & 3); }
static inline int qops_host_flushes(void) { return (int)((_mm_getcsr() >> 15 & 1) | (_mm_getcsr() >> 5 & 2)); }

#elif defined __aarch64__
static inline unsigned long long qops_host_control(void) {
    unsigned long long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}
static inline void qops_set_host_control(unsigned long long control) { __asm__ volatile("msr fpcr, %0" ::"r"(control)); }
static inline int qops_host_mode(void) {
    int mode = (int)(qops_host_control() >> 22 & 3); /* 1 is upward, 2 downward */
    return mode == 1 || mode == 2 ? 3 - mode : mode;
}
static inline int qops_host_flushes(void) { return qops_host_control() >> 24 & 1 ? 3 : 0; }

#elif defined __wasm__ /* always to nearest, and never flushes */
static inline unsigned long long qops_host_control(void) { return 0; }
static inline void qops_set_host_control(unsigned long long control) { (void)control; }
static inline int qops_host_mode(void) { return 0; }
static inline int qops_host_flushes(void) { return 0; }

#else
#include <fenv.h>
static inline unsigned long long qops_host_control(void) { return (unsigned long long)fegetround(); }
static inline void qops_set_host_control(unsigned long long control) { fesetround((int)control); }
static inline int qops_host_mode(void) {
    int mode = fegetround();
#ifdef FE_DOWNWARD
    if (mode == FE_DOWNWARD)
        return 1;
#endif
#ifdef FE_UPWARD
    if (mode == FE_UPWARD)
        return 2;
#endif
    return mode == FE_TONEAREST ? 0 : 3;
}
static inline int qops_host_flushes(void) { return 0; } /* not known */
#endif

static inline int qops_host_rounding(void) {
    static const volatile float always_one = 1, always_little = 1.0f / (1 << 26); /* a quarter of the step below 1 */
    float one = always_one, little = always_little;
    return one + little == one - little ? 0 : qops_host_mode();
}
#endif
