"""Two tensors of codes make a third: the form of a pair's value, and the numbers of that form."""

from libc.stdint cimport int32_t

from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport Stage

cdef extern from "stage/pair_stage.h":
    ctypedef enum Form "pair_form":
        PRODUCT "PAIR_PRODUCT"
        SUM "PAIR_SUM"
        FLOAT_SUM "PAIR_FLOAT_SUM"
        CHAIN "PAIR_CHAIN"
        SHIFTED "PAIR_SHIFTED"  # of the second code alone
        ONTO "PAIR_ONTO"  # the first code, shifted, onto the value that is there
    ctypedef struct Side "pair_side":
        int32_t zero, multiplier
        float scale, plus

cdef struct Pairs:
    Side a, b
    Form form
    int typenum  # numpy's number of the dtype of all codes
    bint exchanged  # a is the second array
    bint has_of_a
    Stage of_a, of_b  # SHIFTED: the stages of a, if it has one, and of b
    Stage last
    Py_ssize_t width  # elements that are computed together, 1 if each is by itself
    const Pairs* tail  # what computes the elements at the end that do not fill a width; NULL: there are none

cdef class PairStage:
    cdef Pairs pairs
    cdef object alive  # what the stages point into

cdef PairStage pair_stage(Form form, Side a, Side b, PreparedStage last, int typenum)
cdef PairStage staged(Side a, Side b, PreparedStage last, int typenum, PreparedStage of_a, PreparedStage of_b,
                      bint exchanged)
