"""Code types as structs, for kernels. Those that a dtype alone tells are the first rows of `qops.codes.TABLE`."""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, UINT8_MAX, UINT16_MAX
from qops._kernels.arrays.refusal import bad_type

cnp.import_array()

cdef tuple EMPTY = ()

NONE = CodeType(0, 0, 0, False)
CODE_TYPES[False][:] = [
    CodeType(0, UINT8_MAX, UINT8_MAX, False),
    CodeType(0, UINT16_MAX, UINT16_MAX, False),
    NONE,
]
CODE_TYPES[True][:] = [
    CodeType(INT8_MIN, INT8_MAX, UINT8_MAX, False),
    CodeType(INT16_MIN, INT16_MAX, UINT16_MAX, False),
    CodeType(INT32_MIN, INT32_MAX, <int64_t>1 << 32, True),
]


cdef CodeType from_row(row) except *:
    """Give a `qops.codes.CodeType`, a row of that table, as a struct."""
    return CodeType(row.lowest, row.highest, row.steps, row.symmetric)


cdef const CodeType* code_type(cnp.ndarray data) noexcept:
    """Give the code type that the dtype of `data` tells; it has 0 steps if there is none."""
    if not cnp.PyArray_ISINTEGER(data):
        return &NONE
    return code_type_of(cnp.PyArray_ISSIGNED(data), cnp.PyArray_ITEMSIZE(data))


def code_type_of_dtype(cnp.ndarray data not None):
    """Give `code_type` of an array as a dict, for tests."""
    return code_type(data)[0]


@cython.auto_pickle(False)
@cython.freelist(4)  # for plain triples, which are read as tensors
cdef class Tensor:
    """The codes `data`, the ends of their range and their code type, which do not change: the base of `QTensor`."""


cpdef Tensor tensor(type cls, data, lo, hi, own=None):
    """Make a tensor of the class `cls`, a subclass of `Tensor`. Nothing is checked.

    `own` is the row of `qops.codes.TABLE` if that is not the one that the dtype tells.
    """
    cdef Tensor t = (<PyTypeObject*>Tensor).tp_new(cls, <PyObject*>EMPTY, NULL)  # past the `__new__` that checks
    t.data, t.min, t.max, t._own = data, lo, hi, own
    return t


cdef Tensor tensor_of(t, str name):
    """Give `t`, a tensor or a tuple or list of 3, as a tensor, unchecked; TypeError for all else, even an array."""
    if isinstance(t, Tensor):
        return <Tensor>t
    if not isinstance(t, (tuple, list)):
        raise bad_type(name, f"expected a (data, min, max) triple, got {type(t).__name__}")
    cdef tuple values = <tuple>t if isinstance(t, tuple) else tuple(t)
    if len(values) != 3:
        raise bad_type(name, f"expected a (data, min, max) triple, got {len(values)} parts")
    cdef Tensor read = Tensor.__new__(Tensor)
    read.data, read.min, read.max = values
    if cnp.PyArray_Check(read.max):
        check_order(read.data, read.max, name)
    return read


cpdef check_order(data, hi, str name):
    """TypeError if the codes stand last, after the ends of their range."""
    if cnp.PyArray_Check(hi) and cnp.PyArray_ISINTEGER(hi) and (
        cnp.PyArray_ISFLOAT(data) if cnp.PyArray_Check(data) else cnp.PyArray_IsAnyScalar(data)
    ):
        raise bad_type(name, "expected (data, min, max), got (min, max, data)")


def parts(t, str name):
    """Give the data, the min and the max of the tensor or triple `t`, unchecked."""
    cdef Tensor found = tensor_of(t, name)
    return found.data, found.min, found.max


cdef int read_code_type(Tensor t, cnp.ndarray data, str name, CodeType* found_type) except -1:
    """Set `found_type` to the code type of the codes `data` of the tensor `t`; TypeError if they have none."""
    found_type[0] = code_type(data)[0] if t._own is None else from_row(t._own)
    if found_type.steps == 0:
        raise bad_type(name, f"expected uint8, int8, uint16, int16 or int32 data, got {(<object>data).dtype}")
    return 0
