"""All kinds of operators of TFLite, by name; each is told in the file of its family."""

from qops.models.tflite import (
    axes,
    binary,
    choices,
    codes,
    convolutions,
    detection,
    floats,
    images,
    integers,
    memory,
    moves,
    pools,
    products,
    rows,
    variables,
)
from qops.models.tflite.kind import Kind

__all__ = ["KINDS"]

KINDS: dict[str, Kind] = {
    **convolutions.KINDS,
    **products.KINDS,
    **binary.KINDS,
    **codes.KINDS,
    **rows.KINDS,
    **axes.KINDS,
    **pools.KINDS,
    **images.KINDS,
    **integers.KINDS,
    **choices.KINDS,
    **floats.KINDS,
    **moves.KINDS,
    **memory.KINDS,
    **variables.KINDS,
    **detection.KINDS,
}
