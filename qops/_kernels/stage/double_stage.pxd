"""From an accumulator to a code in double: clamp(round(x * scale + plus) + shift, lowest, highest), whole ends."""

cimport numpy as cnp

from qops._kernels.stage.maker cimport Maker, Scales
from qops._kernels.stage.rounding cimport Rounding

cdef extern from "stage/double_stage.h":
    ctypedef struct DoubleRow "double_row":
        double scale, plus, shift, lowest, highest
        Rounding rounding

cdef Maker double_maker(const DoubleRow* p) noexcept nogil
cdef Maker double_turns(const Scales* scales) noexcept nogil
cdef object double_stage(const DoubleRow* p, const Scales* scales, cnp.ndarray x, cnp.ndarray out)
