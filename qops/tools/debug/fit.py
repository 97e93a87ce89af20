"""The scale of a device, where it is not the one of the model: found for each rule by halving a range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models import Layer
from qops.rules import TABLE, requantize

__all__ = ["fitted_scales"]

_LEAST = 8  # codes that are not clamped, without which no scale is fitted
_HALVINGS = 64  # after so many, nothing is left of a range of doubles


def fitted_scales(layer: Layer, sums: NDArray[np.int64], got: NDArray[Any]) -> dict[str, float]:
    """Find a scale for each rule with which it gives every integer of the device.

    One step more or less of a code limits the factor between the scale of the device and that of the model, for a rule
    of any rounding: ``|factor * steps - (code - zero_point)| <= 1``, where `steps` is the sum in steps of the result. A
    clamped code limits nothing.

    Parameters
    ----------
    layer : Layer
        A layer of sums, whose kind is "requantize".
    sums : ndarray of int64
        Its sums.
    got : ndarray
        The codes of the device, in the shape of the sums.

    Returns
    -------
    dict of str to float
        Factors by the names of rules: the scale of the device is so many times that of the model. Empty if no rule has
        one, or if too few codes are not clamped.
    """
    n = layer.numbers
    scale, axis = n["in_scale"] * np.asarray(n["w_scale"], np.float64) / n["out_scale"], n.get("axis", -1)
    along = scale.reshape([-1 if i == axis % sums.ndim else 1 for i in range(sums.ndim)]) if scale.ndim else scale
    limits = (got > n["qmin"]) & (got < n["qmax"]) & (sums != 0)
    if np.count_nonzero(limits) < _LEAST:
        return {}
    steps, codes = (sums * along)[limits], got[limits].astype(np.float64) - n["zero_point"]
    ends = np.sort([(codes - 1) / steps, (codes + 1) / steps], axis=0)
    low, high = max(0.0, float(ends[0].max())), float(ends[1].min())
    how = {"axis": axis, "dtype": got.dtype, **{name: n[name] for name in ("zero_point", "qmin", "qmax")}}
    found = {}
    for rule in (name for name, row in TABLE.items() if low <= high and row.scales != "given"):
        try:
            factor = _halved(low, high, rule, scale, sums, got, how)
        except ValueError:  # the rule takes no such scale or sums
            continue
        if factor is not None:
            found[rule] = factor
    return found


def _halved(
    low: float, high: float, rule: str, scale: Any, sums: NDArray[np.int64], got: NDArray[Any], how: dict[str, Any]
) -> float | None:
    """Halve the range of factors until the rule gives every code; None if some codes want more and others less."""
    for _ in range(_HALVINGS):
        factor = (low + high) / 2
        scaled = scale * factor if scale.ndim else float(scale) * factor
        apart = (got.astype(np.int64) - requantize(sums, rule, scale=scaled, **how)) * np.sign(sums)
        more, less = (apart > 0).any(), (apart < 0).any()
        if more == less:
            return None if more else factor
        low, high = (factor, high) if more else (low, factor)
    return None
