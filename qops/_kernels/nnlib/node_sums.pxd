cimport numpy as cnp

from qops._kernels.nnlib.node_range cimport Gain, NodeRange
from qops._kernels.nnlib.ranges cimport FloatEnds

cdef bint next_range(NodeRange ends, list seen, cnp.ndarray words, Gain gain, bint keeps_given,
                     FloatEnds* found) except -1
