cdef extern from "cpu.h":
    int PLAIN "QOPS_PLAIN"
    int AVX2 "QOPS_AVX2"
    int AVX512 "QOPS_AVX512"
    int VNNI "QOPS_VNNI"

cdef int tier() noexcept nogil
