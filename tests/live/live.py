"""Random calls of the systems that are installed, beside qops, bit for bit; ``make live SEED=1 CALLS=300``.

Prints a table of equal, refused and different calls of each op, and the first difference of each; exits with 1 if there
is one. Equal are calls with the same bits, or that both refuse; those are counted as refused.
"""

import argparse
import importlib
import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

SYSTEMS = ("onnxruntime", "torch", "tensorflow")
SHOWN = 40
"""Elements of an array up to which a difference shows it."""


def installed(names):
    """The modules of systems that are installed, and why the others are not there."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = importlib.import_module(f"{name}_")
        except ImportError as why:
            missing[name] = str(why)
    return found, missing


def outcome(call):
    """What a call gives: its arrays, or the error with which it refuses."""
    try:
        result = call()
    except Exception as refused:  # systems have errors of their own
        return refused
    arrays = [result] if isinstance(result, np.ndarray) or not isinstance(result, Sequence) else [*result]
    return [np.asarray(x) for x in arrays]


def compare(pair):
    """Give "equal", "refused" or "different", and both outcomes."""
    theirs, ours = outcome(pair.system), outcome(pair.qops)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        both = isinstance(theirs, Exception) and isinstance(ours, Exception)
        return ("refused" if both else "different"), theirs, ours
    same = len(theirs) == len(ours) and all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        for x, y in zip(theirs, ours, strict=True)
    )
    return ("equal" if same else "different"), theirs, ours


def drawn(make, name, seed, number):
    """The call with this number: the same on every machine, whatever else is drawn."""
    return make(np.random.default_rng([seed, zlib.crc32(name.encode()), number]))


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


def report(name, number, pair, theirs, ours, seed):
    """Print a call whose results differ."""
    print(f"\n{name}, call {number} of seed {seed}:", *unlike(theirs, ours))
    for key, value in pair.arguments.items():
        print(f"    {key} = {text(value)}")
    print(f"    system: {text(theirs)}\n    qops:   {text(ours)}")


def main(words=None):
    """Compare the calls; 1 if any differ."""
    parser = argparse.ArgumentParser(prog="make live", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=300, help="of each op")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--ops", default="", help="a regular expression: only ops whose names it finds")
    args = parser.parse_args(words)
    warnings.simplefilter("ignore")  # systems warn of what they deprecate
    systems, missing = installed(args.systems)
    for name, why in missing.items():
        print(f"without {name}: {why}")
    print(f"{'system':<13}{'version':<14}{'op':<42}{'equal':>8}{'refused':>9}{'different':>11}")
    differences = []
    for system, module in systems.items():
        for op, make in ((op, make) for op, make in module.OPS.items() if re.search(args.ops, op)):
            name, counts = f"{system} {op}", Counter()
            for number in range(args.calls):
                pair = drawn(make, name, args.seed, number)
                found, theirs, ours = compare(pair)
                counts[found] += 1
                if found == "different" and counts[found] == 1:
                    differences.append((name, number, pair, theirs, ours, args.seed))
            equal, refused, different = (counts[word] for word in ("equal", "refused", "different"))
            print(f"{system:<13}{module.VERSION:<14}{op:<42}{equal:>8}{refused:>9}{different:>11}", flush=True)
    for difference in differences:
        report(*difference)
    print(f"\n{len(differences)} ops differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
