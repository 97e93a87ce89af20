"""Code types and tensors as the kernels know them: `qops.codes` and `qops.qtensor` make theirs known at import."""

cimport numpy as cnp

cnp.import_array()

cdef extern from *:
    """
    static PyObject *new_triple(PyTypeObject *kind, PyObject *a, PyObject *b, PyObject *c)
    {
        PyObject *const triple = kind->tp_alloc(kind, 3);
        if (triple) {
    #if PY_VERSION_HEX >= 0x030E0000
            ((PyTupleObject *)triple)->ob_hash = -1; /* not known yet */
    #endif
            PyTuple_SET_ITEM(triple, 0, Py_NewRef(a));
            PyTuple_SET_ITEM(triple, 1, Py_NewRef(b));
            PyTuple_SET_ITEM(triple, 2, Py_NewRef(c));
        }
        return triple;
    }
    """
    object new_triple(type kind, object a, object b, object c)

NONE = CodeType(0, 0, 0, False)
cdef type TENSOR = tuple


cdef CodeType from_row(row) except *:
    """A `qops.codes.CodeType` as a struct."""
    return CodeType(row.lowest, row.highest, row.steps, row.symmetric)


def learn_codes(rows):
    """Make the rows known that a dtype means by itself."""
    for row in rows:
        ROWS[<bint>(row.dtype.kind == "i")][<int>row.dtype.itemsize >> 1] = from_row(row)


cdef const CodeType* code_type(cnp.ndarray data) noexcept:
    """What the dtype of `data` means by itself; with 0 steps if that is no code type."""
    if not cnp.PyArray_ISINTEGER(data):
        return &NONE
    return code_type_of(cnp.PyArray_ISSIGNED(data), cnp.PyArray_ITEMSIZE(data))


cdef int read_row(t, cnp.ndarray data, str name, CodeType* row) except -1:
    """Sets `row` to what the codes `data` of the tensor `t` stand for; TypeError if that is not known."""
    row[0] = from_row(t.code_type) if is_read_otherwise(t) else code_type(data)[0]
    if row.steps == 0:
        raise TypeError(f"{name}: expected uint8, int8, uint16, int16 or int32 data, got {(<object>data).dtype}")
    return 0


def learn_tensor(type kind):
    """Make the class of tensors known."""
    global TENSOR
    TENSOR = kind


cdef bint has_own_row(t):
    """`is_read_otherwise` of what is no plain tuple."""
    return type(t) is not TENSOR and isinstance(t, TENSOR)


cpdef object tensor(data, lo, hi):
    """The tensor (data, lo, hi) of parts that are known to be right, in a fifth of the time that its class takes."""
    return new_triple(TENSOR, data, lo, hi)


cdef object named(type kind, a, b, c):
    """The named tuple kind(a, b, c), in a fifth of the time."""
    return new_triple(kind, a, b, c)
