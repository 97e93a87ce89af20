cdef struct Axis:
    Py_ssize_t stride, dilation, before, after

cdef class Window:
    cdef Axis down, across
    cdef int places(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw, Py_ssize_t *oh,
                    Py_ssize_t *ow, str name=*) except -1
    cdef bint is_bare(self)

cdef Window moving(str padding, Py_ssize_t height, Py_ssize_t width, tuple kernel, tuple stride)
