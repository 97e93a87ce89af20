"""What a prepared layer adds, of any room, and where it runs if the caller does not say."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from qops._kernels.arrays.channels import read
from qops._kernels.arrays.refusal import bad_type
from qops.checks import shown
from qops.models.lanes.prepared import MADE, of_prepared
from qops.models.lanes.runtimes import Place, place_of
from qops.models.lanes.sums import Sums, type_of
from qops.qtensor import QTensor
from qops.tools.saturation import front, onednn_layers, rule_layers
from qops.tools.saturation.codes_given import codes_of

__all__ = ["LayerRead", "read_layer"]

_KINDS = (*MADE, *front.KINDS, *onednn_layers.KINDS, *rule_layers.KINDS)


class LayerRead(NamedTuple):
    """A prepared layer.

    Attributes
    ----------
    sums : Sums
        What it adds.
    place : Place
        Where it runs.
    x : ndarray or None
        Codes of its data.
    """

    sums: Sums
    place: Place
    x: NDArray[Any] | None


def read_layer(op: Any, data: Any, machine: Any, runtime: str | None) -> LayerRead:
    """Read a prepared layer.

    Parameters
    ----------
    op : prepared layer
    data : array_like, QTensor, (array, min, max), or None
        Its data.
    machine : str, Machine or None
    runtime : str or None
        As `saturation` takes them.

    Returns
    -------
    LayerRead

    Raises
    ------
    TypeError, ValueError
        Another thing than a layer that is read; data that do not fit.
    """
    if not isinstance(op, _KINDS):
        known = ", ".join(dict.fromkeys(kind.__name__ for kind in _KINDS))
        raise bad_type("what", f"expected a model, a graph, weights, or one of {known}; got {shown(op)}")
    place = _place(op, machine, runtime)
    if isinstance(op, front.KINDS):
        given = QTensor(*read(data, "data")) if isinstance(data, (tuple, list)) else data
        x = None if given is None else codes_of(given, "data")
        given = given if isinstance(given, QTensor) else None
        return LayerRead(front.read(op, _type(x, place), given), place, x)
    x = None if data is None else codes_of(data, "data")
    if isinstance(op, onednn_layers.KINDS):
        x = x.T if x is not None and getattr(op, "transa", "N") == "T" else x
        return LayerRead(onednn_layers.read(op, _type(x, place), place.machine, x), place, x)
    if isinstance(op, rule_layers.KINDS):
        return LayerRead(rule_layers.read(op, _type(x, place)), place, x)
    found = of_prepared(op, _type(x, place))
    assert found is not None
    return LayerRead(found, place, x)


def _type(x: NDArray[Any] | None, place: Place) -> str:
    return place.machine.left if x is None else type_of(x.dtype)


def _place(op: Any, machine: Any, runtime: str | None) -> Place:
    """Give where a layer runs: where the caller says, else where it was made for."""
    if isinstance(op, onednn_layers.KINDS):
        runtime = "onednn" if runtime is None else runtime
        is_own = machine is None and runtime == "onednn"
        return place_of(runtime, onednn_layers.machine_of(op) if is_own else machine, "")
    if isinstance(op, rule_layers.KINDS):
        own, its = rule_layers.PLACES[op.rule]
        if runtime is None:
            is_moved = own == "exact" and machine is not None
            return place_of("plain" if is_moved else own, its if machine is None else machine, "")
        return place_of(runtime, machine, "")
    room = type(op).__module__.split(".")[1]
    return place_of(runtime, machine, room if room in ("onnx", "tflite") else "")
