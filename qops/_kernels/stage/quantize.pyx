"""The kernel of `qops.rules.quantize`, float32 values to codes: it checks arguments, makes the stage and runs it."""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, INT32_MIN

from qops._kernels.arrays.checks cimport array_of, float32s, output
from qops._kernels.arrays.numbers cimport int32, number, real
from qops._kernels.stage.float_stage cimport FUSED, OVER, TIMES, Beyond, FloatParams, Form, float_params
from qops._kernels.stage.given cimport codes_of, row_of
from qops._kernels.stage.prepared cimport BEYONDS, ROUNDINGS, PreparedStage
from qops._kernels.stage.rounding cimport Rounding
from qops._kernels.stage.stage cimport stage_unless_nan

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef enum:
    MOST_BITS = 40  # bits beyond which a quotient saturates in every type of codes
cdef double BELOW_INFINITY = 2.0**128 - 2.0**103  # where float32 begins to round to infinity


@cython.final
cdef class QuantizeWords:
    """The words of a rule of one loop as numbers, so that ops look them up only once.

    rows: `qops.rules.QUANTIZE`. A rule whose elements are computed together has the words of its tail, too.
    """

    cdef str name
    cdef Form form
    cdef Rounding rounding
    cdef Beyond beyond
    cdef bint is_inside  # whether the zero point is added before the rounding
    cdef bint casts  # whether the codes are the low bits of an int32
    cdef bint in_double  # whether the quotient is rounded to double only; it has no stage
    cdef bint inverts  # whether values are multiplied by the inverse of the scale, and
    cdef bint inverts_double  # whether that is the inverse of the scale in double
    cdef Py_ssize_t width
    cdef QuantizeWords tail

    def __init__(self, str name, dict rows):
        row = rows[name]
        self.name, self.width, self.casts, product = name, row.width or 1, row.beyond == "cast", row.product
        self.rounding, self.is_inside = ROUNDINGS[row.rounding], row.zero_point == "inside"
        self.beyond = BEYONDS["lowest, wraps" if self.casts else row.beyond]
        self.in_double, self.inverts_double = product == "over in double", product == "times, inverse in double"
        self.form = FUSED if product == "fused" else OVER if product.startswith("over") else TIMES
        self.inverts = self.form != OVER
        if row.tail:
            self.tail = QuantizeWords(row.tail, rows)


def once(dict rules, dict types, x, out, rule, dtype, scale, zero_point, qmin, qmax, axis, block, range):
    """Give the codes of values by a `Quantization` that is made for this call.

    rules: the words of each rule. types: the code type of each dtype. None if there is none for the arguments, or if
    they are less usual.
    """
    cdef Quantization op
    if type(scale) is not float or axis is not None or block is not None or range is not None:
        return None
    words = rules.get(rule) if type(rule) is str else None
    codes = codes_of(types, dtype)
    if words is None or codes is None:
        return None
    op = Quantization.__new__(Quantization)
    op.set(words, codes, scale, zero_point, qmin, qmax)
    return op.run(x, out)


@cython.final
cdef class Quantization:
    """All arguments of `qops.rules.quantize` but the data, checked, and the stage that they make; of one scale.

    words: those of the rule. codes: the `qops.codes.CodeType` of the result. The other arguments are explained in
    `quantize`.
    """

    cdef readonly object dtype
    cdef readonly double scale
    cdef readonly int zero_point
    cdef QuantizeWords words
    cdef int typenum, lowest, highest
    cdef float step
    cdef bint has_inverse
    cdef PreparedStage stage  # None for a rule in double
    cdef Quantization tail

    def __init__(self, QuantizeWords words not None, codes, scale, zero_point, qmin=None, qmax=None):
        self.set(words, codes, scale, zero_point, qmin, qmax)

    cdef int set(self, QuantizeWords words, codes, scale, zero_point, qmin, qmax) except -1:
        cdef FloatParams p
        cdef double factor
        cdef tuple of_codes = row_of(codes)
        cdef int lowest = of_codes[2], highest = of_codes[3]
        self.words, self.dtype = words, of_codes[1]
        self.typenum = (<cnp.dtype>self.dtype).type_num
        self.zero_point = int32(zero_point, "zero_point", lowest, highest)
        self.lowest = lowest if qmin is None else int32(qmin, "qmin", lowest, highest)
        self.highest = highest if qmax is None else int32(qmax, "qmax", self.lowest, highest)
        self.scale = number(scale, "scale")
        self.step = real(self.scale, "scale")
        if not self.step > 0:
            raise bad_value("scale", f"expected a number above 0, got {scale}")
        if words.tail is not None:
            self.tail = Quantization(words.tail, codes, scale, zero_point, qmin, qmax)
        # the quotient is rounded to double, then to float32: with 53 bits that is one rounding to 24
        factor = 1 / (self.scale if words.inverts_double else <double>self.step) if words.inverts else self.step
        self.has_inverse = factor < BELOW_INFINITY
        if words.in_double:
            return 0
        if words.casts and (qmin is not None or qmax is not None):
            raise bad_value("qmin, qmax", f"{words.name} clamps to nothing, it keeps the low bits; got {qmin}, {qmax}")
        p = float_params(0, words.rounding, self.lowest, self.highest)
        if words.casts:  # to int32, of which the codes are the low bits
            p.lowest, p.highest = INT32_MIN, INT32_MAX
        p.form, p.beyond = words.form, words.beyond
        if words.is_inside:
            p.plus = self.zero_point
        else:
            p.shift = self.zero_point
        self.stage = PreparedStage.__new__(PreparedStage)
        self.stage.reals(p, 1)[0] = <float>factor if self.has_inverse else INFINITY
        return 0

    def __call__(self, x, out=None):
        return self.run(x, out)

    cdef object run(self, x, out):
        """Give the codes of values, in `out` if that is given."""
        cdef cnp.ndarray source = array_of(x, "x"), values = float32s(source, "x"), made
        cdef Py_ssize_t rest
        if not (self.has_inverse or (<object>values).all()):
            raise bad_value("scale", f"{self.scale} has no reciprocal in float32, which {self.words.name} takes")
        made = output(out, self.typenum, source)
        if not (stage_unless_nan(&self.stage.stage, values, made) if self.stage else self.in_double(values, made)):
            raise bad_value("x", "has NaN, which has no code")
        rest = cnp.PyArray_SIZE(values) % self.words.width
        if rest:  # `flat` of numpy takes 32 dimensions, so those of one element are left out
            (<object>made).squeeze().flat[-rest:] = self.tail((<object>values).squeeze().flat[-rest:])
        return out if made is out else made

    cdef bint in_double(self, x, out) except -1:
        """Set out to the quotients in double, rounded half away from 0; False if one is NaN. For a few elements."""
        quotients = (x.astype(np.float64) / <double>self.step).clip(-(2.0**MOST_BITS), 2.0**MOST_BITS)
        whole = np.trunc(quotients)
        whole += np.trunc(2 * (quotients - whole))  # both differences are exact
        if np.isnan(whole).any():
            return False
        out[...] = np.clip(whole + self.zero_point, self.lowest, self.highest)
        return True
