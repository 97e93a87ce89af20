"""Makes calls of a system and of qops, in a process that may die of it.

``python beside.py SYSTEM`` prints the version and the ops of a system. With SEED, CALLS of each op, the names of the
ops as JSON, FIRST, END and DATA, it makes calls, of which number i is one of op ``i // CALLS``; what can take other
data, a model or an op with its constants, is called with so many.
"""

import importlib
import json
import re
import sys
import warnings
import zlib
from collections.abc import Sequence

import numpy as np

SHOWN = 40
"""Elements of an array up to which a difference shows it."""


def outcome(call):
    """What a call gives: its arrays, or the error with which it refuses."""
    try:
        result = call()
    except Exception as refused:  # systems have errors of their own
        return refused
    arrays = [result] if isinstance(result, np.ndarray) or not isinstance(result, Sequence) else [*result]
    return [np.asarray(x) for x in arrays]


def compare(pair, *feeds):
    """Give "equal", "refused", "known" or "different", and both outcomes; `feeds` are of a pair with `fed`."""
    theirs, ours = outcome(lambda: pair.system(*feeds)), outcome(lambda: pair.qops(*feeds))
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        is_refused = isinstance(theirs, Exception) and (isinstance(ours, Exception) or not pair.models_refusals)
        if pair.unmodelled and isinstance(ours, ValueError):
            is_refused = is_refused or bool(re.search(pair.unmodelled, str(ours)))
        return ("refused" if is_refused else "different"), theirs, ours
    same = len(theirs) == len(ours) and all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        for x, y in zip(theirs, ours, strict=True)
    )
    if not same and pair.known and pair.known.holds(theirs, ours):
        return "known", theirs, ours
    return ("equal" if same else "different"), theirs, ours


def drawn(make, name, seed, number, data=1):
    """The call with this number, and its data, if it takes other data too: the same on every machine."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    pair = make(rng)
    return pair, [pair.feeds(data, rng)] if pair.fed is not None else []


def text(value):
    """A value as a difference shows it."""
    if isinstance(value, list):
        return ", ".join(map(text, value))
    if isinstance(value, np.ndarray):
        few = value if value.size <= SHOWN else value.ravel()[:SHOWN]
        return f"{value.dtype}{list(value.shape)} {np.array2string(few, max_line_width=110)}"
    return re.sub(r"\s+", " ", repr(value))[:400]


def unlike(theirs, ours):
    """Where the first of two results differ, up to five places, with both values."""
    if not (isinstance(theirs, list) and isinstance(ours, list)):
        return []
    for x, y in zip(theirs, ours, strict=False):
        if x.shape == y.shape and x.tobytes() != y.tobytes():
            places = np.argwhere(np.atleast_1d((x != y) | ((x == 0) & (np.signbit(x * 1.0) != np.signbit(y * 1.0)))))
            shown = [f"{[*map(int, at)]}: {np.atleast_1d(x)[*at]}, {np.atleast_1d(y)[*at]}" for at in places[:5]]
            return [f"{len(places)} of {x.size} elements, at {'; '.join(shown)}"]
    return []


def difference(pair, feeds, theirs, ours):
    """A call whose results differ, as lines of text; of several it is the first."""
    arguments = dict(pair.arguments)
    if feeds and isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        each = max(1, len(theirs) // len(feeds[0]))
        calls = [(theirs[i : i + each], ours[i : i + each]) for i in range(0, len(theirs), each)]
        first = next((i for i, both in enumerate(calls) if unlike(*both)), 0)
        (theirs, ours), arguments = calls[first], arguments | feeds[0][first]
    arguments = (f"{key} = {text(value)}" for key, value in arguments.items())
    return "\n    ".join([*unlike(theirs, ours), *arguments, f"system: {text(theirs)}", f"qops:   {text(ours)}"])


def main(system, seed=0, calls=1, ops="", first=0, end=0, data=1):
    """Print what the system has; or the number of each call before it is made, and what came of it after it."""
    warnings.simplefilter("ignore")  # systems warn of what they deprecate
    module = importlib.import_module(f"{system}_")
    if not ops:
        print(json.dumps({"version": module.VERSION, "ops": [*module.OPS]}))
        return
    names = json.loads(ops)
    for number in range(int(first), int(end)):
        print(json.dumps({"number": number}), flush=True)
        op = names[number // int(calls)]
        try:
            pair, feeds = drawn(module.OPS[op], f"{system} {op}", int(seed), number % int(calls), int(data))
        except Exception as fault:  # not of the system, whose process goes on
            print(json.dumps({"found": "different", "text": f"cannot be drawn: {fault!r}"}), flush=True)
            continue
        found, theirs, ours = compare(pair, *feeds)
        more = {"text": difference(pair, feeds, theirs, ours)} if found == "different" else {}
        more = {"text": pair.known.reason} if found == "known" else more
        print(json.dumps({"found": found, "calls": len(feeds[0]) if feeds else 1, **more}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
