"""The epilogue of a convolution: it subtracts zero points of the weights, adds a bias, and makes codes."""
cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, uint32_t

from qops._kernels.arrays.checks cimport array
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.gemm.tile cimport SHIFT
from qops._kernels.conv.weights cimport PackedWeights

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()


@cython.final
cdef class Finish:
    """How the accumulators of a convolution become a result of the dtype `typenum`.

    w_zero_point: one number, or one for each output channel, that is subtracted from the weights. bias: int32, one for
    each output channel. codes: the stage that takes accumulators of whole pixels, whose channels are neighbours, to
    codes; without it the result is the accumulators.
    """

    def __init__(self, w_zero_point=0, bias=None, PreparedStage codes or None=None, int typenum=cnp.NPY_INT32):
        self.w_zero_point, self.codes, self.typenum = w_zero_point, codes, typenum
        self.bias = None if bias is None else np.array(array(bias, "bias", cnp.NPY_INT32))

    cdef cnp.ndarray w_zero_points(self, PackedWeights packed):
        """Give the zero point of the packed weights of each output channel; None if all are 0.

        It is 128 less than the given one where u8 weights are packed as s8.
        """
        cdef cnp.ndarray each
        cdef object much = self.w_zero_point
        if type(much) is int:
            much -= SHIFT if packed.is_shifted else 0
            return np.full(packed.shape[0], much & 0xFFFFFFFF, np.uint32) if much else None
        each = np.empty(packed.shape[0], np.int64)
        each[:] = much
        each -= SHIFT if packed.is_shifted else 0
        return each.astype(np.uint32) if each.any() else None

    cdef int check_bias(self, PackedWeights packed) except -1:
        """ValueError if there is a bias that does not have a value for each output channel."""
        cdef cnp.ndarray bias = self.bias
        if bias is not None and (cnp.PyArray_NDIM(bias) != 1 or cnp.PyArray_SIZE(bias) != packed.oc * packed.groups):
            raise bad_value("bias", f"expected shape {packed.shape[:1]}, got {(<object>bias).shape}")
        return 0

    cdef cnp.ndarray starts(self, PackedWeights packed, int32_t times):
        """Give what accumulators begin with, in the order of the padded sums: times * sums + bias.

        None if there is no bias, but for depthwise weights, whose loop takes no sums.
        """
        cdef cnp.ndarray made
        cdef uint32_t *start
        cdef const uint32_t *sums = <const uint32_t *>cnp.PyArray_DATA(packed.padded_sums)
        cdef const uint32_t *bias
        cdef Py_ssize_t i, j, size = cnp.PyArray_SIZE(packed.padded_sums), groups = packed.groups, oc = packed.oc
        if self.bias is None and not packed.depthwise:
            return None
        made = cnp.PyArray_EMPTY(1, cnp.PyArray_DIMS(packed.padded_sums), cnp.NPY_INT32, 0)
        start = <uint32_t *>cnp.PyArray_DATA(made)
        for i in range(size):
            start[i] = <uint32_t>times * sums[i]
        if self.bias is None:
            return made
        bias = <const uint32_t *>cnp.PyArray_DATA(self.bias)
        if packed.depthwise:
            for i in range(size):
                start[i] += bias[i % groups]
            return made
        for i in range(groups):
            for j in range(oc):
                start[i * (size // groups) + j] += bias[i * oc + j]
        return made


cdef Finish finish_of(w_zero_point, cnp.ndarray bias, PreparedStage codes, int typenum):
    """Make what `Finish` makes of a bias of int32 that nobody else changes, which is not copied."""
    cdef Finish made = Finish.__new__(Finish)
    made.w_zero_point, made.bias, made.codes, made.typenum = w_zero_point, bias, codes, typenum
    return made
