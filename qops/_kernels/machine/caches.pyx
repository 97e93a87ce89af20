"""How large the two caches are that a core has of its own: blocks of products are fitted to them."""

cdef extern from "machine/caches.h":
    long long qops_cache(unsigned level)

cdef enum:
    FIRST = 32 << 10  # of a CPU that does not tell
    SECOND = 1 << 20


def sizes():
    """Bytes of the first and of the second cache, as they are taken to be."""
    return caches.first, caches.second


def use(Py_ssize_t first, Py_ssize_t second):
    """Take the caches to be of so many bytes from now on, in the whole process. No result depends on it."""
    if not 0 < first <= second:
        raise ValueError(f"first, second: expected sizes above 0, the second no smaller, got {first}, {second}")
    caches.first, caches.second = first, second


use(qops_cache(1) or FIRST, qops_cache(2) or SECOND)
