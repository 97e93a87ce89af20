cimport numpy as cnp

from qops._kernels.arrays.codes cimport Tensor
from qops._kernels.frontdoor.epilogue cimport Epilogue, OperandRange
from qops._kernels.frontdoor.layer_tables cimport LayerStage

# multiplies `operand` less `zero` by the weights of the layer, and writes what `stage` makes of the sums to `place`
ctypedef int (*Multiply)(Layer layer, operand, int zero, LayerStage stage, cnp.ndarray place,
                         Py_ssize_t num_threads) except -1

cdef class Layer:
    cdef Epilogue epilogue
    cdef Multiply multiply
    cdef Tensor made(self, type cls, operand, int zero, OperandRange x, cnp.ndarray rows, terms, out, int ndim,
                     cnp.npy_intp* shape, tops, Py_ssize_t num_threads)
