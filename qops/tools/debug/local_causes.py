"""Why a layer differs in one region only: one channel, one column, the padding, a tail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models import Layer
from qops.tools.debug.case import Case, apart
from qops.tools.debug.cause import Cause
from qops.tools.debug.fit import fitted_scales
from qops.tools.debug.places import channel_axis
from qops.tools.where import confined

__all__ = ["local_cause"]

_LEAST = 8  # elements of a region, without which nothing is said of it


def local_cause(case: Case) -> Cause | None:
    """Find what accounts for all codes of the region that has the differences.

    None if nothing does, if the differences have no region, or if it has too few elements.
    """
    differs = apart(case.got, case.wanted) > 0
    region = confined(differs)
    if case.got.dtype.kind not in "iu" or np.count_nonzero(region) < _LEAST or region.all():
        return None
    layer = case.op.layer
    found = None if layer is None or layer.sums is None else _in_sums(case, layer, region)
    return found or _of_codes(case, region)


def _of_codes(case: Case, region: NDArray[np.bool_]) -> Cause | None:
    """Find a region that holds one number, or what its neighbour holds."""
    there, wanted = case.got[region], case.wanted[region]
    if np.unique(there).size == 1 < np.unique(wanted).size:
        return Cause(f"all codes there are {there[0]}: never written, or cleared", [])
    for axis in range(case.got.ndim):
        for by, which in ((1, "before"), (-1, "after")):
            beside = np.roll(case.got, by, axis)[region], np.roll(case.wanted, by, axis)[region]
            if np.unique(there).size > 1 and any(np.array_equal(there, codes) for codes in beside):
                return Cause(f"the codes there are the ones {which} them along axis {axis}: stale, or copied", [])
    return None


def _in_sums(case: Case, layer: Layer, region: NDArray[np.bool_]) -> Cause | None:
    """Find a bias, a weight or a scale that is wrong in the region alone."""
    assert layer.sums is not None
    sums = layer.sums(case.inputs[0], layer.bias)
    if sums.shape != case.got.shape:
        return None
    for words, other in _other_sums(case, layer, sums):
        if layer.requantize is not None and np.abs(other).max(initial=0) < 2**31:
            codes = layer.requantize(other.astype(np.int32))
            if np.array_equal(codes[region], case.got[region]):
                return Cause(f"{words} there", [layer.requantize.rule])
    return _rescaled(case, layer, sums, region)


def _other_sums(case: Case, layer: Layer, sums: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    assert layer.sums is not None
    x = case.inputs[0]
    if layer.bias is not None:
        products = layer.sums(x, None)
        yield "the bias left out", products
        yield "the bias added twice", 2 * sums - products
        yield "the bias subtracted", 2 * products - sums
        for by, which in ((1, "before"), (-1, "after")):
            yield f"the bias of the channel {which}", layer.sums(x, np.roll(layer.bias, by))
        yield "only the bias, and no products", sums - products
    if layer.weights is not None:
        for by, which in ((1, "before"), (-1, "after")):
            weights = np.roll(layer.weights, by, layer.channel)
            yield f"the weights of the channel {which}", layer.sums(x, layer.bias, weights)
    each = layer.sums_of_weights(x)
    if layer.x_zero_point:
        yield "the zero point of the input left out", sums + layer.x_zero_point * each


def _rescaled(case: Case, layer: Layer, sums: NDArray[np.int64], region: NDArray[np.bool_]) -> Cause | None:
    """Find one factor by which the scale is wrong in the region."""
    scale: Any = np.asarray(layer.numbers["w_scale"], np.float64)
    if scale.ndim:
        axis = channel_axis(layer) % sums.ndim
        scale = np.broadcast_to(scale.reshape([-1 if i == axis else 1 for i in range(sums.ndim)]), sums.shape)[region]
        if np.unique(scale).size > 1:
            return None
        scale = scale.flat[0]
    numbers = {**{k: v for k, v in layer.numbers.items() if k != "axis"}, "w_scale": float(scale)}
    found = fitted_scales(Layer(layer.kind, numbers), sums[region], case.got[region])
    if not found:
        return None
    rule = case.op.rule if case.op.rule in found else next(iter(found))
    return Cause(f"a wrong scale there: {found[rule]:.6g} times that of the model, as fitted", list(found))
