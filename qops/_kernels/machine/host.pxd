cdef extern from "machine/host.h" nogil:
    ctypedef unsigned long long Control "unsigned long long"
    int qops_host_rounding()
    int qops_host_flushes()
    Control qops_host_control()
    void qops_set_host_control(Control control)

cdef int refuse_rounding() except -1
cdef inline int check_rounding() except -1:
    """Raise FloatingPointError unless this thread rounds floating point to nearest."""
    return refuse_rounding() if qops_host_rounding() else 0
