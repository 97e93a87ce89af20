"""Two tensors of codes make a third: the form of the value that two codes make, and the numbers of that form."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.arrays.steps cimport Kernel
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport Stage

cdef extern from "stage/binary_stage.h":
    ctypedef enum BinaryForm "binary_form":
        PRODUCT "BINARY_PRODUCT"
        SUM "BINARY_SUM"
        FLOAT_SUM "BINARY_FLOAT_SUM"
        CHAIN "BINARY_CHAIN"
        SHIFTED "BINARY_SHIFTED"  # the second code alone, shifted
        ONTO "BINARY_ONTO"  # the first code, shifted, onto the value that is there
    ctypedef struct Operand "binary_operand":
        int32_t zero, multiplier
        float scale, plus

cdef struct BinaryParams:
    Operand a, b
    BinaryForm form
    int typenum  # numpy's number of the dtype of all codes
    bint exchanged  # a is the second array
    bint has_of_a
    bint is_difference  # SHIFTED: the part of the second array is subtracted
    Stage of_a, of_b  # SHIFTED: the stages of a, if it has one, and of b
    Stage last
    Py_ssize_t width  # elements that are computed together, 1 if each is by itself
    const BinaryParams* tail  # what computes the elements at the end that do not fill a width; NULL: there are none

cdef class BinaryStage(Kernel):
    cdef BinaryParams params
    cdef object alive  # the owners of the memory that the stages point into
    cdef object codes(self, cnp.ndarray a, cnp.ndarray b, out)

cdef BinaryStage binary_stage(BinaryForm form, Operand a, Operand b, PreparedStage last, int typenum)
cdef BinaryStage staged(Operand a, Operand b, PreparedStage last, int typenum, PreparedStage of_a, PreparedStage of_b,
                        bint exchanged, bint is_difference)
