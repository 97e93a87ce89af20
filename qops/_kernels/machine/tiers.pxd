cdef int tier() noexcept nogil
