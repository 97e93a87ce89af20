cdef extern from "core/cpu.h":
    int PLAIN "QOPS_PLAIN"
    int VNNI "QOPS_VNNI"

cdef int tier() noexcept nogil
