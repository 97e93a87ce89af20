"""safe_products: how many products of codes a lane of a hand-written kernel can add."""

from __future__ import annotations

from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import shows_fields
from qops.checks import int32, shown

__all__ = ["SafeProducts", "safe_products"]

_MOST = 64


@shows_fields
class SafeProducts(NamedTuple):
    """How many products a lane holds, and one more of them that leave it.

    Attributes
    ----------
    n : int or None
        The largest number of products whose sum fits for all codes; None if every number of them does.
    x, w : ndarray of int64, (n + 1,), or None
        Codes whose products leave the lane; None if n is above 2**20, or None.
    sum : int or None
        The sum of n + 1 products that leaves the lane.
    lowest, highest : int
        The ends of one product.
    """

    n: int | None
    x: NDArray[Any] | None
    w: NDArray[Any] | None
    sum: int | None
    lowest: int
    highest: int


@refusing_unknown
def safe_products(x: tuple[int, int], w: tuple[int, int], bits: int = 16, **unknown: Never) -> SafeProducts:
    """Tell how many products of codes a signed lane of so many bits can add for every input.

    The products of x in [x0, x1] and w in [w0, w1] lie between the ends p and q of the four products of ends, so
    ``n = min((2**(bits-1) - 1) // q, 2**(bits-1) // -p)``, of those where q is above 0 and p below.

    Parameters
    ----------
    x, w : (int, int)
        The lowest and the highest code of both operands.
    bits : int, optional
        The bits of the lane, from 2 to 64.

    Returns
    -------
    SafeProducts
        ``.n``, and a witness at n + 1.

    Raises
    ------
    TypeError, ValueError
        Ends that are no two integers of 32 bits in order; other bits.

    Examples
    --------
    Codes of 4 bits times codes of 8 bits, in lanes of 16 bits. The witness has one product more:

    >>> found = qops.safe_products((0, 15), (-128, 127))
    >>> found.n, len(found.x), found.sum
    (17, 18, -34560)
    >>> qops.safe_products((0, 255), (-128, 127)).n, qops.safe_products((0, 127), (-128, 127)).n
    (1, 2)
    """
    if unknown:
        raise unknown_keyword(safe_products, unknown)
    ends = [(int(a), int(b)) for a, b in (_two(x, "x"), _two(w, "w"))]
    size = int32(bits, "bits", 2, _MOST)
    cells = [(a * b, a, b) for a in ends[0] for b in ends[1]]
    low, high = min(cells), max(cells)
    limits = []
    if high[0] > 0:
        limits.append((((1 << size - 1) - 1) // high[0], high))
    if low[0] < 0:
        limits.append(((1 << size - 1) // -low[0], low))
    if not limits:
        return SafeProducts(None, None, None, None, low[0], high[0])
    n, (product, a, b) = min(limits)
    if n > 2**20:
        return SafeProducts(n, None, None, (n + 1) * product, low[0], high[0])
    full = np.full(n + 1, a, np.int64), np.full(n + 1, b, np.int64)
    return SafeProducts(n, *full, (n + 1) * product, low[0], high[0])


def _two(ends: Any, name: str) -> tuple[int, int]:
    try:
        lo, hi = ends
    except (TypeError, ValueError):
        raise bad_type(name, f"expected two codes, got {shown(ends)}") from None
    lo, hi = int32(lo, name), int32(hi, name)
    if lo > hi:
        raise bad_value(name, f"{lo} > {hi}")
    return lo, hi
