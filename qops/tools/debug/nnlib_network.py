"""Walks a list of prepared ops of nnlib beside a device's dump of it: which op differs first, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import U8, operand, shown
from qops.nnlib.fused_node import FusedNode
from qops.nnlib.supernode import Supernode
from qops.qtensor import QTensor
from qops.tools.debug.hunt import Hunt
from qops.tools.debug.layer_row import First, LayerRow
from qops.tools.explain.explanation import Explanation
from qops.tools.explain.nnlib_node import NODE_RULE, explained_node

__all__ = ["debugged_ops", "is_ops"]

_MOST = 3  # rules that a cause names


class _Layer(NamedTuple):
    """An op of the list: what it read, made and gave on the device, and the row of it."""

    op: Any
    read: QTensor
    made: QTensor
    dumped: QTensor | None
    row: LayerRow


def is_ops(model: Any) -> bool:
    """Whether a model is a list of ops, or a dict of them by their names.

    Parameters
    ----------
    model : object
        What the caller gave.

    Returns
    -------
    bool
    """
    return isinstance(model, Sequence | Mapping) and not isinstance(model, str)


def debugged_ops(model: Any, data: Any, device: Any, progress: Callable[[str], None]) -> Hunt:
    """Run each op on what the device gave the one before, and all of them on the data.

    Parameters
    ----------
    model : sequence of callable, or dict of str to callable
        Ops, each of which takes the tensor that the one before gives.
    data : uint8 tensor
        What the first op reads.
    device : sequence of tensor or None, dict of str to tensor, or None
        What the device gave, in the order of the ops, or by their names.
    progress : callable
        Called with words that say what is done.

    Returns
    -------
    Hunt

    Raises
    ------
    TypeError, ValueError
        Ops that cannot be called, dumps that do not fit.
    """
    ops = _named(model)
    dumped = _dumped(ops, device)
    whole = read = QTensor(*operand(data, "data", U8))
    layers: list[_Layer] = []
    for name, op in ops.items():
        progress(f"{len(layers) + 1} of {len(ops)} ops: {name}")
        made, whole, got = QTensor(*op(read)), QTensor(*op(whole)), dumped.get(name)
        if got is not None:
            got = _as_made(got, made, name)
        layers.append(_Layer(op, read, made, got, _row(name, op, made, got, whole)))
        read = made if got is None else got
    first = next((layer for layer in layers if _differs(layer)), None)
    notes = [f"{layer.row.name}: {words}" for layer in layers for words in _said_of_weights(layer.op)]
    return Hunt("ops", [layer.row for layer in layers], None if first is None else _first(first, progress), notes)


def _named(model: Any) -> dict[str, Any]:
    """Give ops by their names: those of a list are called after what they are, with a number from the second on."""
    if isinstance(model, Mapping):
        ops = dict(model)
    else:
        ops = {}
        for op in model:
            kind, count = _kind(op), sum(_kind(other) == _kind(op) for other in ops.values())
            name = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
            ops[f"{name}_{count}" if count else name] = op
    if not ops:
        raise bad_value("model", "expected ops, got none")
    for name, op in ops.items():
        if not callable(op) or not isinstance(name, str):
            raise bad_type("model", f"expected ops, or a dict of these by their names, got {shown(op)}")
    return ops


def _kind(op: Any) -> str:
    function = op.func if isinstance(op, partial) else op
    return str(getattr(function, "__name__", type(function).__name__))


def _dumped(ops: Mapping[str, Any], device: Any) -> dict[str, QTensor]:
    """Give the tensors of the device by the names of the ops."""
    if device is None:
        return {}
    if not is_ops(device):
        raise bad_type("device", f"expected a tensor for each op, by its name or in a list, got {shown(device)}")
    if not isinstance(device, Mapping):
        if len(device) != len(ops):
            raise bad_value("device", f"expected {len(ops)}, a tensor or None for each op, got {len(device)}")
        device = dict(zip(ops, device, strict=True))
    for name in device:
        if name not in ops:
            raise bad_value("device", f"no op is called {name!r}, only {', '.join(ops)}")
    found = {name: QTensor(*operand(t, f"device[{name!r}]", U8)) for name, t in device.items() if t is not None}
    if not found:
        raise bad_value("device", "expected the tensor of an op, at least, got none")
    return found


def _as_made(got: QTensor, made: QTensor, name: str) -> QTensor:
    if got.data.size != made.data.size:
        raise bad_value(f"device[{name!r}]", f"expected shape {made.data.shape}, got {got.data.shape}")
    return QTensor(got.data.reshape(made.data.shape), got.min, got.max)


def _off(a: QTensor, b: QTensor) -> NDArray[np.int16]:
    return np.abs(np.subtract(a.data, b.data, dtype=np.int16)) if a.data.shape == b.data.shape else np.ones(1, np.int16)


def _row(name: str, op: Any, made: QTensor, got: QTensor | None, whole: QTensor) -> LayerRow:
    rule = "nnlib"
    if isinstance(op, FusedNode):
        rule = f"{NODE_RULE} ({op.arch})" if isinstance(op, Supernode) else NODE_RULE
    differ = largest = share = of_whole = None
    if got is not None:
        off = _off(got, made)
        differ, largest = int(np.count_nonzero(off)), int(off.max(initial=0))
        share, of_whole = differ / made.data.size, int(np.count_nonzero(_off(got, whole)))
    shows = made if got is None else got
    ends = [end for end, value in ((0, shows.min), (255, shows.max)) if value != 0]
    saturated = float(np.count_nonzero(np.isin(shows.data, ends)) / shows.data.size)
    return LayerRow(name, _kind(op), name, rule, differ, largest, share, saturated, None, None, of_whole)


def _ends(t: QTensor) -> tuple[float, float]:
    return float(t.min), float(t.max)


def _differs(layer: _Layer) -> bool:
    return layer.dumped is not None and (bool(layer.row.differ) or _ends(layer.dumped) != _ends(layer.made))


def _said_of_weights(op: Any) -> list[str]:
    if not isinstance(op, Supernode) or not op.rescaled.any():
        return []
    count, channels = np.count_nonzero(op.rescaled), op.rescaled.size
    return [f"a v65 rescales the weights of {count} of {channels} channels"]


def _first(layer: _Layer, progress: Callable[[str], None]) -> First:
    """Say why an op differs."""
    name, got = layer.row.name, layer.dumped
    assert got is not None  # only such a layer differs
    range_words = ""
    if _ends(got) != _ends(layer.made):
        range_words = f"the range is {_ends(got)}, not {_ends(layer.made)}"
    if not isinstance(layer.op, FusedNode):
        return First(name, name, range_words or "no cause that is known here gives these integers", [])
    progress(f"{name}: which rule")
    found = explained_node(layer.op, layer.read, got, progress)
    words = _cause(found, layer.row.rule)
    if range_words and layer.row.rule in found.exact:
        words = f"{range_words}, as a node finds that has not run before; the codes are right for it"
    elif range_words:
        words = f"{words}; {range_words}"
    rules = [*found.exact, *dict.fromkeys(v.rule for v in found.mistakes)]
    rules = [rule for rule in rules if rule.startswith(NODE_RULE)] or rules
    return First(name, name, words, rules, tuple(found.notes))


def _cause(found: Explanation, own: str) -> str:
    other = next((rule for rule in found.exact if rule.startswith(NODE_RULE) and rule != own), None)
    if other is not None:
        return f"computed as on another chip: {other}, not {own}"
    if found.exact:
        return f"rounded by another rule: {', '.join(found.exact[:_MOST])}"
    if found.mistakes:
        return found.mistakes[0].before
    nearest = found.excluded[0]
    return f"no known rule or mistake; the nearest is {nearest.rule}: {nearest.differs:,} integers differ"
