"""Why an op of a device gives other codes than the graph: what is tried, one cause after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models import Graph, Layer, Op
from qops.tflite.kernels import KERNELS
from qops.tools.explain import explain

__all__ = ["Cause", "cause_of"]

_MOST = 200_000  # elements that are explained; more tell nothing new
Fault = tuple[str, NDArray[np.int64], dict[str, Any]]  # in words, the sums that it makes, the numbers that it makes
_ENOUGH = 16  # elements that two tensors must share before the one is taken for the other


_SAID = {
    "qmin and qmax left out": "a fused activation left out",
    "clamped at": "a fused ReLU that the model does not have",
    "zero_point": "a wrong zero point of the result",
    "y_z": "a wrong zero point of the result",
    "a_z": "a wrong zero point of the first operand",
    "b_z": "a wrong zero point of the second operand",
    "acc not wrapped": "sums kept in 32 bits, which wrap",
}
"""What the mistakes of `explain` are in a network, by how they begin."""


class Cause(NamedTuple):
    """What makes a device's integers differ.

    Attributes
    ----------
    words : str
        One sentence without its full stop.
    rules : list of str
        Rules that give all integers, once the cause is undone; empty if none is known.
    """

    words: str
    rules: list[str]


class Seen(NamedTuple):
    """One op on a device: what it read, what it gave, and what the graph gives of the same."""

    op: Op
    inputs: list[NDArray[Any]]
    got: NDArray[Any]
    wanted: NDArray[Any]


def cause_of(graph: Graph, seen: Seen, others: dict[str, NDArray[Any]], progress: Callable[[str], None]) -> Cause:
    """Find why an op of a device differs from the graph when it reads the same.

    Parameters
    ----------
    graph : Graph
        The model.
    seen : Seen
        The op, its inputs, the codes of the device, the codes of the graph.
    others : dict of str to ndarray
        What the graph gives for all tensors, for a dump under another name.
    progress : callable
        Called with words that say what is tried next.

    Returns
    -------
    Cause
        The first one that accounts for every integer; else the nearest rule, in words.
    """
    tries: tuple[Callable[[], Cause | None], ...] = (
        lambda: _another_name(seen, others),
        lambda: _explained(seen, progress),
        lambda: _another_runtime(graph, seen),
        lambda: _faulty(seen, progress),
        lambda: _moved(graph, seen),
    )
    for attempt in tries:
        found = attempt()
        if found is not None:
            return found
    return _nearest(seen)


def _another_name(seen: Seen, others: dict[str, NDArray[Any]]) -> Cause | None:
    got = seen.got.reshape(-1)
    for name, value in others.items():
        if name in seen.op.outputs or value.size != got.size or got.size < _ENOUGH or np.ptp(got) == 0:
            continue
        if np.array_equal(value.reshape(-1), got):
            return Cause(f"the dump of {seen.op.outputs[0]!r} holds {name!r}: a dump under another name", [])
    return None


def _few(array: NDArray[Any]) -> NDArray[Any]:
    """Leave out images, rows, then nothing: channels and their scales stay whole."""
    rows = max(1, _MOST // max(1, array.size // len(array))) if array.ndim > 1 and len(array) else len(array)
    return array[:rows]


def _asked(layer: Layer, x: NDArray[Any], got: NDArray[Any], b: NDArray[Any] | None = None, **numbers: Any) -> Any:
    how = {**layer.numbers, **numbers}
    if layer.kind == "requantize" and np.ndim(how.get("w_scale", 0)):
        how["axis"] = how.get("axis", -1)
    return explain(_few(x), _few(got.reshape(x.shape)), kind=layer.kind, b=None if b is None else _few(b), **how)


def _explained(seen: Seen, progress: Callable[[str], None]) -> Cause | None:
    """Ask `explain` about the sums of a layer, or the codes of a pair."""
    layer = seen.op.layer
    if layer is None:
        return None
    progress(f"{seen.op.name}: which rule")
    found = _answer(seen, layer)
    if found is None:
        return None
    if found.exact:
        return Cause(f"rounded by another rule: {', '.join(found.exact[:3])}", found.exact)
    if found.mistakes:
        words = found.mistakes[0].before
        rules = [v.rule for v in found.mistakes if v.before == words]
        return Cause(_in_a_network(words), rules)
    return None


def _in_a_network(words: str) -> str:
    """Say a mistake of `explain` in the words of a network: what of the layer it is."""
    for start, said in _SAID.items():
        if words.startswith(start):
            return f"{said} ({words})"
    return words


def _answer(seen: Seen, layer: Layer) -> Any:
    try:
        if layer.kind == "requantize":
            assert layer.sums is not None
            return _asked(layer, layer.sums(seen.inputs[0], layer.bias), seen.got)
        if len(seen.inputs) == 2 and all(x.shape == seen.got.shape for x in seen.inputs):
            return _asked(layer, seen.inputs[0], seen.got, seen.inputs[1])
    except (ValueError, TypeError):  # numbers that no rule takes
        return None
    return None


def _another_runtime(graph: Graph, seen: Seen) -> Cause | None:
    if seen.op.remade is None:
        return None
    for runtime in KERNELS:
        if runtime == graph.runtime:
            continue
        try:
            made = seen.op.remade(runtime).call(*seen.inputs)
        except ValueError:  # that runtime has no such op
            continue
        if np.array_equal(made[0], seen.got.reshape(made[0].shape)):
            return Cause(f"as the runtime {runtime!r} computes it, not {graph.runtime!r}", [runtime])
    return None


def _faulty(seen: Seen, progress: Callable[[str], None]) -> Cause | None:
    """Undo what ports get wrong before the rounding: biases, widths of sums, zero points and scales of channels."""
    layer = seen.op.layer
    if layer is None or layer.sums is None:
        return None
    for words, sums, numbers in _faults(layer, seen):
        progress(f"{seen.op.name}: {words}")
        try:
            found = _exact(layer, sums, seen.got, numbers)
        except (ValueError, TypeError):  # a fault that cannot have been made
            continue
        if found:
            return Cause(words, found)
    return None


def _exact(layer: Layer, sums: NDArray[np.int64], got: NDArray[Any], numbers: dict[str, Any]) -> list[str]:
    """Ask on a few rows first: a fault that was not made fails on them."""
    few = sums[:1, :2] if sums.ndim > 2 else sums[:2]
    small = got.reshape(sums.shape)[:1, :2] if sums.ndim > 2 else got.reshape(sums.shape)[:2]
    if not _asked(layer, few, small, **numbers).exact:
        return []
    rules: list[str] = _asked(layer, sums, got, **numbers).exact
    return rules


def _faults(layer: Layer, seen: Seen) -> Iterator[Fault]:
    """Give each fault in words, the sums that it makes, and the numbers that it makes."""
    assert layer.sums is not None
    x, bias = seen.inputs[0], layer.bias
    plain, products = layer.sums(x, bias), layer.sums(x, None)
    scale = np.asarray(layer.numbers["w_scale"])
    if scale.ndim:
        for shift, which in ((1, "before"), (-1, "after")):
            words = f"scales of channels shifted by one: each channel has that of the channel {which}"
            yield words, plain, {"w_scale": np.roll(scale, shift)}
        yield "one scale for all channels: that of the first", plain, {"w_scale": float(scale[0])}
    if bias is not None:
        yield "the bias left out", products, {}
        for bits in (8, 16, 24):
            lo, hi = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
            if bias.min() < lo or bias.max() > hi:
                yield f"a bias that overflows: kept in {bits} bits, it wraps", products + _wrapped(bias, bits), {}
                yield f"a bias that overflows: kept in {bits} bits, it saturates", products + np.clip(bias, lo, hi), {}
        if scale.ndim:
            for shift in (1, -1):
                yield "biases of channels shifted by one", products + np.roll(bias.astype(np.int64), shift), {}
    for bits in (16, 24, 32):
        lo, hi = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        if plain.min(initial=0) < lo or plain.max(initial=0) > hi:
            why = "the sums, with a bias that overflows them," if _within(products, lo, hi) else "sums"
            yield f"{why} kept in {bits} bits, which wrap", _wrapped(plain, bits), {}
            yield f"{why} kept in {bits} bits, which saturate", np.clip(plain, lo, hi), {}
    yield from _zero_points(layer, x, plain)


def _zero_points(layer: Layer, x: NDArray[Any], plain: NDArray[np.int64]) -> Iterator[Fault]:
    """Another zero point of the input adds a multiple of the sum of weights to each sum."""
    assert layer.sums is not None
    each = layer.sums(np.full(x.shape, 1, x.dtype), None) - layer.sums(np.zeros(x.shape, x.dtype), None)
    zero = layer.x_zero_point
    for other in dict.fromkeys((0, -zero, zero - 1, zero + 1, zero - 128, zero + 128)):
        if other != zero:
            words = f"a wrong zero point of the input: {other} instead of {zero}"
            yield words, plain + (zero - other) * each, {}


def _within(values: NDArray[Any], lo: int, hi: int) -> bool:
    return bool(values.min(initial=0) >= lo and values.max(initial=0) <= hi)


def _wrapped(values: NDArray[Any], bits: int) -> NDArray[np.int64]:
    half = 1 << (bits - 1)
    return (values.astype(np.int64) + half) % (2 * half) - half


def _moved(graph: Graph, seen: Seen) -> Cause | None:
    """Every code the same number away, or the ends of a fused activation: any op may have this."""
    got, wanted = seen.got.reshape(-1).astype(np.float64), seen.wanted.reshape(-1).astype(np.float64)
    if seen.got.dtype.kind not in "iu":
        return None
    info = np.iinfo(seen.got.dtype)
    inside = (got > info.min) & (got < info.max) & (wanted > info.min) & (wanted < info.max)
    apart = np.unique((got - wanted)[inside])
    if apart.size == 1 and apart[0]:
        zero = graph.tensors[seen.op.outputs[0]].zero_point
        said = f", {int(zero) + int(apart[0])} instead of {int(zero)}" if zero is not None and zero.ndim == 0 else ""
        return Cause(f"a wrong zero point of the result{said}: each code is {int(apart[0]):+d} away", [])
    lo, hi = wanted.min(initial=0), wanted.max(initial=0)
    if np.array_equal(np.clip(got, lo, hi), wanted):
        return Cause(f"a fused activation left out: all codes beyond {int(lo)} to {int(hi)} differ", [])
    return None


def _nearest(seen: Seen) -> Cause:
    found = None if seen.op.layer is None else _answer(seen, seen.op.layer)
    if found is None or not found.excluded:
        return Cause("no cause that is known here gives these integers", [])
    v = found.excluded[0]
    kind = f", {v.kind}" if v.kind else ""
    return Cause(f"no known rule or mistake; the nearest is {v.rule}, of which {v.differs:,} integers differ{kind}", [])
