"""The short way into a product: no scale, no offset, one thread, and every argument as it should be.

A product of 64 x 64 x 64 takes little more than a microsecond; the checks of all that gemm can do, in Python, take ten.
"""
cimport cython
cimport numpy as cnp

from qops._kernels.product.gemm cimport PackedB, result, set_a, set_c, set_packed, set_row_major, set_runs
from qops._kernels.product.blocks cimport Product
from qops._kernels.product.run cimport run_product

import functools

cnp.import_array()


@cython.final
cdef class _Way:
    """What a machine says of its bare products."""
    cdef object machine
    cdef bint saturates
    cdef Py_ssize_t k_single

    def __init__(self, machine):
        self.machine = machine
        self.saturates = machine.saturates
        self.k_single = machine.k_single


cdef inline bint is_matrix(x, int typenum):
    """Whether x is just that, its rows contiguous."""
    return (cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(x) == typenum and cnp.PyArray_NDIM(x) == 2
            and cnp.PyArray_STRIDE(x, 1) == 1)


cdef object bare_product(a, b, int a_type, _Way way, type packed_type, out):
    """C = A x B, or None if that is to be looked at more closely."""
    cdef Product p
    cdef cnp.ndarray right = None, c
    cdef Py_ssize_t k
    if not is_matrix(a, a_type):
        return None
    set_a(&p, a)
    if type(b) is packed_type:
        if b.machine is not way.machine:
            return None
        packed = b.whole
        k = (<PackedB>packed).k
        set_packed(&p, <PackedB>packed)
    elif is_matrix(b, cnp.NPY_INT8):
        right = b
        k = cnp.PyArray_DIM(right, 0)
        set_row_major(&p, right, way.saturates)
    else:
        return None
    if p.k != k or way.saturates and (k > way.k_single or p.m == 1 or p.n == 1):
        return None  # pairs may begin anew within k, or another kernel form them along the vector
    c = result(out, p.m, p.n, a, right)
    set_c(&p, c, False)
    set_runs(&p, None)
    run_product(&p, 1, None)
    return c


def short_way(int a_type, machines, type packed_type):
    """Make a decorator for gemm functions: bare products of A of the dtype number `a_type` do not pass through them.

    machines: by (version, isa), with the attributes ``saturates`` and ``k_single``. packed_type: of B packed, with the
    attributes ``machine`` and ``whole``, a PackedB.
    """
    cdef dict ways = {key: _Way(machine) for key, machine in machines.items()}

    def decorate(function):
        default_version, default_isa = function.__kwdefaults__["version"], function.__kwdefaults__["isa"]
        default_way = ways[default_version, default_isa]

        @functools.wraps(function)
        def gemm(a, b, *, isa=default_isa, version=default_version, out=None, **rest):
            c = way = None
            if isa is default_isa and version is default_version:
                way = default_way
            elif type(isa) is type(version) is str:
                way = ways.get((version, isa))
            if way is not None and not rest:
                c = bare_product(a, b, a_type, way, packed_type, out)
            return function(a, b, isa=isa, version=version, out=out, **rest) if c is None else c

        return gemm

    return decorate
