"""Functions that all threads call."""

cdef extern from *:
    """
    static void count_no_more(PyObject *f)
    {
    #ifdef Py_GIL_DISABLED
        Py_SET_REFCNT(f, PY_SSIZE_T_MAX >> 4); /* beyond 32 bits: from there on Python neither counts nor frees */
    #else
        (void)f;
    #endif
    }
    """
    void count_no_more(object f)


def immortal(f):
    """`f`. Free-threaded Python counts no references to it any more: each call, of every thread, would write to one
    line of the cache."""
    count_no_more(f)
    return f
