from qops._kernels.arrays.axis cimport AxisWindow

cdef class Window:
    cdef AxisWindow down, across  # vertical, horizontal; a window over images of any size has no sizes and no kernel
    cdef int places(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw, Py_ssize_t *oh,
                    Py_ssize_t *ow, str name=*) except -1
    cdef bint fits(self)
    cdef bint has_no_padding(self)
    cdef Window over(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw)
    cdef Window with_same(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw)

cdef Window moving(str padding, Py_ssize_t height, Py_ssize_t width, tuple kernel, tuple stride)
