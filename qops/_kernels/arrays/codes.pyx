"""Code types as structs, for kernels. Those that a dtype alone tells are the first rows of `qops.codes.TABLE`."""

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


cpdef object tensor(type cls, data, lo, hi):
    """Make the tensor (data, lo, hi) of the class `cls`, a subclass of tuple. Nothing is checked.

    This gives what ``tuple.__new__(cls, (data, lo, hi))`` gives, in a third of the time.
    """
    return new_triple(cls, data, lo, hi)


cdef int read_code_type(t, cnp.ndarray data, str name, CodeType* found_type) except -1:
    """Set `found_type` to the code type of the codes `data` of the tensor `t`; TypeError if they have none."""
    own = declared_code_type(t)
    found_type[0] = code_type(data)[0] if own is None else from_row(own)
    if found_type.steps == 0:
        raise TypeError(f"{name}: expected uint8, int8, uint16, int16 or int32 data, got {(<object>data).dtype}")
    return 0
