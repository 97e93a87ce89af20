cdef struct Axis:  # how a window moves along one axis
    Py_ssize_t stride, dilation  # of windows; of taps, in pixels
    Py_ssize_t before, after  # pixels of padding at the two ends

cdef class Window:
    cdef Axis down, across  # vertical, horizontal
    cdef int places(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw, Py_ssize_t *oh,
                    Py_ssize_t *ow, str name=*) except -1
    cdef bint fits(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw)
    cdef bint has_no_padding(self)
    cdef Window with_same(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw)

cdef Window moving(str padding, Py_ssize_t height, Py_ssize_t width, tuple kernel, tuple stride)
