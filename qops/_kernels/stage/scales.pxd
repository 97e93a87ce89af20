cdef double derived_scale(str derive, double a, double b, double y) noexcept
cpdef tuple formed(tuple scales, str derive)
