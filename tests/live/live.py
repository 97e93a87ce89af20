"""Random calls of the systems that are installed, beside qops, bit for bit; ``make live SEED=1 CALLS=300``.

``CPU=haswell`` or ``CPU=arm`` makes them on another CPU; `cpus` says how. ``DATA=20`` calls each model of a system on
so many sets of data, which takes little longer: the table counts all those calls.

Prints a table of each op's calls that are equal, that both refuse, that end the system's process, that differ as the
documentation of qops says, with the reason, and that differ, with the first difference of each op; exits with 1 if
there is one.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import cpus
from children import answers
from children import environment as own_environment

SYSTEMS = ("onnxruntime", "torch", "tensorflow", "litert", "tflm")
BESIDE = str(Path(__file__).parent / "beside.py")
SECONDS = 120
"""The longest that a call may take; the first one imports the system. In an emulator it is ten times as much."""
COLUMNS = ("equal", "refused", "ended", "known", "different")


def listed(system, variables):
    """The version and the names of the ops of a system; of one that cannot be imported, why not."""
    command, environment = [sys.executable, BESIDE, system], own_environment() | variables
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        return {"missing": (done.stderr.strip().splitlines() or [f"its process ended, {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def child(system, ops, args, first, end):
    """The command that makes these calls."""
    numbers = [str(args.seed), str(args.calls), json.dumps(ops), str(first), str(end), str(args.data)]
    return [sys.executable, BESIDE, system, *numbers]


def compared(system, version, ops, args, variables):
    """Print a line for each op, and the reason of what is known to differ; give the first difference of each."""
    counts, differences, reason, calls = Counter(), {}, "", args.calls
    made = partial(child, system, ops, args)
    cpu = variables.get(cpus.VARIABLE, "")
    for answer in answers(made, 0, len(ops) * calls, SECONDS * (10 if cpu else 1), own_environment() | variables):
        op, number = ops[answer["number"] // calls], answer["number"] % calls
        found = answer.get("found", "ended")
        counts[found] += answer.get("calls", 1)
        if found == "different":
            on = f" on {cpu}" if cpu else ""
            differences.setdefault(op, f"{system} {op}{on}, call {number} of seed {args.seed}: {answer['text']}")
        reason = answer["text"] if found == "known" else reason
        if number == calls - 1:
            print(f"{system:<13}{version:<14}{op:<42}", *(f"{counts[word]:>10}" for word in COLUMNS), flush=True)
            if reason:
                print(f"    known: {reason}", flush=True)
            counts, reason = Counter(), ""
    return [*differences.values()]


def main(words=None):
    """Compare the calls; 1 if any differ."""
    parser = argparse.ArgumentParser(prog="make live", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=300, help="of each op")
    parser.add_argument("--data", type=int, default=1, help="on which each call is made, if it can take other data")
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, help=f"default: {' '.join(SYSTEMS)}")
    parser.add_argument("--ops", default="", help="a regular expression: only ops whose names it finds")
    parser.add_argument("--cpu", default="", help=f"another CPU: arm, {', '.join(cpus.CPUS)}")
    args = parser.parse_args(words)
    differences = []
    for cpu in cpus.named(args.cpu) if args.cpu else [""]:
        differences += on_cpu(cpu, args)
    print("", *differences, f"{len(differences)} ops differ", sep="\n\n")
    return 1 if differences else 0


def on_cpu(cpu, args):
    """Compare the calls on a CPU; give the first difference of each op."""
    if cpu:
        print(f"on {cpu}, {'as this CPU is' if cpus.is_here(cpu) else 'in an emulator'}", flush=True)
        cpus.prepare(cpu)
    print(f"{'system':<13}{'version':<14}{'op':<42}", *(f"{word:>10}" for word in COLUMNS))
    differences = []
    for system in args.systems:
        variables = cpus.variables(system, cpu)
        known = {"missing": cpus.ON_X86} if variables is None else listed(system, variables)
        if "missing" in known:
            print(f"without {system}: {known['missing']}")
            continue
        ops = [op for op in known["ops"] if re.search(args.ops, op)]
        differences += compared(system, known["version"], ops, args, variables)
    return differences


if __name__ == "__main__":
    sys.exit(main())
