"""Integer convolution of NHWC images (u8 or s8) with OIHW weights (s8 or u8) to s32 NHWC; all with any strides.

    y[n][oh][ow][oc] = sum over kh, kw, ic of x[n][oh*sh + kh*dh - top][ow*sw + kw*dw - left][ic] * w[oc][ic][kh][kw]

It is exact, or saturates as gemm does, in pairs of input channels (0, 1), (2, 3), ... of one tap (kh, kw). As in gemm,
a signed image and its padding may be shifted by 128, and 128 times the sums of w is subtracted again. Likewise u8
weights may be shifted by -128, and 128 times the sums of the windows is added. A depthwise convolution, whose groups
have one channel in and one out, has no pairs and is always exact.
"""
cimport cython
cimport numpy as cnp
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.arrays.checks cimport apart, array, array_of, take, writable
from qops._kernels.arrays.codes cimport CodeType, code_type, code_type_of, typenum_of
from qops._kernels.arrays.numbers cimport int32
from qops._kernels.arrays.steps cimport Kernel
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.rounding cimport wrap_s32
from qops._kernels.arrays.walk cimport WORTH_A_LINE, at_a_line
from qops._kernels.conv.finish cimport Finish
from qops._kernels.conv.image cimport Image
from qops._kernels.gemm.matmul cimport Coded, run_coded
from qops._kernels.gemm.offsets cimport numbers, row_sums
from qops._kernels.gemm.run cimport run_product
from qops._kernels.conv.rows cimport Convolution, run_convolution
from qops._kernels.gemm.plain cimport plain_kernel
from qops._kernels.gemm.tile cimport SHIFTED, quads_of, shifts, amx_is_faster
from qops._kernels.conv.weights cimport PackedWeights
from qops._kernels.arrays.window cimport Window

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.pool.pooling import totals
from qops._kernels.conv.weights import pack_weights

cnp.import_array()

cdef Window DENSE = Window()  # stride 1, no dilation, no padding
cdef Finish SUMS = Finish()  # leaves the accumulators as they are


@cython.final
cdef class Images:
    """Images x, uint8 or int8, and how a window moves over them.

    The padding holds pad_value, a code of the type of x. zero_point is subtracted from x and from the padding.
    """
    def __init__(self, x, Window window=DENSE, Py_ssize_t pad_value=0, int32_t zero_point=0):
        self.x = array(x, "x", cnp.NPY_UINT8, cnp.NPY_INT8)
        self.window, self.pad_value, self.zero_point = window, pad_value, zero_point
        if cnp.PyArray_NDIM(self.x) != 4:
            raise bad_value("x", f"expected 4 dimensions, got shape {(<object>self.x).shape}")
        check_pad_value(pad_value, cnp.PyArray_TYPE(self.x) == cnp.NPY_INT8)


cdef Images images_of(cnp.ndarray x, Window window, int32_t zero):
    """Give checked images (N, H, W, C) of codes whose zero point is that of the padding, too."""
    cdef Images made = Images.__new__(Images)
    made.x, made.window, made.pad_value, made.zero_point = x, window, zero, zero
    return made


cdef int check_pad_value(Py_ssize_t pad_value, bint is_signed) except -1:
    """ValueError if images of uint8, or of int8 if `is_signed`, do not hold the padding."""
    cdef const CodeType* codes = code_type_of(is_signed, 1)
    if not codes.lowest <= pad_value <= codes.highest:
        raise bad_value("pad_value", f"expected a value of x, got {pad_value}")
    return 0


cdef void set_image(Image *image, Images given) noexcept:
    """Set the fields of `image` that do not depend on the weights."""
    cdef cnp.ndarray x = given.x
    image.x = <const uint8_t *>cnp.PyArray_DATA(x)
    image.x_signed = cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    image.height, image.width = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    image.image, image.row = cnp.PyArray_STRIDE(x, 0), cnp.PyArray_STRIDE(x, 1)
    image.column, image.channel = cnp.PyArray_STRIDE(x, 2), cnp.PyArray_STRIDE(x, 3)
    image.pad = <uint8_t>given.pad_value


cdef cnp.ndarray result_array(out, int typenum, cnp.ndarray x, cnp.npy_intp *shape):
    """Give the array to write to: `out`, checked, if it is aligned, else a new one: much int32 begins at a line."""
    if out is not None:
        writable(out, typenum, 4, shape)
        apart(out, x, None)
        if cnp.PyArray_ISALIGNED(out):
            return out
    if 4.0 * shape[0] * shape[1] * shape[2] * shape[3] >= <double>PY_SSIZE_T_MAX:
        raise MemoryError
    if typenum != cnp.NPY_INT32 or cnp.PyArray_MultiplyList(shape, 4) < WORTH_A_LINE:
        return cnp.PyArray_EMPTY(4, shape, typenum, 0)
    return at_a_line(4, shape, cnp.NPY_INT32)


cdef cnp.ndarray put(cnp.ndarray made, out):
    """Give the result, in `out` if that is given: what was made elsewhere is copied to it."""
    if out is None or made is out:
        return made
    cnp.PyArray_CopyInto(out, made)
    return out


cdef set_result(Convolution *p, PreparedStage codes, cnp.ndarray y):
    """Set where the result goes, and the stage that makes its codes, if there is one."""
    p.has_stage = codes is not None
    if codes is not None:
        p.stage = codes.stage
    p.y, p.y_type, p.y_size = cnp.PyArray_BYTES(y), typenum_of(y), <int>cnp.PyArray_ITEMSIZE(y)
    p.y_image, p.y_row = cnp.PyArray_STRIDE(y, 0), cnp.PyArray_STRIDE(y, 1)
    p.y_column, p.y_channel = cnp.PyArray_STRIDE(y, 2), cnp.PyArray_STRIDE(y, 3)
    p.y_is_strided = not cnp.PyArray_IS_C_CONTIGUOUS(y)


def convolve(Images images, w, out=None, Finish finish or None=None, *, Py_ssize_t num_threads=1):
    """Convolve images with weights, of any strides, and finish the accumulators; without `finish` they are the result.

    w: int8 or uint8, or what ``pack_weights`` made of such weights, which knows the groups and whether products
    saturate. The result has the same bits for any ``num_threads``.
    """
    cdef PackedWeights packed = w if isinstance(w, PackedWeights) else pack_weights(w)
    if num_threads < 1:
        raise bad_value("num_threads", f"expected at least 1, got {num_threads}")
    return convolved(images, packed, out, SUMS if finish is None else finish, num_threads)


cdef cnp.ndarray convolved(Images images, PackedWeights packed, out, Finish finish, Py_ssize_t num_threads):
    """Do what `convolve` does."""
    cdef Convolution p
    set_operands(&p, images, packed, "kernel")
    cdef cnp.npy_intp[4] shape = [cnp.PyArray_DIM(images.x, 0), p.oh, p.ow, packed.oc * packed.groups]
    cdef cnp.ndarray y = result_array(out, finish.typenum, images.x, shape)
    finish.check_bias(packed)
    run_into(&p, images, packed, finish, finish.w_zero_points(packed), None, y, num_threads)
    return put(y, out)


def convolve_in_zeros(cnp.ndarray x, w, int64_t zero, w_zero, Window window, out=None):
    """Convolve x - zero with w - w_zero, where padding counts as 0, even if `zero` is not a code.

    Padding can only hold a code, so it holds the one nearest to `zero`. What `zero` lies beyond that code is subtracted
    from the image by a second convolution, of ones.
    """
    cdef const CodeType* found_type = code_type(x)
    cdef int64_t code = min(max(zero, found_type.lowest), found_type.highest)
    cdef Finish finish = Finish(w_zero)
    sums = convolve(Images(x, window, code, code), w, out, finish)
    if zero != code:
        ones = np.ones((1, *(<object>x).shape[1:]), np.uint8)
        rest = np.int64(zero - code) * convolve(Images(ones, window), w, None, finish)
        sums -= rest.astype(np.int32)
    return sums


def window_sums(Images images, tuple kernel, Py_ssize_t groups=1, Py_ssize_t num_threads=1):
    """Give the sums of x - zero_point over each window and all channels of a group: (N, OH, OW, groups), int32.

    For groups of one channel that is a depthwise convolution with ones. Else one thread adds up all channels of each
    pixel first, which is quick.
    """
    cdef Py_ssize_t channels = cnp.PyArray_DIM(images.x, 3) // groups, padding = images.pad_value
    if channels == 1 < groups:
        ones = pack_weights(np.ones((groups, 1, *kernel), np.int8), groups=groups)
        return convolve(images, ones, num_threads=num_threads)
    x = np.ascontiguousarray(images.x)
    rows = x.shape[0] * x.shape[1] * x.shape[2] * groups
    # the sums of each pixel, less those of a pixel of padding
    sums = row_sums(x.reshape(rows, channels)) - wrap_s32(<int64_t>channels * padding)
    sums = totals(sums.reshape(*x.shape[:3], groups), kernel, images.window)
    return sums + wrap_s32(<int64_t>channels * (padding - images.zero_point) * kernel[0] * kernel[1])


cdef int set_operands(Convolution *p, Images images, PackedWeights packed, str name) except -1:
    """Set the fields of p that depend on images, weights and window.

    ValueError for other channels, or, with `name`, if no window fits.
    """
    cdef cnp.ndarray x = images.x
    set_image(&p.image, images)
    set_weights(p, packed)
    if cnp.PyArray_DIM(x, 3) != packed.ic * packed.groups:
        raise bad_value("w", f"expected {packed.groups} groups to take the channels of x, of shape "
                        f"{(<object>x).shape}, got shape {packed.shape}")
    set_window(p, images.window, name)
    if packed.merged and p.dw > 1:
        raise bad_value("dilation", f"weights are packed for windows that read neighbours, got {p.dw}")
    p.image.channels = packed.ic * packed.groups // p.image.groups
    set_form(p, packed, images.window.has_no_padding())
    return 0


cdef bint is_product(const Convolution *p, PackedWeights packed, cnp.ndarray x, cnp.ndarray y):
    """Whether the pixels, as they lie in memory, are the rows of one matrix A, and become whole rows of codes."""
    return (p.kh == p.kw == p.sh == p.sw == 1 and p.oh == p.image.height and p.ow == p.image.width
            and packed.groups == 1 and cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_IS_C_CONTIGUOUS(y))


cdef int run_pointwise(const Convolution *p, PackedWeights packed, Finish finish, Py_ssize_t pixels, int32_t zero_point,
                       Py_ssize_t num_threads) except -1:
    """Multiply the pixels by the weights, and make codes if there is a stage. Without it there is no bias."""
    cdef Coded c
    c.product.kernel, c.product.accumulate = p.kernel, False
    c.product.m, c.product.n, c.product.k = pixels, packed.oc, packed.ic
    c.product.a, c.product.lda, c.product.a_signed = p.image.x, packed.ic, p.image.x_signed
    c.product.a_offset, c.product.set_up, c.product.b = <uint32_t>zero_point, NULL, NULL
    c.product.panels, c.product.sums = p.panels, p.sums
    c.product.quads, c.product.runs, c.product.n_runs = quads_of(p.kernel, packed.ic), NULL, 1
    if not p.has_stage:
        c.product.c, c.product.ldc, c.product.spare = <int32_t *>p.y, packed.oc, False
        return run_product(&c.product, num_threads)
    c.bias, c.a_offset, c.b_offset = NULL, NULL, NULL
    if finish.bias is not None:
        c.bias = <const int32_t *>cnp.PyArray_DATA(finish.bias)
    c.stage, c.codes, c.typenum, c.size = &p.stage, p.y, p.y_type, p.y_size
    return run_coded(&c, num_threads)


cdef void set_form(Convolution *p, PackedWeights packed, bint has_no_padding) noexcept:
    """Set the form in which rows are read: whether they are copied, and the runs of quads of a window."""
    cdef Image *image = &p.image
    cdef bint lies_in_rows = image.channel == 1 and image.column == image.channels  # pixels of a row touch
    cdef bint may_stay = image.channel == 1 and has_no_padding and not p.kernel.widens
    image.merges = packed.depthwise or packed.merged or (packed.groups == 1 and p.dw == 1 and p.kw > 1
                                                         and image.channels % 4 == 0 and lies_in_rows)
    if packed.depthwise:
        p.taps, p.quads, image.in_place = p.kw, 1, lies_in_rows
    elif image.merges:
        p.taps, p.quads = p.kh, quads_of(p.kernel, p.kw * image.channels)
        image.in_place = may_stay and lies_in_rows and p.kw * image.channels % 4 == 0
    else:
        p.taps, p.quads = p.kh * p.kw, quads_of(p.kernel, image.channels)
        image.in_place = may_stay and image.channels % 4 == 0


cdef inline int32_t times_of(PackedWeights packed, bint x_signed, int32_t zero_point, bint by_amx) noexcept:
    """Give the factor of the sums of the weights that accumulators begin with: the shift of x less its zero point.

    by_amx: whether AMX reads the rows of x in place. Rows that are copied are shifted while they are, also for AMX.
    """
    cdef bint is_shifted = x_signed and (packed.depthwise or shifts(packed.kernel, by_amx))
    return <int32_t>((SHIFTED if is_shifted else 0) - <uint32_t>zero_point)


cdef int run_into(Convolution *p, Images images, PackedWeights packed, Finish finish, cnp.ndarray zeros,
                  cnp.ndarray starts, cnp.ndarray y, Py_ssize_t num_threads) except -1:
    """Set the fields of p that depend on the result, y in NHWC, and convolve.

    zeros: `finish.w_zero_points(packed)`. starts: `finish.starts` for these images, or None if that is not known.
    """
    cdef cnp.ndarray sums = None
    p.amx = not packed.depthwise and amx_is_faster(p.kernel, p.ow, p.taps, p.quads, True)
    p.times = times_of(packed, p.image.x_signed, images.zero_point, p.amx and p.image.in_place)
    set_result(p, finish.codes, y)
    if (p.has_stage or finish.bias is None) and zeros is None and is_product(p, packed, images.x, y):
        return run_pointwise(p, packed, finish, cnp.PyArray_SIZE(images.x) // packed.ic, images.zero_point, num_threads)
    if starts is None:
        starts = finish.starts(packed, p.times)
    if starts is not None:
        p.times, p.sums = 1, <const int32_t *>cnp.PyArray_DATA(starts)
    if zeros is not None:
        sums = np.ascontiguousarray(window_sums(images, packed.shape[2:], packed.groups, num_threads), np.int32)
    p.w_zero_points, p.window_sums = numbers(zeros), numbers(sums)
    return run_convolution(p, cnp.PyArray_DIM(images.x, 0), num_threads)


cdef void set_weights(Convolution *p, PackedWeights packed):
    """Set the fields of p that depend on the weights only."""
    p.kernel = packed.kernel
    p.image.kernel = plain_kernel(False) if packed.depthwise else packed.kernel
    p.groups, p.oc, p.kh, p.kw = packed.groups, packed.oc, packed.kh, packed.kw
    p.image.groups = 1 if packed.depthwise else p.groups
    p.sums = <const int32_t *>cnp.PyArray_DATA(packed.padded_sums)
    p.panels = packed.panels
    p.depthwise = <const int32_t *>packed.panels if packed.depthwise else NULL


cdef int set_window(Convolution *p, Window window, str name) except -1:
    """Set the fields of p that depend on the window and the sizes; ValueError with `name` if no window fits."""
    p.sh, p.dh = window.down.stride, window.down.dilation
    p.sw, p.dw = window.across.stride, window.across.dilation
    p.image.top, p.image.left = window.down.before, window.across.before
    window.places(p.image.height, p.image.width, p.kh, p.kw, &p.oh, &p.ow, name)
    p.image.pixels = (p.ow - 1) * p.sw + (p.kw - 1) * p.dw + 1
    return 0


cdef cnp.ndarray channels_last(cnp.ndarray x):
    """Give a view of an NCHW array as NHWC."""
    cdef cnp.npy_intp[4] axes = [0, 2, 3, 1]
    cdef cnp.PyArray_Dims order = [axes, 4]
    return cnp.PyArray_Transpose(x, &order)


@cython.final
cdef class Conv2D(Kernel):
    """A prepared convolution of images NHWC, of NCHW with `planes`. `zero_point` is that of x and the code of padding.

    typenum: numpy's number of the dtype of images. same: the padding is what TensorFlow calls SAME, for the size of
    the images of each call, and that of `window` is not read.
    """
    cdef PackedWeights packed
    cdef Window window
    cdef Finish finish
    cdef cnp.ndarray zeros, starts  # see `run_into`; starts: or None
    cdef int32_t zero_point
    cdef int typenum
    cdef bint same, planes

    def __init__(self, PackedWeights packed, Window window, Finish finish, int32_t zero_point, int typenum, *,
                 bint same=False, bint planes=False):
        self.packed, self.window, self.finish, self.zero_point = packed, window, finish, zero_point
        self.typenum, self.same, self.planes = typenum, same, planes
        finish.check_bias(packed)
        check_pad_value(zero_point, typenum == cnp.NPY_INT8)
        self.zeros, self.starts = finish.w_zero_points(packed), None
        if packed.depthwise or packed.kernel.amx[0] == NULL:  # that unit takes other ones for some images
            self.starts = finish.starts(packed, times_of(packed, typenum == cnp.NPY_INT8, zero_point, False))

    def __call__(self, x, out=None, num_threads=1):
        """Convolve images, into `out` if that is given. Errors name x, w, out and num_threads."""
        cdef Py_ssize_t threads = int32(num_threads, "num_threads", 1)
        return self.codes_of(array_of(x, "x"), out, threads)

    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b):
        return self.codes_of(a, None, 1)

    cdef object codes_of(self, cnp.ndarray data, out, Py_ssize_t threads):
        """Do what `__call__` says, on checked arguments but for the type and shape of `data` and `out`."""
        cdef cnp.ndarray y
        cdef PackedWeights packed = self.packed
        cdef Images images
        cdef Convolution p
        cdef int channels = 1 if self.planes else 3
        take(data, "x", self.typenum)
        if cnp.PyArray_NDIM(data) != 4 or cnp.PyArray_DIM(data, channels) != packed.ic * packed.groups:
            raise bad_value("x", f"expected images ({'N, C, H, W' if self.planes else 'N, H, W, C'}) of "
                            f"{packed.ic * packed.groups} channels, got shape {(<object>data).shape}")
        data = channels_last(data) if self.planes else data
        images = images_of(data, self.window_over(data), self.zero_point)
        set_operands(&p, images, packed, "x, w")
        cdef Py_ssize_t count = cnp.PyArray_DIM(data, 0), oc = packed.oc * packed.groups
        cdef cnp.npy_intp[4] shape = [count, p.oh, p.ow, oc]
        if self.planes:
            shape[1], shape[2], shape[3] = oc, p.oh, p.ow
        y = result_array(out, self.finish.typenum, data, shape)
        run_into(&p, images, packed, self.finish, self.zeros, self.starts, channels_last(y) if self.planes else y,
                 threads)
        return put(y, out)

    cdef Window window_over(self, cnp.ndarray x):
        """Give the window over images x, NHWC: with `same`, the padding depends on their size."""
        if not self.same:
            return self.window
        return self.window.with_same(cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2), self.packed.kh, self.packed.kw)
