"""How the host has set the floating point of the calling thread. Any library may do that, for all code of the thread.

Every op asks for the rounding mode when it looks at its arguments, and refuses each but to nearest: the results of all
others would differ, and the loops of one tier from those of another. Subnormal numbers that become 0 are accepted.
"""

import os

cdef tuple MODES = ("to nearest", "downward", "upward", "toward zero")
cdef str LIBRARY = '"ucrtbase"' if os.name == "nt" else "None"


def rounding():
    """Give the rounding mode in words: "to nearest", "downward", "upward" or "toward zero"."""
    return MODES[qops_host_rounding()]


def flushes():
    """Give what becomes 0 if it is subnormal: "results", "operands", both, or nothing."""
    return tuple([name for i, name in enumerate(("results", "operands")) if qops_host_flushes() >> i & 1])


def check():
    """Raise FloatingPointError unless this thread rounds floating point to nearest."""
    check_rounding()


cdef int refuse_rounding() except -1:
    raise FloatingPointError(
        f"floating point is rounded {rounding()} in this thread, because some library has set that; qops computes only "
        "where it is rounded to nearest. To put it back: fesetround(FE_TONEAREST) in C, or in Python "
        f"import ctypes; ctypes.CDLL({LIBRARY}).fesetround(0)")
