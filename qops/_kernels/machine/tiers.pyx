"""The tier of SIMD lanes in use: the best that the CPU has, or the one that the environment variable QOPS_ISA names.

No bit of a result depends on the tier. Products and convolutions read it once, when they begin or when weights are
packed, because packed weights, kernel and blocks must fit each other. Element-wise loops read it for each stretch of
elements, so one call may run on two tiers if `use` is called meanwhile.
"""

import os

cdef extern from "machine/cpu.h":
    const char *NAMES "QOPS_TIERS"

cdef extern from "machine/avxvnni.h":
    int qops_lacks_tier(int)

cdef extern from "machine/amx.h":
    int qops_tier_allowed() nogil

TIERS = tuple(NAMES.decode().split())
cdef tuple AVAILABLE = tuple([name for i, name in enumerate(TIERS[:qops_tier_allowed() + 1]) if not qops_lacks_tier(i)])
cdef int current = TIERS.index(AVAILABLE[-1])


cdef int tier() noexcept nogil:
    """Give the number of the tier in use, as machine/cpu.h counts them."""
    return current


def available():
    """Give the names of the tiers that this CPU can run, slowest first."""
    return AVAILABLE


def name():
    """Give the name of the tier in use. ``TIERS`` lists the tiers of this CPU architecture."""
    return TIERS[current]


def use(str wanted not None):
    """Use the tier `wanted` from now on, in the whole process. Raises ValueError if the CPU lacks it."""
    global current
    if wanted not in AVAILABLE:
        raise ValueError(f"QOPS_ISA: {wanted!r} is not one of the tiers of this CPU, {', '.join(AVAILABLE)}")
    current = TIERS.index(wanted)


if os.environ.get("QOPS_ISA"):
    use(os.environ["QOPS_ISA"])
