/* The compiler's own part in the bits of floating point. The build puts this header before every module.
 *
 * What these macros tell gives other bits: sums in another order, reciprocals, values wider than their type between two
 * operations, as on x87. The build's own flags forbid most of it behind a builder's CFLAGS; what is left ends here. */
#if defined __FAST_MATH__ || defined _M_FP_FAST
#error "qops is not compiled with -ffast-math or /fp:fast: every float operation rounds once"
#endif
#if defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__
#error "qops is not compiled with -ffinite-math-only: it tests for NaN and infinity"
#endif
#if defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__ || defined __NO_SIGNED_ZEROS__
#error "qops is not compiled with -fassociative-math, -freciprocal-math or -fno-signed-zeros: they change results"
#endif
#ifndef __FLT_EVAL_METHOD__ /* gcc and clang know it by themselves */
#include <float.h>
#define __FLT_EVAL_METHOD__ FLT_EVAL_METHOD
#endif
#if __FLT_EVAL_METHOD__ != 0
#error "qops is not compiled where FLT_EVAL_METHOD is not 0, as with -mfpmath=387: float is rounded to float at once"
#endif
