"""The real scale a * b / y of a product, as systems round it on the way; a word of `qops.rules.real_scale` says how."""

cimport numpy as cnp
from libc.math cimport INFINITY

from qops._kernels.arrays.numbers cimport shown

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

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


cdef double scale_at(cnp.broadcast at, int operand) noexcept:
    return (<double*>cnp.PyArray_MultiIter_DATA(at, operand))[0]


def derived(str derive, a, b, y):
    """Give the scale of three doubles, or an array of scales if one of them is an array; they broadcast."""
    cdef cnp.broadcast at
    cdef cnp.ndarray made
    cdef double* scale
    if isinstance(a, float) and isinstance(b, float) and isinstance(y, float):
        return derived_scale(derive, a, b, y)
    a, b, y = [np.asarray(x, np.float64) for x in (a, b, y)]
    at = cnp.PyArray_MultiIterNew3(a, b, y)
    made = cnp.PyArray_EMPTY(at.nd, at.dimensions, cnp.NPY_FLOAT64, 0)
    scale = <double*>cnp.PyArray_DATA(made)
    while cnp.PyArray_MultiIter_NOTDONE(at):
        scale[at.index] = derived_scale(derive, scale_at(at, 0), scale_at(at, 1), scale_at(at, 2))
        cnp.PyArray_MultiIter_NEXT(at)
    return made if at.nd else scale[0]


cdef double formed_scale(str derive, double a, double w, double y) noexcept:
    """The scale that a system forms; of "stepwise" that of w, or its product with that of a."""
    cdef float scale
    if not derive.startswith("stepwise"):
        return derived_scale(derive, a, w, y)
    scale = <float>w if "conv" in derive else twice_reciprocal(w)
    return <float>twice_reciprocal(a) * scale if derive.endswith("amx") else scale


cdef double twice_reciprocal(float x) noexcept:
    """1 / (1 / x) in float32, which is not always x."""
    return <float>1 / (<float>1 / x)


cpdef tuple formed(tuple scales, str derive):
    """Give the real scale that a system forms of three scales, and the factors before and after it.

    `derive` is a word of `real_scale`, or "stepwise": then the scale is that of w, and the factors are ``in_scale`` and
    ``1 / out_scale``. The first two are reciprocals of reciprocals, so they are rounded twice; with "conv" it takes w
    itself. With "amx" the scale is the product of both, and the first factor is 1.
    """
    cdef double a = scales[0], y = scales[2], before = 1, after = 1
    cdef cnp.ndarray each = np.array(scales[1], np.float64)
    cdef double* scale = <double*>cnp.PyArray_DATA(each)
    cdef Py_ssize_t i
    cdef bint fits
    if derive == "given":
        raise bad_value("scales", "the rule makes no integers of scales, give it integers")
    if derive.startswith("stepwise"):
        before, after = 1 if derive.endswith("amx") else twice_reciprocal(a), <float>1 / <float>y
    fits = 0 < before < INFINITY and 0 < after < INFINITY
    for i in range(cnp.PyArray_SIZE(each)):
        scale[i] = formed_scale(derive, a, scale[i], y)
        fits = fits and 0 < scale[i] < INFINITY
    if not fits:
        raise bad_value("scales", f"floats do not hold what {derive} makes of {shown(scales)}")
    return each if each.ndim else scale[0], (before, after)
