"""The sizes of the L1 and L2 caches of a core. Products and convolutions choose their block sizes by them.

Each op reads the sizes once, when it begins, so a call of `use` does not change an op that is running.
"""


cdef extern from "machine/caches.h":
    long long qops_cache(unsigned level)

cdef enum:
    FIRST = 32 << 10  # sizes for a CPU that does not report them
    SECOND = 1 << 20


def sizes():
    """Give the sizes of L1 and L2, in bytes, that ops use."""
    return caches.first, caches.second


def use(Py_ssize_t first, Py_ssize_t second):
    """Set the sizes of L1 and L2 in bytes, for the whole process. No result depends on them."""
    if not 0 < first <= second:
        raise ValueError(f"expected sizes of L1 and L2 above 0, the second no smaller, got {first}, {second}")
    caches.first, caches.second = first, second


use(qops_cache(1) or FIRST, qops_cache(2) or SECOND)
