"""Random calls of all public ops, on all tiers, in child processes with a time limit; ``make fuzz SEED=1 CALLS=20000``.

Prints how many calls were taken and refused, and each kind of failure with the command that makes that call alone.
"""

import argparse
import os
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from children import answers

HERE = Path(__file__).parent
SECONDS = 100 if os.environ.get("QOPS_DEBUG") else 20
"""The longest that a call may take, on all tiers together."""


def child(seed, first, end):
    """The command that judges these calls."""
    return [sys.executable, str(HERE / "child.py"), *map(str, (seed, first, end))]


def verdicts(command, seed, first, end, seconds=SECONDS):
    """The verdict on each call, also of those that end the process or do not return."""
    for found in answers(partial(command, seed), first, end, seconds):
        wrong = found.get("ended", "")
        yield {"name": "", "kind": "", "outcome": "none", "seconds": 0, "wrong": wrong} | found


def show(seed, number):
    """Print the name and the arguments of a call."""
    from draw import drawn  # which imports qops, and a crash of that should not end this process

    sys.set_int_max_str_digits(0)
    call = drawn(seed, number)
    print(f"{call.name}, {call.kind}", *(f"    {key} = {value!r}" for key, value in call.arguments.items()), sep="\n")


def report(found, seed):
    """Print the counts, and the first failure of each kind; 1 if there is one."""
    counts, kinds = Counter((one["kind"], one["outcome"]) for one in found), {}
    for one in found:
        if one["wrong"]:
            kinds.setdefault((one["name"], re.sub(r"[\d.e+-]+", "0", one["wrong"])[:60]), []).append(one)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:>6} calls {outcome:<10} {count:>8}")
    for same in kinds.values():
        print(f"\n{same[0]['name']}: {same[0]['wrong']:.1500}")
        print(f"    {len(same)} times, alone: make fuzz SEED={seed} CALL={same[0]['number']}")
    print(f"\n{len(found)} calls, {sum(map(len, kinds.values()))} failures of {len(kinds)} kinds")
    return 1 if kinds else 0


def main(words=None):
    """Judge the calls; 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--call", type=int, help="the number of one call, which is shown and made alone")
    args = parser.parse_args(words)
    first, end = (0, args.calls) if args.call is None else (args.call, args.call + 1)
    if args.call is not None:
        show(args.seed, args.call)
    return report([*verdicts(child, args.seed, first, end)], args.seed)


if __name__ == "__main__":
    sys.exit(main())
