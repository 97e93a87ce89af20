"""The error of products over all 65,536 pairs of codes, as maps for some pairs of ranges."""

from collections.abc import Sequence
from functools import partial

from analysis import pair_maps
from analysis.report import Table
from analysis.systems import PRODUCTS, Sum


def measure() -> list[Sum]:
    """Multiply all pairs of codes by every system, for three pairs of ranges."""
    return pair_maps.measure(PRODUCTS, 3)


def tables(found: Sequence[Sum]) -> list[Table]:
    """All maps as numbers."""
    return [pair_maps.table("Multiply", found, [pair_maps.row(m) for m in found])]


FINDING = "qops keeps the offsets of both ranges; the others round each 0 to a code"
FIGURES = {
    "mul_maps": partial(pair_maps.draw, systems=PRODUCTS, bound=PRODUCTS[0].bound, finding=FINDING),
}
