"""The kernel of `qops.rules.requantize`, accumulators to codes: it checks arguments, makes the stage and runs it."""

cimport cython
cimport numpy as cnp

from qops._kernels.arrays.checks cimport array_of, output
from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.numbers cimport int32, integer
from qops._kernels.machine.host cimport check_rounding
from qops._kernels.stage.given cimport codes_of, given_integers, given_scales, row_named, row_of, three_scales
from qops._kernels.stage.multipliers cimport FLOAT_32, FLOAT_64, formed
from qops._kernels.stage.prepared cimport INTO_16, PRODUCT, PreparedStage, IntegerRule
from qops._kernels.stage.rules cimport NO_SCALES, Numbers

import numpy as np
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()


def once(dict rules, dict types, acc, out, rule, dtype, scale, integers, scales, in_zero_point, zero_point, qmin, qmax,
         axis, bias, range, w_sums, x_zero_point):
    """Give the codes of accumulators by a `Requantization` that is made for this call.

    None if there is none for them, or if they are less usual: of a rule that is not in `rules`, a dtype that is not in
    `types`, or with one of the last four arguments, which these rules do not take.
    """
    cdef Requantization op
    if bias is not None or range is not None or w_sums is not None or type(x_zero_point) is not int or x_zero_point:
        return None
    row = rules.get(rule) if type(rule) is str else None
    codes = codes_of(types, dtype)
    if row is None or codes is None:
        return None
    op = Requantization.__new__(Requantization)
    op.set(row, codes, scale, integers, scales, in_zero_point, zero_point, qmin, qmax, axis)
    return op.run(acc, out)


@cython.final
cdef class Tail:
    """The tail of an array, behind its last whole block, by a `qops.rules.BlockRule`."""

    cdef object blocks
    cdef PreparedStage stage  # None if no channel is in a tail

    def __init__(self, blocks, rule, Numbers numbers):
        channels, factor = numbers.channels, numbers.factor
        if channels is not None and blocks.of == "elements":
            raise bad_value("scale, integers, scales", f"blocks of {blocks.size} elements have one, got {channels}")
        rest = (channels or 0) % blocks.size
        if rest:
            factor = tuple([x[-rest:] for x in factor]) if numbers.has_integers else factor[-rest:]
        self.blocks = blocks
        if channels is None or rest:
            self.stage = Numbers(rule, factor, numbers.zero_point, numbers.lo, numbers.hi).stage()

    cdef int run(self, x, codes, int axis, Py_ssize_t inner) except -1:
        """Set the codes of the tail of accumulators x, along an axis if the blocks are of channels."""
        if self.blocks.of == "elements":
            rest = x.size % self.blocks.size
            if rest:
                codes.flat[-rest:] = self.codes(x.reshape(-1)[-rest:], codes.dtype, 1)
        elif x.ndim and x.shape[axis] % self.blocks.size:
            last = (..., slice(-(x.shape[axis] % self.blocks.size), None))
            part = np.moveaxis(np.moveaxis(x, axis, -1)[last], -1, axis)
            np.moveaxis(codes, axis, -1)[last] = np.moveaxis(self.codes(part, codes.dtype, inner), axis, -1)
        return 0

    cdef object codes(self, x, dtype, Py_ssize_t inner):
        made = np.empty(x.shape, dtype)
        self.stage.run(np.ascontiguousarray(x), made, inner)
        return made


@cython.final
cdef class Requantization:
    """All arguments of `qops.rules.requantize` but the data, checked, and the stages that they make.

    rules: for each name the `Words` of its rule; for a rule of blocks also its `qops.rules.BlockRule` and the words of
    the tail, else None twice. codes: the `qops.codes.CodeType` of the result. The others: see `requantize`.
    """

    cdef readonly Numbers numbers
    cdef readonly object dtype
    cdef readonly int in_zero_point, axis
    cdef bint has_axis  # whether anything depends on the axis: scales of channels, or blocks of them
    cdef readonly tuple scales  # the argument, checked, or None
    cdef str given  # the name of the argument that was given
    cdef int typenum
    cdef PreparedStage stage, wide  # for int32 accumulators and for wider ones; None if there are no channels
    cdef Tail tail

    def __init__(self, dict rules, codes, rule, scale, integers, scales, in_zero_point, zero_point, qmin, qmax, axis):
        self.set(row_named(rule, rules), codes, scale, integers, scales, in_zero_point, zero_point, qmin, qmax, axis)

    cdef int set(self, tuple named, codes, scale, integers, scales, in_zero_point, zero_point, qmin, qmax,
                 axis) except -1:
        """Set all fields; `named`: what `rules` has for the rule."""
        check_rounding()
        cdef tuple before_after = NO_SCALES, of_codes = row_of(codes)
        cdef int lowest = of_codes[2], highest = of_codes[3], lo, hi
        cdef int missing = (scale is None) + (integers is None) + (scales is None)
        row, blocks, last = named
        if missing != 2:
            raise bad_value("scale, integers, scales", f"expected one of the three, got {3 - missing}")
        lo = lowest if qmin is None else int32(qmin, "qmin", lowest, highest)
        hi = highest if qmax is None else int32(qmax, "qmax", lo, highest)
        self.dtype, self.typenum = of_codes[1], (<cnp.dtype>of_codes[1]).type_num
        self.in_zero_point, self.axis = int32(in_zero_point, "in_zero_point"), int32(axis, "axis", -64, 63)
        if scale is not None:
            self.given, factor = "scale", given_scales(scale)
        elif integers is not None:
            self.given, factor = "integers", given_integers(integers)
        else:
            self.given, self.scales = "scales", three_scales(scales)
            factor, before_after = formed(self.scales, row.rule.scales.split(", ")[0])
        self.numbers = Numbers.__new__(Numbers)
        self.numbers.set(row, factor, int32(zero_point, "zero_point", lowest, highest), lo, hi, before_after)
        if self.numbers.count:
            self.stage = self.numbers.stage()
            self.wide = self.numbers.stage(True) if self.numbers.can_wrap else self.stage
        self.has_axis = self.numbers.by_channel
        if blocks is not None:
            self.tail = Tail(blocks, last, self.numbers)
            self.has_axis |= blocks.of == "channels"
        return 0

    def __call__(self, acc, out=None):
        return self.run(acc, out)

    cdef object run(self, acc, out):
        """Give the codes of accumulators, in `out` if that is given."""
        cdef cnp.ndarray x = array_of(acc, "acc"), near = x, made
        cdef Py_ssize_t inner = self.inner(x) if self.has_axis else 1
        cdef int x_type = typenum_of(x)
        if x_type != cnp.NPY_INT32 or self.in_zero_point != 0:
            near = self.moved(x, x_type == cnp.NPY_INT32)
            x_type = typenum_of(near)
        made = output(out, self.typenum, x)
        if cnp.PyArray_SIZE(x):
            (self.wide if x_type == cnp.NPY_INT64 else self.stage).make(near, x_type, made, self.typenum, inner)
            if self.tail is not None:
                self.tail.run(near, made, self.axis, inner)
        return out if made is out else made

    cdef Py_ssize_t inner(self, cnp.ndarray x) except -1:
        """Give how many neighbours share a scale; ValueError if the axis does not fit acc or the scales of channels."""
        cdef int axis = self.axis + (x.ndim if self.axis < 0 else 0), i
        cdef Py_ssize_t inner = 1
        if x.ndim and not 0 <= axis < x.ndim:
            integer(self.axis, "axis", -x.ndim, x.ndim - 1)
        if not self.numbers.by_channel:
            return 1
        if (x.shape[axis] if x.ndim else 0) != self.numbers.count:
            raise bad_value(
                self.given,
                f"{self.numbers.count} of them do not fit axis {self.axis} of acc, "
                f"shape {(<object>x).shape}"
            )
        for i in range(axis + 1, x.ndim):
            inner *= x.shape[i]
        return max(1, inner)

    cdef cnp.ndarray moved(self, x, bint is_int32):
        """The accumulators less their zero point, as the rule reads them: int32 where that holds them, else wider."""
        cdef bint is_single = FLOAT_32 <= self.numbers.kind < FLOAT_64
        if x.dtype.kind not in "iu":
            raise bad_type("acc", f"expected integers, got {x.dtype}")
        if x.size == 0:
            return x.astype(np.int32)
        cdef IntegerRule s = self.numbers.words.integer_rule
        wraps, moved = s.wraps == PRODUCT, self.in_zero_point
        least, most = int(x.min()) - moved, int(x.max()) - moved
        if wraps and is_int32 or min(least, -most - 1) >= -(1 << 31):
            return np.asarray(np.subtract(x.astype(np.int32, copy=False), np.int32(moved)))
        if self.numbers.kind >= FLOAT_64 or s.split == INTO_16 or self.numbers.words.is_in_sum:
            raise bad_value("acc", f"int32 does not hold its values, {least} to {most}")
        if max(-least, most) >= 1 << 48:
            raise bad_value("acc", f"48 bits do not hold its values, {least} to {most}")
        wide = np.asarray(np.subtract(x, moved, dtype=np.int64, casting="unsafe"))
        if is_single:
            return wide.astype(np.float32)
        if not wraps and int(np.max(np.abs(self.numbers.integers_of_loop[0]))) * max(-least, most) >= 1 << 62:
            name = self.numbers.words.name
            raise bad_value("acc", f"64 bits do not hold {least} to {most} times the multiplier of {name}")
        return wide
