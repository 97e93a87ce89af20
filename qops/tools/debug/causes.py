"""Why an op of a device gives other codes than the graph: causes are tried one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models import Layer
from qops.onnx.runtimes import RUNTIMES
from qops.rules.bias_rules import REAL_BIAS
from qops.tflite.kernels import KERNELS
from qops.tools.debug.case import Case, apart
from qops.tools.debug.cause import Cause
from qops.tools.debug.faults import faults_of
from qops.tools.debug.fit import fitted_scales
from qops.tools.debug.local_causes import local_cause
from qops.tools.explain.arguments import dump_of
from qops.tools.explain.explanation import Explanation
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.verdicts import explained, rules_of, systems_of

__all__ = ["cause_of"]

_MOST = 200_000  # elements that are explained; more tell nothing new
_VARIED = 4  # different codes that two tensors must share before the one is taken for the other
_MANY = 8  # codes of the graph inside the range, without which no shift of all codes is told
_FEW = 3  # up to so many differing integers, a cause may fit by chance, and its words say so

_MOST_OF = 0.5  # a rule from which a larger share of the integers differs is not near

_SAID = {
    "qmin and qmax left out": "a fused activation left out",
    "clamped at": "a fused ReLU that the model does not have",
    "zero_point": "a wrong zero point of the result",
    "y_zero_point": "a wrong zero point of the result",
    "a_zero_point": "a wrong zero point of the first operand",
    "b_zero_point": "a wrong zero point of the second operand",
}
"""What a mistake that `explain` names is in a network; the keys are how the mistake's words begin."""
_OLDER = "an older version"
"""What the systems of a rule say that a newer version of the library computes in another way."""
_OF_FAULTS = "acc not wrapped"  # a mistake of `explain` that faults say better

Others = Iterable[tuple[str, NDArray[Any]]]


def cause_of(case: Case, others: Others, progress: Callable[[str], None]) -> Cause:
    """Find why an op of a device gives other codes than the graph for the same inputs.

    Parameters
    ----------
    case : Case
        The op, its inputs, the codes of the device, the codes of the graph.
    others : iterable of (str, ndarray)
        Other tensors of the graph and of the dump, for a dump under another name.
    progress : callable
        Called with words that say what is tried next.

    Returns
    -------
    Cause
        The first one that accounts for every integer; else the nearest rule, in words.
    """
    found = _another_name(case, others)
    if found is not None:
        return found
    answer = None if case.op.layer is None else _answer(case, case.op.layer, progress)
    runtime = _another_runtime(case)
    found = _explained(answer) or _with_real_bias(case, progress) or _faulty(case, progress)
    if found is not None and runtime is not None:
        found = found._replace(words=f"{found.words}, {runtime.words}")
    found = found or runtime or _moved(case) or local_cause(case) or _rescaled(case, progress)
    return _nearest(answer) if found is None else _as_far_as_seen(found, case)


def _as_far_as_seen(cause: Cause, case: Case) -> Cause:
    """Add to the words that other causes may fit too, if few integers differ."""
    count = int(np.count_nonzero(apart(case.got, case.wanted)))
    if count > _FEW:
        return cause
    many = "one integer differs" if count == 1 else f"{count} integers differ"
    return cause._replace(words=f"{cause.words}; only {many}, which other causes may give too")


def _another_name(case: Case, others: Others) -> Cause | None:
    """Find another tensor whose codes the dump has under the name of the result."""
    got = case.got.reshape(-1)
    if np.unique(got).size < _VARIED:
        return None
    for name, value in others:
        if name != case.output and value.size == got.size and np.array_equal(value.reshape(-1), got):
            more = ", or the op left out" if name in case.op.reads else ""
            return Cause(f"the dump of {case.output!r} holds {name!r}: a dump under another name{more}", [])
    return None


def _few(array: NDArray[Any], channels: int | None = None) -> NDArray[Any]:
    """Give the first part of a large array, cut along its first axes; the axis of the channels stays whole."""
    for axis, size in enumerate(array.shape):
        if array.size > _MOST and (channels is None or axis != channels % array.ndim):
            array = array.take(range(max(1, _MOST * size // array.size)), axis)
    return array


def _dump(layer: Layer, x: NDArray[Any], got: NDArray[Any], b: NDArray[Any] | None = None, **numbers: Any) -> Dump:
    """Give what `explain` takes; ValueError if no rule takes these numbers."""
    how = {**layer.numbers, **numbers}
    if np.ndim(how.get("w_scale", 0)):
        how.setdefault("axis", -1)  # channels come last, unless the layer says where
    axis, got = how.get("axis"), got.reshape(x.shape)
    return dump_of(layer.kind, _few(x, axis), _few(got, axis), None if b is None else _few(b, axis), how)


def _answer(case: Case, layer: Layer, progress: Callable[[str], None]) -> Explanation | None:
    """Ask `explain` which rule takes the sums of a layer, or two operands, to the codes; None if it cannot tell."""
    progress(f"{case.op.name}: which rule")
    try:
        if layer.sums is not None:
            return explained(_dump(layer, layer.sums(case.inputs[0], layer.bias), case.got), progress=progress)
        if len(case.inputs) == 2 and all(x.shape == case.got.shape for x in case.inputs):
            return explained(_dump(layer, case.inputs[0], case.got, case.inputs[1]), progress=progress)
    except ValueError:
        pass
    return None


def _explained(answer: Explanation | None) -> Cause | None:
    """Give the rule or the mistake that `explain` found; None if it found none."""
    if answer is None:
        return None
    if answer.exact:
        return _by_another_rule(answer.exact)
    found = [v for v in answer.mistakes if not v.before.startswith(_OF_FAULTS)]
    if not found:
        return None
    words = found[0].before
    said = next((text for start, text in _SAID.items() if words.startswith(start)), None)
    rules = list(dict.fromkeys(v.rule for v in found if v.before == words))
    return Cause(words if said is None else f"{said} ({words})", rules)


def _by_another_rule(found: list[str]) -> Cause:
    """Name the rules; say who computes the only one, or those that an older version of a library computes."""
    who = {rule: systems_of("requantize", rule) for rule in found}
    said = {rule: words for rule, words in who.items() if words and (len(found) == 1 or _OLDER in words)}
    more = "".join(f"; {rule} is {words}" for rule, words in said.items())
    return Cause(f"rounded by another rule: {', '.join(found[:3])}{more}", found)


def _with_real_bias(case: Case, progress: Callable[[str], None]) -> Cause | None:
    """Find a rule that adds the bias as a real number, as oneDNN and others do."""
    layer = case.op.layer
    if layer is None or layer.sums is None or layer.bias is None or layer.requantize is None:
        return None
    progress(f"{case.op.name}: a real bias")
    n = layer.numbers
    real = np.asarray(layer.bias, np.float64) * n["in_scale"] * np.asarray(n["w_scale"], np.float64)
    try:
        dump = _dump(layer, layer.sums(case.inputs[0], None), case.got, bias=real, axis=layer.requantize.axis)
        found = [rule for rule in rules_of(dump) if rule in REAL_BIAS]
    except ValueError:  # numbers that no such rule takes
        return None
    return _by_another_rule(found) if found else None


def _another_runtime(case: Case) -> Cause | None:
    """Find another runtime whose op gives the codes of the device."""
    if case.op.remade is None:
        return None
    for runtime in RUNTIMES if case.graph.runtime in RUNTIMES else KERNELS:
        if runtime == case.graph.runtime:
            continue
        try:
            made = case.op.remade(runtime).call(*case.inputs)[case.op.outputs.index(case.output)]
        except ValueError:  # that runtime has no such op
            continue
        if np.array_equal(made, case.got):
            return Cause(f"as the runtime {runtime!r} computes it, not {case.graph.runtime!r}", [runtime])
    return None


def _faulty(case: Case, progress: Callable[[str], None]) -> Cause | None:
    """Find what a port may have done wrong before the rounding, for example with the bias."""
    layer = case.op.layer
    if layer is None or layer.sums is None:
        return None
    for fault in faults_of(layer, case.inputs[0], case.got):
        progress(f"{case.op.name}: {fault.words}")
        try:
            rules = rules_of(_dump(layer, fault.sums, case.got, **fault.numbers))
        except ValueError:  # a fault that cannot have been made
            continue
        if rules:
            return Cause(fault.words, rules)
    return None


def _moved(case: Case) -> Cause | None:
    """Find one number that was added to all codes, or an activation that was left out, for an op of any kind."""
    zero_point = case.graph.tensors[case.output].zero_point
    if case.got.dtype.kind not in "iu" or zero_point is None or zero_point.ndim:
        return None
    got, wanted = case.got.astype(np.int64), case.wanted.astype(np.int64)
    info, zero = np.iinfo(case.got.dtype), int(zero_point)
    known = (wanted > info.min) & (wanted < info.max)  # others may have been cut
    shifts = np.unique((got - wanted)[known & (got > info.min) & (got < info.max)])
    if shifts.size == 1 and shifts[0] and np.count_nonzero(known) >= _MANY:
        shift = int(shifts[0])
        if np.array_equal(np.clip(wanted + shift, info.min, info.max)[known], got[known]):
            words = f"a wrong zero point of the result: {zero + shift} instead of {zero}"
            return Cause(f"{words}, each code is {shift:+d} away", [])
    below = np.count_nonzero(got < zero)
    if below >= _FEW and wanted.min() == zero and np.array_equal(np.maximum(got, zero), wanted):
        return Cause(f"a fused activation left out: {below:,} codes are below {zero}, the code of 0", [])
    return None


def _rescaled(case: Case, progress: Callable[[str], None]) -> Cause | None:
    """Find rules that give the codes of the device by another scale than the model's."""
    layer = case.op.layer
    if layer is None or layer.sums is None:
        return None
    progress(f"{case.op.name}: a scale that fits")
    sums, axis = layer.sums(case.inputs[0], layer.bias), layer.numbers.get("axis", -1)
    found = fitted_scales(layer, _few(sums, axis), _few(case.got.reshape(sums.shape), axis))
    if not found:
        return None
    factor = next(iter(found.values()))
    return Cause(f"a wrong scale: {factor:.6g} times that of the model, as fitted", list(found))


def _nearest(answer: Explanation | None) -> Cause:
    """Name the rule from which the fewest integers differ."""
    if answer is None or not answer.excluded:
        return Cause("no cause that is known here gives these integers", [])
    v = answer.excluded[0]
    if v.share > _MOST_OF:
        words = (
            f"no known rule or mistake, and no rule is near: {v.differs:,} of {answer.size:,} integers differ at least"
        )
        return Cause(words, [])
    kind = f", {v.kind}" if v.kind else ""
    return Cause(f"no known rule or mistake; the nearest is {v.rule}: {v.differs:,} integers differ{kind}", [])
