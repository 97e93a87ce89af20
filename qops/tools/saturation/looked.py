"""One layer, looked at: its lanes and its accumulator for every input, and for data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.models.lanes.route import Route, route
from qops.models.lanes.runtimes import Place
from qops.models.lanes.sums import Sums, type_of
from qops.models.lanes.worst import accumulator, worst
from qops.tools.saturation.report_layer import SaturationLayer
from qops.tools.saturation.seen import Found, measured

__all__ = ["looked_at"]


def looked_at(sums: Sums, place: Place, x: NDArray[Any] | None) -> tuple[SaturationLayer, Found | None]:
    """Look at one layer.

    Parameters
    ----------
    sums : Sums
        What it adds.
    place : Place
        Where it runs.
    x : ndarray or None
        Codes of its data.

    Returns
    -------
    tuple of SaturationLayer and Found
        The report, and with data its sums.

    Raises
    ------
    TypeError, ValueError
        A machine or a runtime that does not multiply these codes; data that do not fit.
    """
    how = route(sums, place.machine, place.runtime)
    bad, acc = worst(sums, how), accumulator(sums, how)
    layer = SaturationLayer(
        *(sums.name, sums.kind, _told(how), bad.unsafe.size, int(np.count_nonzero(bad.unsafe))),
        *(np.flatnonzero(bad.unsafe.any(axis=1)), bad.loss, bad.witness, acc),
        unsafe=bad.unsafe,
        _sums=sums,
        _route=how,
    )
    if x is None:
        return layer, None
    if sums.window is None and (sums.is_convolution or not x.ndim or x.size % sums.length):
        if sums.is_convolution:
            raise bad_value("data", "filters alone do not say how windows move; give a prepared layer")
        raise bad_value("data", f"expected rows of {sums.length} codes, got shape {x.shape}")
    if type_of(x.dtype) != ("s8" if sums.as_uint8 else sums.x_type):
        raise bad_type("data", f"expected {sums.x_type}, got {x.dtype}")
    found = measured(sums, how, bad.unsafe, x, acc.has)
    return replace(layer, seen=found.seen), found


def _told(how: Route) -> str:
    if how.why:
        return how.why
    group = {0: "all", 2: "pairs"}.get(how.machine.group, f"groups of {how.machine.group}")
    return f"{group} along {how.order}"
