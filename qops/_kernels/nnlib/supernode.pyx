"""The calls of nnlib's supernodes: sums of products, words that are added to them, and the fraction multiply.

    c = sat_u8((wrap_s32(x << left_shift) * multiplier + 2**30) >> 31)

The multiply is vmpye and vmpyo:<<1:rnd:sat. These floor twice and then round, which together is one rounding, half up.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport rintf
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t

from qops._kernels.arrays.checks cimport apart, operand_of, writable
from qops._kernels.arrays.codes cimport tensor
from qops._kernels.arrays.numbers cimport int32
from qops._kernels.arrays.window cimport moving
from qops._kernels.conv.convolution cimport Images, convolved, images_of
from qops._kernels.conv.finish cimport Finish, finish_of
from qops._kernels.conv.weights cimport PackedWeights
from qops._kernels.nnlib.node_codes cimport worded_codes
from qops._kernels.nnlib.node_range cimport Gain, NodeRange, Scales, set_gain
from qops._kernels.nnlib.node_sums cimport next_range, watched
from qops._kernels.nnlib.ranges cimport FloatEnds, Level, level_of, quantize_int, steps
from qops._kernels.stage.integer_stage cimport integer_params, shift_by
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.rounding cimport HALF_UP, saturate_u8, wrap_s32

import numpy as np

from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef enum:
    BITS = 31


@cython.final
cdef class Place:
    """Checked images, how the windows lie on them, and the code of 0.

    size: rows and columns of the result. before: pixels of padding above and to the left of the image.
    """

    @property
    def size(self):
        return self.shape[1], self.shape[2]

    @property
    def before(self):
        return self.window.down.before, self.window.across.before

    cdef Images images(self):
        return images_of(self.image, self.window, self.zero)


@cython.final
cdef class Passes:
    """The passes of a call: the range, the numbers and the words of the last one.

    stage: takes sums with their words to codes; `gain` has its numbers. count: of the passes before the last one.
    is_beyond: whether results are beyond the range, and another pass follows.
    """
    cdef NodeRange ends
    cdef PreparedStage stage
    cdef Gain gain
    cdef cnp.ndarray words
    cdef FloatEnds following
    cdef int count
    cdef bint is_beyond


@cython.final
cdef class Fused:
    """What a node that multiplies, adds a bias and makes codes has prepared; `run` is a call of it.

    way: the stride and the padding. w_zero: subtracted from the packed weights. step: of the weights. bias: steps from
    0, and the step. zeros: the sums of the weights less their zero, which times the zero of images belong to the sums.
    added: what float32 subtracts from the words for them, and factor what integers add; without `added`, integers do
    all. inverse: 1 / the factors of the channels, or None. rules: the node's `NodeRules`. watches_more: whether it may
    watch more than the sums of its results.
    """
    cdef PackedWeights packed
    cdef tuple taps, stride
    cdef str padding, beyond
    cdef int w_zero, most
    cdef float step, bias_step
    cdef cnp.ndarray bias, zeros, added, inverse
    cdef int64_t factor
    cdef Scales scales
    cdef Finish sums_only  # of the convolution, where codes are made later
    cdef bint widens, keeps_given, saturates, fails, counts_steps, is_rows, watches_more

    def __init__(self, PackedWeights packed, tuple way, int w_zero, float step, tuple bias, cnp.ndarray zeros,
                 cnp.ndarray added or None, int64_t factor, Scales scales, cnp.ndarray inverse or None, rules,
                 bint watches_more):
        self.packed, self.w_zero, self.step, self.zeros = packed, w_zero, step, zeros
        self.taps, (self.stride, self.padding) = packed.shape[2:], way
        self.bias, self.bias_step = bias
        self.added, self.factor, self.scales, self.inverse = added, factor, scales, inverse
        self.most, self.fails, self.widens, self.keeps_given = rules.most, rules.fails, rules.widens, rules.keeps_given
        self.sums_only = Finish(w_zero)
        self.saturates, self.beyond = rules.saturates, rules.beyond_int32
        self.counts_steps, self.is_rows, self.watches_more = rules.counts_steps, rules.is_rows, watches_more

    cdef Place placed(self, x, num_threads):
        """Check images and place the windows."""
        cdef Place p = Place.__new__(Place)
        cdef Py_ssize_t channels = self.packed.ic * self.packed.groups, height, width, oh, ow
        cdef cnp.ndarray image = operand_of(x, "x", cnp.NPY_UINT8, -1, &p.ends)
        if self.is_rows:
            image = rows_of(image, channels)
        if cnp.PyArray_NDIM(image) != 4 or cnp.PyArray_SIZE(image) == 0:
            raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {(<object>image).shape}")
        height, width = cnp.PyArray_DIM(image, 1), cnp.PyArray_DIM(image, 2)
        if cnp.PyArray_DIM(image, 3) != channels:
            raise bad_value("x", f"expected images of {channels} channels, as w has, got shape {(<object>image).shape}")
        if self.padding == "VALID" and (self.packed.kh > height or self.packed.kw > width):
            raise bad_value("x, w", f"a window of {self.taps} does not fit in images of {(height, width)}")
        p.image, p.window = image, moving(self.padding, height, width, self.taps, self.stride)
        self.set_level(p)
        p.window.places(height, width, self.packed.kh, self.packed.kw, &oh, &ow)
        p.shape = [cnp.PyArray_DIM(image, 0), oh, ow, cnp.PyArray_SIZE(self.zeros)]
        p.threads = int32(num_threads, "num_threads", 1)
        return p

    def shape_of(self, tuple shape):
        """Give the shape of the result for images of this shape."""
        cdef Place p = self.placed((np.broadcast_to(np.uint8(0), shape), 0.0, 1.0), 1)
        return tuple([length for length in p.shape])

    cdef int set_level(self, Place p) except -1:
        """Set the code of 0 and the step of the sums; a range 0 wide is 1e-18 wide."""
        cdef FloatEnds r = FloatEnds(p.ends.min, p.ends.max)
        cdef Level level = level_of(r.min, max(r.max, r.min + <float>1e-18) - r.min)
        p.zero = saturate_u8(quantize_int(0, r)) if self.counts_steps else level.zero
        p.product = level.step * self.step
        if not p.product > 0:
            raise bad_value("x, w", f"the steps {level.step} and {self.step} make a step of sums of 0 in float32")
        return 0

    cdef Passes passes(self, NodeRange remembered, Place p):
        """Begin the passes of a call."""
        cdef Passes made = Passes.__new__(Passes)
        cdef cnp.npy_intp n = p.shape[3]
        cdef Py_ssize_t i
        made.ends, made.stage = remembered.copy(), PreparedStage.__new__(PreparedStage)
        made.words = cnp.PyArray_EMPTY(1, &n, cnp.NPY_INT32, 0)
        made.gain.count = self.scales.count()
        made.gain.channels = made.stage.integers(made.gain.count)
        for i in range(made.gain.count):
            made.gain.channels[i] = integer_params(0, shift_by(BITS, HALF_UP), 0, <int>steps())
        return made

    cdef int begin(self, Passes made, Place p) except -1:
        """Set the numbers and the words of a pass."""
        if self.counts_steps:
            set_counted(&made.gain, made.ends, p.product)
        else:
            found = made.ends.gain(p.product, self.scales.largest, p.ends, p.image, self.widens)
            set_gain(&made.gain, found, p.product, self.scales)
        self.set_words(p, made.ends, <int32_t*>cnp.PyArray_DATA(made.words))
        return 0

    cdef int set_words(self, Place p, NodeRange ends, int32_t* words) except -1:
        """Set what is added to the sums of (x - zero) * w: the bias, and what takes the lower end to code 0.

        (bias * ratio + lower) * inverse - added * zero in float32, half even; integers add factor * zero. Without
        `added` the words may saturate. With it, zeros * zero is added then, and wraps.
        """
        cdef Py_ssize_t i
        cdef const float* bias = <const float*>cnp.PyArray_DATA(self.bias)
        cdef const float* inverse = <const float*>data_of(self.inverse)
        cdef const int64_t* zeros = <const int64_t*>cnp.PyArray_DATA(self.zeros)
        cdef const int64_t* added = <const int64_t*>data_of(self.added)
        cdef float value, ratio = self.bias_step / p.product, lower = -ends.now.min / p.product
        cdef double whole, extra = <double>(self.factor * p.zero)
        for i in range(p.shape[3]):
            value = bias[i] * ratio + lower
            if inverse != NULL:
                value = value * inverse[i]
            if added != NULL:
                value = value - <float>wrap_s32(added[i] * p.zero)
            whole = half_even(value) + extra
            if self.saturates:
                whole = min(max(whole, <double>INT32_MIN), <double>INT32_MAX)
            if not INT32_MIN <= whole <= INT32_MAX:
                self.refuse_word(i, whole)
            words[i] = <int32_t>whole
            if added != NULL:
                words[i] = wrap_s32(words[i] + zeros[i] * p.zero)
        return 0

    cdef int refuse_word(self, Py_ssize_t i, double word) except -1:
        raise bad_value("bias, guess_min", f"in channel {i}, bias and lower end are {word:.6g} steps of the sums, "
                        f"beyond int32, which the original {self.beyond}")

    def sums(self, x):
        """Give the sums of (x - zero) * w and the bias, rounded to steps of the sums, and the step, of each channel.

        The sums are int64 (N, OH, OW, O).
        """
        cdef Place p = self.placed(x, 1)
        inverse = 1 if self.inverse is None else (<object>self.inverse).astype(np.float64)
        bias = np.rint((<object>self.bias).astype(np.float64) * (self.bias_step / <double>p.product) * inverse)
        return (<object>self.products(p)) + bias.astype(np.int64), p.product / inverse

    def run(self, type cls, node, NodeRange remembered, x, out, num_threads):
        """Make the passes of a call; give the result, of the class `cls`, the range then, and how many passes."""
        cdef Place p = self.placed(x, num_threads)
        cdef Passes made = self.passes(remembered, p)
        cdef cnp.ndarray codes, sums = None
        if out is not None:
            writable(out, cnp.NPY_UINT8, 4, p.shape)
            apart(out, p.image, None)
        if made.ends.fixed < 3:
            sums = self.products(p)
            self.settle(made, p, node._watched(p, sums) if self.watches_more else [watched(sums)])
        else:
            self.begin(made, p)
        if out is not None and cnp.PyArray_ISCARRAY(out):
            codes = out
        else:
            codes = cnp.PyArray_EMPTY(4, p.shape, cnp.NPY_UINT8, 0)
        self.make(p, made, sums, codes)
        if made.is_beyond:
            made.ends.move(made.following.min, made.following.max)
        if out is not None and codes is not out:
            cnp.PyArray_CopyInto(out, codes)
            codes = out
        return tensor(cls, codes, made.ends.now.min, made.ends.now.max), made.ends, made.count + 1

    cdef cnp.ndarray products(self, Place p):
        """Give the sums of (x - zero) * w."""
        return convolved(p.images(), self.packed, None, self.sums_only, p.threads)

    cdef int settle(self, Passes made, Place p, list seen) except -1:
        """Make passes until results are in the range, or there are as many as there may be."""
        while True:
            self.begin(made, p)
            made.is_beyond = next_range(made.ends, seen, made.words, &made.gain, self.keeps_given, &made.following)
            if not made.is_beyond or made.count + 1 == self.most:
                break
            made.ends.move(made.following.min, made.following.max)
            made.count += 1
        if made.is_beyond and self.fails:
            raise bad_value("x", f"after {self.most} passes results are beyond the range {made.ends.ends}, "
                            "and the original fails")
        return 0

    cdef int make(self, Place p, Passes made, cnp.ndarray sums, cnp.ndarray codes) except -1:
        """Make the codes: of the sums, or, where these are None, while they are made."""
        cdef Py_ssize_t i
        for i in range(made.gain.count):
            made.gain.channels[i].left_shift = made.gain.left_shift
        made.stage.ready()
        if sums is None:
            finish = finish_of(self.w_zero, made.words, made.stage, cnp.NPY_UINT8)
            convolved(p.images(), self.packed, codes, finish, p.threads)
            return 0
        return worded_codes(made.stage, sums, made.words, codes, p.threads)


cdef void* data_of(cnp.ndarray x) noexcept:
    """Give where the numbers of an array are; NULL if there is none."""
    return NULL if x is None else cnp.PyArray_DATA(x)


cdef inline double half_even(float x) noexcept nogil:
    """The nearest integer, up to 2**51: a double of 1.5 * 2**52 and more has no bits behind the point."""
    return (<double>x + 6755399441055744.0) - 6755399441055744.0


cdef cnp.ndarray rows_of(cnp.ndarray codes, Py_ssize_t depth):
    """Give codes of any shape as an image of one row, a pixel for each row of so many codes."""
    if cnp.PyArray_NDIM(codes) == 0 or cnp.PyArray_SIZE(codes) == 0 or cnp.PyArray_SIZE(codes) % depth:
        raise bad_value("x", f"expected rows of {depth} codes, as w has, got shape {(<object>codes).shape}")
    cdef cnp.npy_intp[4] shape = [1, 1, cnp.PyArray_SIZE(codes) // depth, depth]
    cdef cnp.PyArray_Dims dims = [shape, 4]
    return cnp.PyArray_Newshape(codes, &dims, cnp.NPY_CORDER)


cdef int set_counted(Gain* made, NodeRange ends, float product) except -1:
    """Set 255 / T, where T is how many steps of the sums the range has, as an integer."""
    cdef float width = ends.now.max - ends.now.min, count = width / product
    cdef int64_t whole = <int64_t>rintf(count) if count < <float>2147483648.0 else 0, multiplier
    cdef int shift = 0
    if whole <= 0:
        raise bad_value("min, max", f"{ends.ends} is {whole} steps of the sums, expected 1 to 2**31 - 1")
    multiplier = (<int64_t><int>steps() << BITS) // whole
    while multiplier > INT32_MAX:
        shift += 1
        multiplier = (<int64_t><int>steps() << BITS) // ((whole + 1) << shift)
    made.step, made.left_shift, made.channels[0].multiplier = width / steps(), shift, multiplier
    return 0
