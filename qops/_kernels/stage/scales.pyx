"""The real scale a * b / y of a product, as systems round it on the way; a word of `qops.rules.real_scale` says how."""

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
