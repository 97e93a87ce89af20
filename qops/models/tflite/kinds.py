"""All kinds of operators of TFLite, by name; each is told in the file of its family."""

from qops.models.tflite import axes, codes, convolutions, images, joins, memory, moves, pairs, pools, products, rows
from qops.models.tflite.kind import Kind

__all__ = ["KINDS"]

KINDS: dict[str, Kind] = {
    **convolutions.KINDS,
    **products.KINDS,
    **pairs.KINDS,
    **codes.KINDS,
    **rows.KINDS,
    **axes.KINDS,
    **pools.KINDS,
    **images.KINDS,
    **joins.KINDS,
    **moves.KINDS,
    **memory.KINDS,
}
