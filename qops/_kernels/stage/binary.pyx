"""The kernel of `qops.rules.add` and `mul`: it checks the arguments, makes the stage and runs it."""

cimport cython
cimport numpy as cnp

from qops._kernels.arrays.checks cimport array_of
from qops._kernels.arrays.numbers cimport integer
from qops._kernels.stage.given cimport row_named, row_of
from qops._kernels.stage.binary_rules cimport Operands
from qops._kernels.stage.binary_stage cimport BinaryStage
from qops._kernels.stage.rules cimport as_words

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

cdef enum Field:  # places of a rule's words in its row
    RULE = 3
    TAIL = 7

cdef tuple SCALES = ("a_scale", "b_scale", "y_scale")


cpdef int check_type(cnp.dtype dtype, str name, rule, dict rules) except -1:
    """TypeError for codes that are neither of 8 bits nor int16 codes of a rule that takes these.

    A `rule` that is no name in `rules` is refused elsewhere.
    """
    cdef int typenum = dtype.num
    if typenum == cnp.NPY_UINT8 or typenum == cnp.NPY_INT8:
        return 0
    row = rules.get(rule) if isinstance(rule, str) else None
    if typenum != cnp.NPY_INT16 or not dtype.isnative or row is not None and not row.takes_int16:
        wide = ", ".join([key for key, other in rules.items() if other.takes_int16])
        raise TypeError(f"{name}: expected uint8 or int8, or int16 by {wide}, got {dtype}")
    return 0


def dtype_of(a, b, rule, dict rules):
    """The dtype of two arrays; TypeError if they differ, or the rule does not take it."""
    cdef cnp.dtype x = array_of(a, "a").descr, y = array_of(b, "b").descr
    check_type(x, "a", rule, rules)
    if x is not y and x != y:
        raise TypeError(f"b: expected {x} data as a, got {y}")
    return x


@cython.final
cdef class BinaryKernel:
    """All arguments of `qops.rules.add` or `mul` but the data, checked, and the stage that they make.

    rules: `qops.rules.ADD` or `MUL`; `words` are the rules that these requantize by. given: what checks the integers of
    a port. codes: the `qops.codes.CodeType` of the three tensors. zero_points, scales: of a, b and y. The other
    arguments are explained in `add`.
    """

    cdef readonly Operands operands
    cdef readonly cnp.dtype dtype
    cdef object row, by, given
    cdef str rule
    cdef BinaryStage stage

    def __init__(self, dict rules, dict words, given, codes, rule, tuple zero_points, tuple scales, integers,
                 qmin, qmax):
        cdef tuple of_codes = row_of(codes), row = row_of(row_named(rule, rules))
        cdef int lowest = of_codes[2], highest = of_codes[3]
        self.dtype = of_codes[1]
        self.row, self.given = row, given
        self.rule, self.by = str(rule), words.get(row[RULE])  # numpy's strings too
        check_type(self.dtype, "dtype", rule, rules)
        lo = lowest if qmin is None else integer(qmin, "qmin", lowest, highest)
        hi = highest if qmax is None else integer(qmax, "qmax", lo, highest)
        own = None if integers is None else self.checked(integers, scales)
        self.operands = Operands.__new__(Operands)
        self.operands.set(of_codes, scales, zero_points, lo, hi, own)
        try:
            self.stage = self.operands.make(row, None if self.by is None else as_words(self.by))
            if row[TAIL]:
                tail = rules[row[TAIL]]
                self.stage = self.stage.with_tail(self.row.width, self.operands.stage(tail, words.get(tail.rule)))
        except ValueError as why:
            name, said = ("integers", own) if own else (", ".join(SCALES), "{}, {}, {}".format(*scales))
            raise ValueError(f"{name}: {said} are out of the range of {rule}: {why}") from None

    cdef object checked(self, integers, tuple scales):
        """The integers of the caller, checked."""
        for name, value in zip(SCALES, scales):
            if value is not None:
                raise ValueError(f"{name}: given beside integers, got {value}")
        self.check_integers()
        return self.given(integers)

    cdef int check_integers(self) except -1:
        if not self.row.derived:
            raise ValueError(f"integers: {self.rule} multiplies by the scales themselves, in float32")
        return 0

    cdef int take(self, cnp.ndarray x, str name) except -1:
        if x.descr is not self.dtype and x.descr != self.dtype:
            raise TypeError(f"{name}: expected {self.dtype} data, got {x.descr}")
        return 0

    @property
    def integers(self):
        """The integers of a port: the given ones, or what the rule makes of the scales."""
        self.check_integers()
        return self.given(self.operands.integers(self.row, self.by))

    def __call__(self, a, b, out=None):
        cdef cnp.ndarray x = array_of(a, "a"), y = array_of(b, "b")
        self.take(x, "a")
        self.take(y, "b")
        if not PyArray_SAMESHAPE(x, y):
            raise ValueError(f"a, b: expected equal shapes, got {(<object>x).shape} and {(<object>y).shape}")
        return self.stage.codes(x, y, out)
