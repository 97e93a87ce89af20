"""The kernel of `qops.rules.add` and `mul`: it checks the arguments, makes the stage and runs it."""

cimport cython
cimport numpy as cnp

from qops._kernels.arrays.checks cimport array_of
from qops._kernels.arrays.codes cimport CodeType, code_type_of
from qops._kernels.arrays.numbers cimport integer
from qops._kernels.stage.given cimport row_named, row_of
from qops._kernels.stage.binary_rules cimport RULE, TAIL, Operands
from qops._kernels.stage.binary_stage cimport BinaryStage
from qops._kernels.stage.rules cimport as_words
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

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
        raise bad_type(name, f"expected uint8 or int8, or int16 by {wide}, got {dtype}")
    return 0


def once(dict rules not None, dict words not None, given, frozenset by_arrays not None, a, b, out, rule,
         tuple zero_points not None, tuple scales not None, integers, qmin, qmax):
    """Give the codes of two arrays by a `BinaryKernel` that is made for this call.

    None for a rule that has no loop: its name is in `by_arrays`.
    """
    if isinstance(rule, str) and rule in by_arrays:
        return None
    cdef cnp.ndarray x = array_of(a, "a"), y = array_of(b, "b")
    cdef BinaryKernel kernel = BinaryKernel.__new__(BinaryKernel)
    check_type(x.descr, "a", rule, rules)
    kernel.set(rules, words, given, x.descr, rule, zero_points, scales, integers, qmin, qmax)
    return kernel.run(x, y, out)


@cython.final
cdef class BinaryKernel:
    """All arguments of `qops.rules.add` or `mul` but the data, checked, and the stage that they make.

    rules: `qops.rules.ADD` or `MUL`; `words` are the rules that these requantize by. given: what checks the integers of
    a port. dtype: the type of the three tensors. zero_points, scales: of a, b and y. The other arguments are explained
    in `add`.
    """

    cdef readonly Operands operands
    cdef readonly cnp.dtype dtype
    cdef object row, by, given
    cdef str rule
    cdef BinaryStage stage

    def __init__(self, dict rules, dict words, given, cnp.dtype dtype, rule, tuple zero_points, tuple scales, integers,
                 qmin, qmax):
        check_type(dtype, "dtype", rule, rules)
        self.set(rules, words, given, dtype, rule, zero_points, scales, integers, qmin, qmax)

    cdef int set(self, dict rules, dict words, given, cnp.dtype dtype, rule, tuple zero_points, tuple scales, integers,
                 qmin, qmax) except -1:
        """Set all fields; `dtype` is checked already."""
        cdef const CodeType* codes = code_type_of(dtype.kind == c"i", dtype.itemsize)
        cdef int lo = codes.lowest, hi = codes.highest
        cdef tuple row = row_of(row_named(rule, rules))
        self.dtype, self.row, self.given = dtype, row, given
        self.rule, self.by = str(rule), words.get(row[RULE])  # numpy's strings too
        if qmin is not None:
            lo = integer(qmin, "qmin", lo, hi)
        if qmax is not None:
            hi = integer(qmax, "qmax", lo, hi)
        own = None if integers is None else self.checked(integers, scales)
        self.operands = Operands.__new__(Operands)
        self.operands.set(dtype, scales, zero_points, lo, hi, own)
        try:
            self.stage = self.operands.make(row, None if self.by is None else as_words(self.by))
            if row[TAIL]:
                tail = rules[row[TAIL]]
                self.stage = self.stage.with_tail(self.row.width, self.operands.stage(tail, words.get(tail.rule)))
        except ValueError as why:
            name, said = ("integers", own) if own else (", ".join(SCALES), "{}, {}, {}".format(*scales))
            raise bad_value(name, f"{said} are out of the range of {rule}: {why}") from None
        return 0

    cdef object checked(self, integers, tuple scales):
        """The integers of the caller, checked."""
        for name, value in zip(SCALES, scales):
            if value is not None:
                raise bad_value(name, f"given beside integers, got {value}")
        self.check_integers()
        return self.given(integers)

    cdef int check_integers(self) except -1:
        if not self.row.derived:
            raise bad_value("integers", f"{self.rule} multiplies by the scales themselves, in float32")
        return 0

    cdef int take(self, cnp.ndarray x, str name) except -1:
        if x.descr is not self.dtype and x.descr != self.dtype:
            raise bad_type(name, f"expected {self.dtype} data, got {x.descr}")
        return 0

    @property
    def integers(self):
        """The integers of a port: the given ones, or what the rule makes of the scales."""
        self.check_integers()
        return self.given(self.operands.integers(self.row, self.by))

    def __call__(self, a, b, out=None):
        return self.run(array_of(a, "a"), array_of(b, "b"), out)

    cdef object run(self, cnp.ndarray x, cnp.ndarray y, out):
        """Give the codes of two arrays, in `out` if that is given."""
        self.take(x, "a")
        self.take(y, "b")
        if not PyArray_SAMESHAPE(x, y):
            raise bad_value("a, b", f"expected equal shapes, got {(<object>x).shape} and {(<object>y).shape}")
        return self.stage.codes(x, y, out)
