cdef tuple fit_one(t, double steps, tuple typenums)
cdef double flush(double end) noexcept
