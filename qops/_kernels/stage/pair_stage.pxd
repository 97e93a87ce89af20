"""Two tensors of codes into a third: what a pair of codes becomes, and the rows that it needs."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.stage.maker cimport Maker

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
    bint is_signed, exchanged  # exchanged: a is the second array
    int size
    Maker of_b, last
    Py_ssize_t width  # elements that are computed together, 1 if each is by itself
    const Pairs* tail  # what computes the elements at the end that do not fill a width; NULL: there are none

cdef class PairCodes:
    cdef Pairs pairs
    cdef PairCodes tail
    cdef tuple stages

    cdef object fill(self, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out)
