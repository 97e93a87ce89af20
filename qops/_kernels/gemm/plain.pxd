from qops._kernels.gemm.tile cimport gemm_kernel

cdef const gemm_kernel *plain_kernel(bint saturating) noexcept nogil
