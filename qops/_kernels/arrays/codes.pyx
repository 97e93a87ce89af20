"""Code types as the kernels know them: those that a dtype means by itself, the first rows of `qops.codes.TABLE`."""

cimport numpy as cnp
from libc.stdint cimport INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, UINT8_MAX, UINT16_MAX

cnp.import_array()

cdef extern from *:
    """
    static PyObject *new_triple(PyTypeObject *cls, PyObject *a, PyObject *b, PyObject *c)
    {
        PyObject *const triple = cls->tp_alloc(cls, 3);
        if (triple) {
            PyTuple_SET_ITEM(triple, 0, Py_NewRef(a));
            PyTuple_SET_ITEM(triple, 1, Py_NewRef(b));
            PyTuple_SET_ITEM(triple, 2, Py_NewRef(c));
        }
        return triple;
    }
    """
    object new_triple(type cls, object a, object b, object c)

NONE = CodeType(0, 0, 0, False)
ROWS[False][:] = [
    CodeType(0, UINT8_MAX, UINT8_MAX, False),
    CodeType(0, UINT16_MAX, UINT16_MAX, False),
    NONE,
]
ROWS[True][:] = [
    CodeType(INT8_MIN, INT8_MAX, UINT8_MAX, False),
    CodeType(INT16_MIN, INT16_MAX, UINT16_MAX, False),
    CodeType(INT32_MIN, INT32_MAX, <int64_t>1 << 32, True),
]


cdef CodeType from_row(row) except *:
    """A `qops.codes.CodeType` as a struct."""
    return CodeType(row.lowest, row.highest, row.steps, row.symmetric)


cdef const CodeType* code_type(cnp.ndarray data) noexcept:
    """What the dtype of `data` means by itself; with 0 steps if that is no code type."""
    if not cnp.PyArray_ISINTEGER(data):
        return &NONE
    return code_type_of(cnp.PyArray_ISSIGNED(data), cnp.PyArray_ITEMSIZE(data))


def code_type_of_dtype(cnp.ndarray data not None):
    """`code_type` as a dict, for tests."""
    return code_type(data)[0]


cpdef object tensor(type cls, data, lo, hi):
    """The tensor (data, lo, hi) of the class `cls`, a subclass of tuple without a hash. Nothing is checked.

    It is what ``tuple.__new__(cls, (data, lo, hi))`` makes, in a third of the time.
    """
    return new_triple(cls, data, lo, hi)


cdef int read_row(t, cnp.ndarray data, str name, CodeType* row) except -1:
    """Sets `row` to what the codes `data` of the tensor `t` stand for; TypeError if that is not known."""
    own = own_row(t)
    row[0] = code_type(data)[0] if own is None else from_row(own)
    if row.steps == 0:
        raise TypeError(f"{name}: expected uint8, int8, uint16, int16 or int32 data, got {(<object>data).dtype}")
    return 0
