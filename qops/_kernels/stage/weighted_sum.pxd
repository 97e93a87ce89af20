from libc.stdint cimport int32_t, uint8_t

cdef extern from "stage/weighted_sum.h":
    ctypedef struct WeightedSum "weighted_sum":
        int32_t ka, kb, k  # |ka|, |kb| are below 2**22; below 2**15 if the right shift is 0. No sum is beyond int32.
        int32_t right_shift
        uint8_t flip_a, flip_b  # the codes of a and b are xored with these

cdef void weighted_sum(char** data, Py_ssize_t n, void* using) noexcept nogil
