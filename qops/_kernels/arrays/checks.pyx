"""The checks of the arrays and tensors that users pass, with their error texts. They run on every call of an op."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport INT32_MAX, INT32_MIN

from qops._kernels.arrays.codes cimport Tensor, code_type, tensor_of, typenum_of

import numpy as np
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISNOTSWAPPED(cnp.ndarray a)
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)
    ctypedef struct npy_stride_sort_item:
        cnp.npy_intp perm, stride
    void PyArray_CreateSortedStridePerm(int ndim, cnp.npy_intp* strides, npy_stride_sort_item* out)

U8 = cnp.NPY_UINT8
S32 = cnp.NPY_INT32
F32 = cnp.NPY_FLOAT32

cdef tuple end_names(str name):
    """What errors call the two ends of the range `name`: "min" and "max" if it is "min, max", two arguments."""
    return ("min", "max") if name == "min, max" else (name + " min", name + " max")


cdef int span_checked(lo, hi, str name, Ends* ends) except -1:
    """Do what `span_of` says, for any objects; `span_of` handles valid floats itself."""
    low_name, high_name = end_names(name)
    ends.min = <float>lo if type(lo) is float else real(lo, low_name)
    ends.max = <float>hi if type(hi) is float else real(hi, high_name)
    if not (isfinite(ends.min) and isfinite(ends.max)):
        raise bad_value(name, f"the range ({lo}, {hi}) is not finite in float32")
    if ends.min > ends.max:
        raise bad_value(name, f"min {shown(lo)} > max {shown(hi)}")
    return 0


def span(lo, hi, str name="min, max"):
    """Give the range (lo, hi) as float32 values; ValueError if one is not finite, or lo > hi."""
    cdef Ends ends
    span_of(lo, hi, name, &ends)
    return ends.min, ends.max


cdef inline bint has_type(cnp.ndarray data, int typenum):
    """Whether the dtype of `data` has this number. It is False for -1, which users' own dtypes have."""
    return typenum >= 0 and typenum_of(data) == typenum


cpdef cnp.ndarray as_array(x, str name):
    """Give `x` as an ndarray of numpy's own class; TypeError if that is impossible, or if it has masked elements.

    FloatingPointError if floating point is not rounded to nearest: every op comes here, or to `number`.
    """
    check_rounding()
    if cnp.PyArray_CheckExact(x):
        return x
    if x is None:
        raise bad_type(name, "expected an array, got None")
    if cnp.PyArray_Check(x) and np.ma.is_masked(x):
        raise bad_type(name, "has masked elements, which no op leaves out; fill them first")
    try:
        return np.asarray(x)
    except Exception as refusal:  # numpy's if parts have different shapes, or another library's
        raise bad_type(name, f"expected an array, got {type(x).__name__}: {str(refusal):.200}") from None


cpdef cnp.ndarray array(x, str name, int typenum, int or_typenum=-1):
    """Give `x` as an ndarray; TypeError unless its dtype has the number `typenum` (such as U8) or `or_typenum`."""
    cdef cnp.ndarray data = array_of(x, name)
    take(data, name, typenum, or_typenum)
    return data


cdef int take(cnp.ndarray data, str name, int typenum, int or_typenum=-1) except -1:
    """Raise TypeError unless the dtype of `data` has the number `typenum` or `or_typenum`."""
    if not (has_type(data, typenum) or has_type(data, or_typenum)):
        raise bad_type(name, f"expected {dtype_names(typenum, or_typenum)} data, got {(<object>data).dtype}")
    return 0


def dtype_names(int typenum, int or_typenum=-1):
    """Give the names of the dtypes for an error text; -1 stands for no dtype."""
    return " or ".join(str(np.dtype(cnp.PyArray_DescrFromType(t))) for t in (typenum, or_typenum) if t >= 0)


cpdef cnp.ndarray float32s(x, str name):
    """Give `x` as float32; TypeError if its elements are not real numbers."""
    cdef cnp.ndarray data = array_of(x, name)
    cdef object source = data
    if has_type(data, cnp.NPY_FLOAT32):
        return data
    if source.dtype.kind not in "fiu":
        raise bad_type(name, f"expected real numbers, got {source.dtype}")
    with np.errstate(over="ignore"):  # values beyond float32 become infinite
        return source.astype(np.float32)


def all_finite(x, bint nor_zero=False):
    """Whether all numbers of `x` are finite and, with `nor_zero`, other than 0; of any type that becomes float64."""
    cdef cnp.ndarray wide = cnp.PyArray_FROM_OTF(
        x, cnp.NPY_FLOAT64, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_FORCECAST)
    cdef const double* each = <const double*>cnp.PyArray_DATA(wide)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(wide)):
        if not isfinite(each[i]) or nor_zero and each[i] == 0:
            return False
    return True


cpdef cnp.ndarray int32s(x, str name):
    """Give `x` as int32; TypeError if its elements are not integers, ValueError if int32 does not hold them."""
    cdef cnp.ndarray data = array_of(x, name)
    cdef object source = data
    if has_type(data, cnp.NPY_INT32) and source.dtype.isnative:
        return data
    if source.dtype.kind not in "iu":
        raise bad_type(name, f"expected integers, got {source.dtype}")
    if source.size and not (source.min() >= INT32_MIN and source.max() <= INT32_MAX):
        raise bad_value(name, f"int32 does not hold its values, {source.min()} to {source.max()}")
    return source.astype(np.int32)


cdef object range_of(t, str name, Ends* ends):
    """Give the data of the triple `t`, still unchecked, and set `ends` to its range.

    A TypeError refuses a range per channel and a code type that the dtype of the data does not tell.
    """
    cdef Tensor read
    if type(t) is tuple and len(<tuple>t) == 3 and type(t[1]) is float and type(t[2]) is float:  # most are like that
        span_of(t[1], t[2], name, ends)
        return t[0]
    read = tensor_of(t, name)
    lo, hi = read.min, read.max
    if read._own is not None:
        raise bad_type(name, f"code type {read._own.name} is not supported here; dequantize first")
    if not (type(lo) is float and type(hi) is float) and (has_axes(lo) or has_axes(hi)):
        raise bad_type(name, "has a range per channel, this op takes one (min, max)")
    span_of(lo, hi, name, ends)
    return read.data


cdef int refuse_ends(lo, hi, cnp.ndarray data, str name) except -1:
    """Raise ValueError for a range that should be symmetric."""
    raise bad_value(name, f"the range ({lo}, {hi}) of {(<object>data).dtype} codes is not symmetric, min == -max")


cdef cnp.ndarray operand_of(t, str name, int typenum, int or_typenum, Ends* ends):
    """Give the data of the triple `t`, of one of two dtypes, checked, and set `ends` to its range."""
    cdef cnp.ndarray data = array(range_of(t, name, ends), name, typenum, or_typenum)
    check_ends(code_type(data), ends[0], data, name)
    return data


cdef cnp.ndarray data_of(t, str name, Ends* ends):
    """Give the data of the triple `t` as an array of any dtype, and set `ends` to its range.

    A caller with several operands calls this for all of them first, and then checks each with `take`: reading a range
    or an array-like object may run a user's code, which may change an array that is checked already.
    """
    return array_of(range_of(t, name, ends), name)


def operand(t, str name, int typenum, int or_typenum=-1):
    """Give the triple `t` as (ndarray, min, max), checked: one of two dtypes; an int32 range must be symmetric."""
    cdef Ends ends
    data = operand_of(t, name, typenum, or_typenum, &ends)
    return data, ends.min, ends.max


def operands(a, b, str a_name, str b_name, int typenum):
    """Give two triples of one dtype as `operand` gives each."""
    cdef Ends p, s
    cdef cnp.ndarray x = data_of(a, a_name, &p), y = data_of(b, b_name, &s)
    take(x, a_name, typenum)
    take(y, b_name, typenum)
    return (x, p.min, p.max), (y, s.min, s.max)


cdef int writable(out, int typenum, int ndim, cnp.npy_intp* shape) except -1:
    """Raise TypeError or ValueError unless `out` is a writable array of this native dtype and this shape.

    No two of its elements may share memory.
    """
    cdef cnp.ndarray a
    if not cnp.PyArray_Check(out):
        raise bad_type("out", f"expected an ndarray, got {type(out).__name__}")
    a = out
    if not has_type(a, typenum) or not PyArray_ISNOTSWAPPED(a):
        raise bad_type("out", f"expected native {dtype_names(typenum)}, got {out.dtype!r}")
    if a.ndim != ndim or not cnp.PyArray_CompareLists(a.shape, shape, ndim):
        raise bad_value("out", f"shape {out.shape}, expected {tuple([shape[i] for i in range(ndim)])}")
    if not cnp.PyArray_ISWRITEABLE(a):
        raise bad_value("out", "is read-only")
    if not (cnp.PyArray_ISONESEGMENT(a) or lies_apart(a)):
        raise bad_value("out", f"elements share memory, strides {out.strides} of shape {out.shape}")
    return 0


cdef bint lies_apart(cnp.ndarray a):
    """Whether no two elements of `a` share memory. It is False too if axes interleave without sharing memory."""
    cdef npy_stride_sort_item[MAX_DIMS] axes  # sorted by the absolute stride, the largest first
    cdef cnp.npy_intp stride, length, reach = cnp.PyArray_ITEMSIZE(a)
    cdef int i
    if cnp.PyArray_SIZE(a) == 0:
        return True
    PyArray_CreateSortedStridePerm(a.ndim, a.strides, axes)
    for i in range(a.ndim - 1, -1, -1):
        stride, length = axes[i].stride, a.shape[axes[i].perm]
        stride = max(stride, -stride)
        if length > 1:
            if stride < reach:
                return False
            reach += stride * (length - 1)
    return True


cdef int refuse_shared(cnp.ndarray out, cnp.ndarray x) except -1:
    """Raise ValueError if the two share memory. The check of numpy is exact and takes some microseconds."""
    # of numpy's own class: a subclass could run code of its own, which changes the arrays
    if np.shares_memory(np.asarray(out), np.asarray(x)):
        raise bad_value("out", "shares memory with an input")
    return 0


def check_out(out, int typenum, tuple shape, inputs):
    """TypeError or ValueError if a result of this dtype and shape cannot be written to `out`, apart from `inputs`."""
    cdef cnp.npy_intp[MAX_DIMS] lengths
    for i, length in enumerate(shape):
        lengths[i] = length
    writable(out, typenum, len(shape), lengths)
    for x in inputs:
        apart(out, x, None)


def unshared(out, *inputs):
    """Give `out`, which may be anything; ValueError if it is an array that shares memory with one of the inputs.

    An input is an array or a tensor; what is neither is refused elsewhere.
    """
    if cnp.PyArray_Check(out):
        for data in inputs:
            if isinstance(data, Tensor):
                data = (<Tensor>data).data
            elif isinstance(data, (tuple, list)) and len(data) == 3:
                data = data[0]
            if cnp.PyArray_Check(data):
                apart(out, data, None)
    return out


def into(out, shape, inputs, int typenum=cnp.NPY_INT32):
    """Check `out`, and give it if a kernel can write a result of this shape there directly.

    None means that the caller makes the result elsewhere and then calls `put`.
    """
    if out is None:
        return None
    check_out(out, typenum, shape, inputs)
    return out if out.flags.carray else None


def put(result, out):
    """Give `result` as an array in C order, or in `out`, where it may stand already."""
    if out is None:
        return np.asarray(result, order="C")
    place, made = np.asarray(out), np.asarray(result)  # of numpy's own class: a subclass may refuse its functions
    if not np.shares_memory(place, made):
        np.copyto(place, made)
    return out


cdef int broadcast(cnp.ndarray x, cnp.ndarray y, cnp.npy_intp* shape, str names) except -1:
    """Set `shape` to the shape that `x` and `y` broadcast to, and return its number of axes.

    numpy's own function takes at most 32 axes.
    """
    cdef int i, ndim = max(x.ndim, y.ndim)
    cdef cnp.npy_intp one, other
    for i in range(1, ndim + 1):
        one = x.shape[x.ndim - i] if i <= x.ndim else 1
        other = y.shape[y.ndim - i] if i <= y.ndim else 1
        if one != other and one != 1 and other != 1:
            raise bad_value(names, f"shapes {(<object>x).shape} and {(<object>y).shape} do not broadcast")
        shape[ndim - i] = other if one == 1 else one
    return ndim


def broadcast_shape(tuple x not None, tuple y not None):
    """Give the shape that two broadcast to; numpy's own function takes at most 32 axes."""
    rank = max(len(x), len(y))
    sizes = list(zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y))
    if any([i != j and i != 1 and j != 1 for i, j in sizes]):
        raise bad_value("x, y", f"shapes {x} and {y} do not broadcast")
    return tuple([j if i == 1 else i for i, j in sizes])


cpdef cnp.ndarray output(out, int typenum, cnp.ndarray x, cnp.ndarray y=None, str names="a, b"):
    """Give `out`, checked, or a new array, of the dtype `typenum` and the shape that `x` and `y` broadcast to.

    Error texts call x and y `names`.
    """
    cdef int ndim = x.ndim
    cdef cnp.npy_intp* shape = x.shape
    cdef cnp.npy_intp[MAX_DIMS] lengths
    if y is not None and not PyArray_SAMESHAPE(x, y):
        ndim, shape = broadcast(x, y, lengths, names), lengths
    if out is None:
        return cnp.PyArray_EMPTY(ndim, shape, typenum, 0)
    writable(out, typenum, ndim, shape)
    apart(out, x, y)
    return out
