"""Where a layer of a device differs: in words, and whether only there where a window reads padding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops.models import Layer
from qops.tools.debug.case import Case, apart
from qops.tools.where import where

__all__ = ["channel_axis", "missing_weights", "places_of"]

_LEAST = 6  # elements, without which a pattern may be chance
_IMAGE = {3: ("row",), 4: ("row", "column"), 5: ("plane", "row", "column")}


def channel_axis(layer: Layer) -> int:
    """Give which axis of the sums of a layer has the channels."""
    own = -1 if layer.requantize is None else int(layer.requantize.axis)
    return int(layer.numbers.get("axis", own))


def places_of(case: Case) -> list[str]:
    """Say in phrases where the codes of a layer differ; none where the differences are spread over everything."""
    differs = apart(case.got, case.wanted) > 0
    count, size = int(np.count_nonzero(differs)), differs.size
    if size < _LEAST:
        return []
    said = where(np.where(differs, case.got, case.wanted), case.wanted, _axes(case))
    layer = case.op.layer
    if layer is None or count < _LEAST or count == size:
        return said
    missing = missing_weights(layer, case.inputs[0], differs.shape)
    if missing is None or (differs & ~_is_padded(missing, layer)).any():
        return said
    share = (
        f"{count:,} of the {np.count_nonzero(np.broadcast_to(_is_padded(missing, layer), differs.shape)):,} elements"
    )
    return [f"only where padding is read, in {share}", *(words for words in said if words.startswith("each"))]


def _axes(case: Case) -> dict[int, str]:
    """Name the axes of a result: images, rows, columns, channels."""
    ndim = case.got.ndim
    if ndim < 2:
        return {}
    channel = case.op.axis % ndim
    others = [axis for axis in range(ndim) if axis != channel]
    names = ("image", *_IMAGE.get(ndim, ())) if ndim > 2 else ("row",)
    return {channel: "channel", **dict(zip(others, names, strict=False))}


def _is_padded(missing: NDArray[np.int64], layer: Layer) -> NDArray[np.bool_]:
    """Whether a window reads padding; weights of one channel may cancel, those of all channels hardly."""
    axis = channel_axis(layer)
    return np.asarray((missing != 0).any(axis=axis, keepdims=True))


def missing_weights(layer: Layer, x: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64] | None:
    """Give the sum of the weights that meet padding, for each element of a convolution.

    Parameters
    ----------
    layer : Layer
        A layer of sums.
    x : ndarray
        Codes that it reads.
    shape : tuple of int
        The shape of its result.

    Returns
    -------
    ndarray of int64 or None
        None if the layer has no windows, or none of them reads padding.
    """
    w = layer.weights
    if layer.sums is None or w is None or w.ndim < 3 or x.ndim < 3 or len(shape) != x.ndim:
        return None
    axis, channel = channel_axis(layer) % len(shape), layer.channel % w.ndim
    if w.shape[channel] != shape[axis]:
        return None
    whole = (w.astype(np.int64) - layer.w_zero_point).sum(axis=tuple(i for i in range(w.ndim) if i != channel))
    read = layer.sums_of_weights(x)
    missing = whole.reshape([-1 if i == axis else 1 for i in range(len(shape))]) - read.reshape(shape)
    inside = (missing == 0).all(axis=axis)
    return missing if 0 < np.count_nonzero(inside) < inside.size else None
