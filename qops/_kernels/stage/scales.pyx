"""The real scale a * b / y of a product, as systems round it on the way; a word of `qops.rules.real_scale` says how."""

from qops._kernels.arrays.numbers cimport shown

import numpy as np

DERIVATIONS = ("double", "f32-product", "f32", "f32-reciprocal")


cdef double derived_scale(str derive, double a, double b, double y) noexcept:
    """The scale as a system forms it; it may be beyond floats."""
    cdef float product = <float>a * <float>b
    if derive == "double":
        return a * b / y
    if derive == "f32-product":
        return product / y
    if derive == "f32":
        return product / <float>y
    return product * (<float>1 / <float>y)


def derived(str derive, a, b, y):
    """Give the scale of three doubles, or an array of scales if one of them is an array; they broadcast."""
    each = None if isinstance(a, float) and isinstance(b, float) and isinstance(y, float) else np.broadcast(a, b, y)
    if each is None or each.ndim == 0:
        return derived_scale(derive, a, b, y)
    return np.array([derived_scale(derive, p, s, t) for p, s, t in each], np.float64).reshape(each.shape)


cpdef tuple formed(tuple scales, str derive):
    """Give the real scale that a system forms of three scales, and the factors before and after it.

    `derive` is a word of `real_scale`, or "stepwise": then the scale is that of w, and the factors are ``in_scale`` and
    ``1 / out_scale``. The first two are reciprocals of reciprocals, so they are rounded twice; "stepwise-conv" takes
    w itself.
    """
    F32, one = np.float32, np.float32(1)
    if derive == "given":
        raise ValueError("scales: the rule makes no integers of scales, give it integers")
    with np.errstate(all="ignore"):
        if derive.startswith("stepwise"):
            before, scale, after = one / (one / F32(scales[0])), F32(scales[1]), one / F32(scales[2])
            scale = scale if derive == "stepwise-conv" else one / (one / scale)
        else:
            before, scale, after = one, derived(derive, *scales), one
    if not all([np.all(np.isfinite(x) & (x > 0)) for x in (before, scale, after)]):
        raise ValueError(f"scales: floats do not hold what {derive} makes of {shown(scales)}")
    return np.asarray(scale, np.float64) if np.ndim(scale) else float(scale), (float(before), float(after))
