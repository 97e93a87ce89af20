"""Pools over images of codes (N, H, W, C), uint8 or int8: the largest code of each window, its sum, or its mean.

Padding adds nothing to a maximum or a sum, but its taps may count in a mean. Sums have 16 bits if that is enough.
A mean is made by one of these rules:

    reciprocal    rint(f32(sum) * f32(1 / count))                               one rounding to float32 an operation
    quotient      rint(f32(sum) / f32(count))                                   the same
    truncate      sum / count, toward zero
    half_away     (sum + count / 2) / count for sums from 0 on, (sum - count / 2) / count below, each / toward zero
    q15           saturate_u8((sum * min(2**15 / count, 2**15 - 1) + 2**14) >> 15), the sum wraps to 16 bits; uint8 only

or by a stage, from the sum or from the mean of real values.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.arrays.axis cimport taps_on_image
from qops._kernels.arrays.checks cimport apart, array, array_of, take, writable
from qops._kernels.arrays.steps cimport Kernel
from qops._kernels.arrays.window cimport Window
from qops._kernels.pool.means cimport (
    HALF_AWAY, Q15, QUOTIENT, RECIPROCAL, STAGE, TRUNCATE, VALUES, Means, RealMean, Rule,
)
from qops._kernels.pool.run cimport (
    MAX_S8, MAX_U8, SUM_S8_S16, SUM_S16, SUM_S16_S32, SUM_S32, SUM_U8_S16, SUM_U16_S32, Pool, run, size_of,
)
from qops._kernels.stage.prepared cimport PreparedStage

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef enum:
    FEW = 255  # up to so many taps, a sum of u8 fits uint16, and a sum of s8 fits int16

RULES = {"reciprocal": RECIPROCAL, "quotient": QUOTIENT, "truncate": TRUNCATE, "half_away": HALF_AWAY, "q15": Q15}


cdef cnp.ndarray checked(image, bint or_int16=False):
    """Give images of codes as an array of 4 axes; TypeError or ValueError if they are none."""
    cdef bint is_int16 = or_int16 and cnp.PyArray_TYPE(image) == cnp.NPY_INT16
    cdef cnp.ndarray x = image if is_int16 else array(image, "image", cnp.NPY_UINT8, cnp.NPY_INT8)
    if cnp.PyArray_NDIM(x) != 4:
        raise bad_value("image", f"expected 4 dimensions, got shape {(<object>x).shape}")
    return x


cdef void set_sums(Pool *p, int typenum, Py_ssize_t size, Py_ssize_t kh) noexcept:
    """Let windows be summed in `size` bytes: kh pixels downwards in 16 bits if that is enough, then across."""
    cdef bint is_signed = typenum == cnp.NPY_INT8
    p.down_start = p.across_start = 0
    if typenum == cnp.NPY_INT32 or typenum == cnp.NPY_INT16 or kh > FEW and size == 4:
        p.down = p.across = SUM_S32
    else:
        p.down = SUM_S8_S16 if is_signed else SUM_U8_S16
        p.across = SUM_S16 if size == 2 else SUM_S16_S32 if is_signed else SUM_U16_S32


cdef cnp.ndarray pooled(Pool *p, cnp.ndarray image, tuple kernel, Window window, int typenum, out,
                        str names="kernel"):
    """Set the other fields of the pool, run it, and give its results, of dtype `typenum`, in `out` if that is given."""
    cdef cnp.ndarray x = image, y, made
    cdef int failed
    if p.down == SUM_S32 or not cnp.PyArray_IS_C_CONTIGUOUS(x):
        x = np.ascontiguousarray(x, np.int32 if p.down == SUM_S32 else None)
    p.image_bytes, p.combined_bytes = cnp.PyArray_ITEMSIZE(x), size_of(p.across)
    cdef Window over = window.over(cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2), kernel[0], kernel[1])
    p.rows, p.columns, p.channels = over.down, over.across, cnp.PyArray_DIM(x, 3)
    p.result_bytes = 2 if typenum == cnp.NPY_INT16 else 4 if typenum == cnp.NPY_INT32 else 1
    window.places(p.rows.size, p.columns.size, p.rows.kernel, p.columns.kernel, &p.oh, &p.ow, names)
    cdef cnp.npy_intp[4] shape = [cnp.PyArray_DIM(x, 0), p.oh, p.ow, p.channels]
    if out is None:
        y = cnp.PyArray_EMPTY(4, shape, typenum, 0)
    else:
        writable(out, typenum, 4, shape)
        apart(out, image, None)
        y = out
    if cnp.PyArray_SIZE(y) == 0:  # its other sizes may be enormous
        return y
    made = y if cnp.PyArray_IS_C_CONTIGUOUS(y) else cnp.PyArray_EMPTY(4, shape, typenum, 0)
    with nogil:
        failed = run(p, cnp.PyArray_BYTES(x), cnp.PyArray_DIM(x, 0), cnp.PyArray_BYTES(made))
    if failed:
        raise MemoryError
    if made is not y:
        np.copyto(y, made)
    return y


cdef void set_largest(Pool *p, int typenum) noexcept:
    """Let windows give their largest code."""
    cdef bint is_signed = typenum == cnp.NPY_INT8
    p.down = p.across = MAX_S8 if is_signed else MAX_U8
    p.down_start = p.across_start = <int32_t>0x80808080 if is_signed else 0
    p.means = NULL


def largest(image, tuple kernel not None, Window window not None, out=None):
    """Give the largest code of each window. A window that lies on padding alone gives the lowest code."""
    cdef cnp.ndarray x = checked(image)
    cdef Pool p
    set_largest(&p, cnp.PyArray_TYPE(x))
    return pooled(&p, x, kernel, window, cnp.PyArray_TYPE(x), out)


def totals(cnp.ndarray image not None, tuple kernel not None, Window window not None):
    """Give the sum of each window of uint8, int8 or int32 images, as int32, modulo 2**32."""
    cdef Pool p
    set_sums(&p, cnp.PyArray_TYPE(image), 4, kernel[0])
    p.means = NULL
    return pooled(&p, image, kernel, window, cnp.NPY_INT32, None)


cdef void set_means(Pool *p, Means *how, Rule rule, int typenum, tuple kernel, bint padding) noexcept:
    """Let windows give their mean by a rule of sums; `padding`: whether taps on the padding count."""
    how.rule, how.is_signed, how.padding = rule, typenum == cnp.NPY_INT8, padding
    how.is_wide = rule != Q15 and kernel[0] * kernel[1] > FEW
    set_sums(p, typenum, 4 if how.is_wide else 2, kernel[0])
    p.means = how


def means(image, tuple kernel not None, Window window not None, str rule not None, *, bint padding=False, out=None):
    """Give the mean of each window, a code, by one of the RULES.

    With ``padding`` all taps count, else only those on the image. A window that lies on padding alone gives 0.
    """
    cdef cnp.ndarray x = checked(image)
    cdef int typenum = cnp.PyArray_TYPE(x)
    cdef Means how
    cdef Pool p
    if rule not in RULES or rule == "q15" and typenum == cnp.NPY_INT8:
        raise bad_value("rule", f"expected one of {', '.join(RULES)}, the last for uint8 only, got {rule!r}")
    set_means(&p, &how, RULES[rule], typenum, kernel, padding)
    return pooled(&p, x, kernel, window, typenum, out)


def coded(cnp.ndarray image not None, tuple kernel not None, Window window not None, PreparedStage stage, int32_t zero,
          float scale=0, out=None):
    """Give the codes that a stage makes of windows without padding.

    Without a `scale` the stage takes int32: the sum of the codes of a window, less `zero`. They may also be int16. With
    a `scale` it takes float32: the mean of the values ``(code - zero) * scale``, which are added tap after tap, each
    sum rounded; and windows have a stride of 1 across.
    """
    cdef cnp.ndarray x = checked(image, not scale)
    cdef int typenum = cnp.PyArray_TYPE(x)
    cdef Py_ssize_t channels = cnp.PyArray_DIM(x, 3)
    cdef Means how
    cdef Pool p
    if not window.has_no_padding() or scale and window.across.stride != 1:
        raise bad_value("window", "expected no padding, and beside a scale no stride across")
    how.rule, how.is_signed = VALUES if scale else STAGE, typenum == cnp.NPY_INT8
    how.stage, how.typenum = stage.stage, typenum
    how.values = RealMean(how.is_signed, zero, scale, kernel[0], kernel[1], cnp.PyArray_DIM(x, 2) * channels, channels)
    set_sums(&p, typenum, 4, 1 if scale else kernel[0])
    p.across_start, p.means = -zero, &how
    return pooled(&p, x, kernel, window, typenum, out)


def counts(size, kernel, Window window not None, *, bint padding=False):
    """Give how many taps of each window lie on an image of this size, or all taps with ``padding``: (OH, OW)."""
    cdef Py_ssize_t i
    oh, ow = window.out_size(size, kernel)
    if padding:
        return np.full((oh, ow), kernel[0] * kernel[1], np.int32)
    cdef Window over = window.over(size[0], size[1], kernel[0], kernel[1])
    down = [taps_on_image(&over.down, i).count for i in range(oh)]
    across = [taps_on_image(&over.across, i).count for i in range(ow)]
    return np.multiply.outer(np.int32(down), np.int32(across))


@cython.final
cdef class Clamped(Kernel):
    """A prepared pool over images NHWC of uint8 or int8, whose results are clamped to `lowest` and `highest`.

    averages: the mean of each window by the rule half_away, else the largest code. typenum: numpy's number of the
    dtype of images. same: the padding is what TensorFlow calls SAME, for the size of each call's images; its taps do
    not count.
    """
    cdef Window window
    cdef tuple kernel
    cdef int typenum
    cdef bint same, averages, clamps
    cdef int32_t lowest, highest

    def __init__(self, tuple kernel not None, Window window not None, int typenum, int32_t lowest, int32_t highest, *,
                 bint averages, bint same=False):
        cdef int32_t zero = -128 if typenum == cnp.NPY_INT8 else 0
        self.kernel, self.window, self.typenum, self.same = kernel, window, typenum, same
        self.lowest, self.highest, self.averages = lowest, highest, averages
        self.clamps = lowest > zero or highest < zero + 255

    def __call__(self, x, out=None):
        """Pool images, into `out` if that is given. Errors name x, window and out."""
        return self.codes_of(array_of(x, "x"), out)

    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b):
        return self.codes_of(a, None)

    cdef object codes_of(self, cnp.ndarray data, out):
        """Do what `__call__` says, on an array."""
        cdef cnp.ndarray made
        cdef Window window = self.window
        cdef Means how
        cdef Pool p
        take(data, "x", self.typenum)
        if cnp.PyArray_NDIM(data) != 4:
            raise bad_value("x", f"expected images (N, H, W, C), got shape {(<object>data).shape}")
        if self.same:
            window = window.with_same(cnp.PyArray_DIM(data, 1), cnp.PyArray_DIM(data, 2), self.kernel[0],
                                      self.kernel[1])
        if self.averages:
            set_means(&p, &how, HALF_AWAY, self.typenum, self.kernel, False)
        else:
            set_largest(&p, self.typenum)
        made = pooled(&p, data, self.kernel, window, self.typenum, out, "x, window")
        if self.clamps:
            np.maximum(made, self.lowest, out=made)
            np.minimum(made, self.highest, out=made)
        return made
