"""The sums that a supernode watches to find its output range, which are not only those of its results."""

cimport cython
cimport numpy as cnp
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t
from libc.string cimport memcpy

from qops._kernels.machine.tiers cimport tier
from qops._kernels.nnlib.fractions cimport shifted_left
from qops._kernels.nnlib.node_range cimport Gain, NodeRange
from qops._kernels.nnlib.ranges cimport FloatEnds
from qops._kernels.stage.rounding cimport wrap_s32

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef extern from "nnlib/supernode.h":
    Py_ssize_t channel_extremes__simd(int, const int32_t*, Py_ssize_t pixels, Py_ssize_t stride, Py_ssize_t n,
                                      int32_t*, int32_t*) nogil

cdef void channel_extremes(const int32_t* x, Py_ssize_t pixels, Py_ssize_t stride, Py_ssize_t n, int32_t* lowest,
                           int32_t* highest) noexcept nogil:
    """Widen the extremes of n channels to hold those of so many pixels, which lie `stride` sums apart."""
    cdef Py_ssize_t i, j, done = channel_extremes__simd(tier(), x, pixels, stride, n, lowest, highest)
    for i in range(pixels if done < n else 0):
        for j in range(done, n):
            lowest[j] = min(lowest[j], x[i * stride + j])
            highest[j] = max(highest[j], x[i * stride + j])


@cython.final
cdef class Watched:
    """Sums (N, H, W, n) of some channels, the extremes of each channel among them, and how they count.

    channels, words: int64, whose multipliers are used, and whose words are added; None for those of all channels.
    spread: None where the sums are known. Where pixels that memory happens to hold are among them, it is what these may
    take from a sum and add to it, int64, and the sums are without them. needs_shift: whether the highest sums are only
    seen if the left shift is not 0.
    """
    def __init__(self, cnp.ndarray sums, cnp.ndarray channels or None=None, cnp.ndarray words or None=None,
                 tuple spread or None=None, bint is_shifted_twice=False, bint needs_shift=False):
        self.channels, self.words = channels, words
        self.less, self.more = (None, None) if spread is None else spread
        self.is_shifted_twice, self.needs_shift = is_shifted_twice, needs_shift
        self.sums = []
        self.add(sums)

    cdef int add(self, cnp.ndarray sums) except -1:
        """Watch these sums as well."""
        cdef Py_ssize_t i, j, n = cnp.PyArray_DIM(sums, 3)
        cdef cnp.npy_intp[2] shape = [2, n]
        cdef int32_t* far
        cdef const char* x
        if cnp.PyArray_STRIDE(sums, 3) != 4 or cnp.PyArray_STRIDE(sums, 2) % 4:
            sums = np.ascontiguousarray(sums)
        if self.far is None:
            self.far = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT32, 0)
            memcpy(cnp.PyArray_DATA(self.far), cnp.PyArray_DATA(sums), 4 * n)
            memcpy(<int32_t*>cnp.PyArray_DATA(self.far) + n, cnp.PyArray_DATA(sums), 4 * n)
        self.sums.append(sums)
        far = <int32_t*>cnp.PyArray_DATA(self.far)
        for i in range(cnp.PyArray_DIM(sums, 0)):
            for j in range(cnp.PyArray_DIM(sums, 1)):
                x = cnp.PyArray_BYTES(sums) + i * cnp.PyArray_STRIDE(sums, 0) + j * cnp.PyArray_STRIDE(sums, 1)
                channel_extremes(<const int32_t*>x, cnp.PyArray_DIM(sums, 2), cnp.PyArray_STRIDE(sums, 2) // 4, n, far,
                                 far + n)
        return 0

    cdef FarSums found(self, cnp.ndarray words, const Gain* gain):
        """Give the extremes of the results; 0 is among them, as channels that fill up vectors are."""
        cdef int shift = gain.left_shift * (2 if self.is_shifted_twice else 1)
        cdef FarSums found = self.worded(words)
        if found.lowest < INT32_MIN >> shift or found.highest > INT32_MAX >> shift:
            found = self.results(self.wrapped(words, shift), None, gain, 0)
        elif gain.count == 1 and self.less is None:
            by = gain.channels[0].multiplier
            found = FarSums(fraction(found.lowest, by, shift), fraction(found.highest, by, shift))
        else:
            found = self.results(self.far, words, gain, shift)
        if self.needs_shift and gain.left_shift == 0:
            found.highest = 0
        return found

    cdef FarSums results(self, cnp.ndarray far_sums, cnp.ndarray words, const Gain* gain, int shift):
        """Give the extremes of the results of the lowest and the highest sum of each channel, and of 0."""
        cdef FarSums found = FarSums(0, 0)
        cdef const int32_t* far = <const int32_t*>cnp.PyArray_DATA(far_sums)
        cdef const int32_t* added = <const int32_t*>numbers(words)
        cdef const int64_t* of_words = numbers(self.words)
        cdef const int64_t* of_gain = numbers(self.channels)
        cdef const int64_t* less = numbers(self.less)
        cdef const int64_t* more = numbers(self.more)
        cdef Py_ssize_t i, n = cnp.PyArray_DIM(far_sums, 1)
        cdef int64_t word, low, high, by
        for i in range(n):
            word = 0 if added == NULL else added[place(of_words, i)]
            low, high = far[i] + word, far[n + i] + word
            if less != NULL:
                low, high = low + less[i], high + more[i]
            by = gain.channels[0 if gain.count == 1 else place(of_gain, i)].multiplier
            found.lowest = min(found.lowest, fraction(low, by, shift))
            found.highest = max(found.highest, fraction(high, by, shift))
        return found

    cdef FarSums worded(self, cnp.ndarray words):
        """Give the extremes of the sums with their words, and of 0."""
        cdef const int32_t* far = <const int32_t*>cnp.PyArray_DATA(self.far)
        cdef const int32_t* added = <const int32_t*>cnp.PyArray_DATA(words)
        cdef const int64_t* of_words = numbers(self.words)
        cdef Py_ssize_t i, n = cnp.PyArray_DIM(self.far, 1)
        cdef int64_t word, lowest = 0, highest = 0
        for i in range(n):
            word = added[place(of_words, i)]
            lowest, highest = min(lowest, far[i] + word), max(highest, far[n + i] + word)
        return FarSums(lowest, highest)

    cdef cnp.ndarray wrapped(self, cnp.ndarray words, int shift):
        """Give the extremes of each channel as `far` has them, of sums that wrap: with their words, and shifted."""
        cdef list far = []
        for sums in self.sums:
            sums = sums + (words if self.words is None else (<object>words)[self.words])
            sums <<= shift
            far.append(np.stack([sums.min((0, 1, 2)), sums.max((0, 1, 2))]))
        return np.stack([np.min([low for low, _ in far], 0), np.max([high for _, high in far], 0)])


cpdef Watched watched(cnp.ndarray sums):
    """Watch sums of all channels as they are."""
    cdef Watched made = Watched.__new__(Watched)
    made.sums = []
    made.add(sums)
    return made


cdef const int64_t* numbers(cnp.ndarray x) noexcept:
    """Give the numbers of an array; NULL if there is none."""
    if x is None:
        return NULL
    return <const int64_t*>cnp.PyArray_DATA(x)


cdef inline Py_ssize_t place(const int64_t* places, Py_ssize_t i) noexcept nogil:
    """Give places[i], or i if there are none."""
    return i if places == NULL else <Py_ssize_t>places[i]


cdef inline int64_t fraction(int64_t x, int64_t multiplier, int left_shift) noexcept nogil:
    """The result of a sum in output steps, before it saturates."""
    return (<int64_t>wrap_s32(shifted_left(x, left_shift)) * multiplier + (1 << 30)) >> 31


cdef FarSums extremes(list seen, cnp.ndarray words, const Gain* gain, bint possible):
    """Give the extremes of the results; of sums that are not known, `possible` gives the farthest that they may be."""
    cdef FarSums all = FarSums(0, 0), found
    cdef Watched part
    for part in seen:
        if part.less is None or possible:
            found = part.found(words, gain)
            all.lowest, all.highest = min(all.lowest, found.lowest), max(all.highest, found.highest)
    return all


cdef bint has_unknown(list seen):
    cdef Watched part
    for part in seen:
        if part.less is not None:
            return True
    return False


cdef bint next_range(NodeRange ends, list seen, cnp.ndarray words, const Gain* gain, bint keeps_given,
                     FloatEnds* found) except -1:
    """Set the range of the next pass; False if there is none. ValueError if it depends on what memory holds."""
    cdef FarSums known = extremes(seen, words, gain, False), far
    cdef bint is_moved = ends.retried(gain.step, known.lowest, known.highest, keeps_given, found)
    cdef FloatEnds other
    if not has_unknown(seen):
        return is_moved
    far = extremes(seen, words, gain, True)
    for low, high in ((far.lowest, far.highest), (far.lowest, known.highest), (known.lowest, far.highest)):
        if (ends.retried(gain.step, low, high, keeps_given, &other) != is_moved
                or other.min != found.min or other.max != found.max):
            raise bad_value("guess_min, guess_max", "the range depends on bytes beside the image that the original "
                            "does not set, as it also watches columns beyond the last one; give both ends")
    return is_moved
