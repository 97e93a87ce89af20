cimport numpy as cnp

from qops._kernels.arrays.refusal import bad_type


cdef inline tuple row_of(row):
    """Give a row of a table, of a class that derives from tuple, as a tuple: its fields are found by their places."""
    if not isinstance(row, tuple):
        raise bad_type("row", f"expected that of a table, got {row!r}")
    return <tuple>row


cdef inline codes_of(dict types, dtype):
    """Give the code type of a dtype, a scalar type or a name, None if `types` has none; of all else None, too."""
    is_plain = type(dtype) is str or type(dtype) is type or isinstance(dtype, cnp.dtype)
    return types.get(dtype) if is_plain else None


cpdef object row_named(rule, table)
cpdef object given_integers(integers)
cpdef object given_scales(scale)
cpdef tuple three_scales(scales)
cdef double above_0(value, str name) except? -1
