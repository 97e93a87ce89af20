"""What holds for every call: one result on all tiers and through `out`, a refusal that names an argument, no change."""

import inspect
import math
import pickle
import time
import warnings

import numpy as np
from bad import blamed_by
from draw import parameters
from nested import at, paths
from ops import OPS, PREPARED, first_array, function, parts, same

from qops._kernels.machine import tiers
from qops.onednn import Attr
from qops.qtensor import QTensor

WORDS = {"range"}  # what a pair of arguments is called that give a range
LONGEST = 600
"""Characters of an error text."""


def outcome(run, **changes):
    """What a call gives: ("result", the value), or ("refused", the error)."""
    with warnings.catch_warnings(action="error"):
        try:
            return "result", run(**changes)
        except MemoryError:
            return "no memory", None
        except Exception as refused:
            return "refused", refused


def on_every_tier(run):
    """The outcome on each tier, the plain loop first."""
    before, found = tiers.name(), {}
    try:
        for tier in tiers.available():
            tiers.use(tier)
            found[tier] = outcome(run)
    finally:
        tiers.use(before)
    return found


def differ(one, other):
    """How two outcomes differ; "" if they do not."""
    if one[0] != other[0]:
        return f"{one} and {other}"
    if one[0] == "refused":
        return f"{one[1]!r} and {other[1]!r}" if repr(one[1]) != repr(other[1]) else ""
    try:
        same(one[1], other[1])
    except AssertionError as difference:
        return str(difference) or "types or shapes of results differ"
    return ""


def judged(call):
    """A dict of the name, kind and outcome of a call, its time in seconds, and what is wrong, "" if nothing."""
    start, before = time.perf_counter(), pickle.dumps(call.arguments)
    found = on_every_tier(call.run)
    what, value = found["plain"]
    wrong = [f"{tier}: {text}" for tier, other in found.items() if (text := differ(found["plain"], other))]
    wrong += refusal(call, value) if what == "refused" else []
    if pickle.dumps(call.arguments) != before:
        wrong.append("an argument has changed")
    elif what == "result":
        wrong += results(call, value)
    elif what == "refused":
        wrong += left_alone(call, before)
    seconds = time.perf_counter() - start
    return {"name": call.name, "kind": call.kind, "outcome": what, "seconds": seconds, "wrong": "; ".join(wrong)}


def refusal(call, error):
    """What is wrong with an error."""
    text, names = str(error), {*parameters(call.of), *WORDS}
    names |= {*inspect.signature(Attr).parameters} if "attr" in names else set()
    if type(error) not in (ValueError, TypeError):
        return [f"raises {error!r:.300}"]
    takes_any = any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters(call.of).values())
    wrong = [] if takes_any or {*blamed_by(text)} <= names else [f"names no argument: {text:.300}"]
    return wrong if len(text) < LONGEST else [*wrong, f"an error of {len(text)} characters: {text:.100}"]


def codes(result):
    """The array of a result, which may have more parts."""
    while isinstance(result, tuple) and not isinstance(result, QTensor):
        result = result[0]
    return first_array(result)


def results(call, value):
    """What is wrong beside a result: through `out`, and between a prepared op and its function."""
    wrong = []
    if call.name in PREPARED:
        text = differ(("result", value), outcome(lambda: function(call.of)(**call.arguments)))
        wrong += [f"the function and the op: {text}"] if text else []
    if OPS[call.of].out is not None and call.arguments.get("out") is None:
        out = np.full_like(codes(value), 77, order="C", subok=False)
        through = outcome(call.run, out=out)
        text = differ(("result", value), through)
        if text or codes(through[1]) is not out:
            wrong.append(f"through out: {text or 'another array is returned'}")
    return wrong


def left_alone(call, before):
    """What is wrong beside a refusal: an `out` that has been written to, though no data are to blame."""
    if OPS[call.of].out is None or call.arguments.get("out") is not None or not all_finite(call.arguments):
        return []
    shapes = {at(call.arguments, path).shape for path in paths(call.arguments)}
    for shape in (shape for shape in shapes if math.prod(shape) < 10**6 > max(shape, default=0)):
        for dtype in {np.dtype(OPS[call.of].out), *map(np.dtype, ("uint8", "int8", "int32"))}:
            out = np.full(shape, 77, dtype)
            if outcome(call.run, out=out)[0] == "refused" and not (out == 77).all():
                return [f"refused after out, {dtype} {shape}, was written"]
    return [] if pickle.dumps(call.arguments) == before else ["an argument has changed beside an out"]


def all_finite(arguments):
    """Whether no number is NaN or infinite: such data are seen while the result is written."""
    arrays = [at(arguments, path) for path in paths(arguments)]
    numbers = [part for part in parts([*arguments.values()]) if isinstance(part, float)]
    return all(map(math.isfinite, numbers)) and all(np.isfinite(x).all() for x in arrays if x.dtype.kind == "f")
