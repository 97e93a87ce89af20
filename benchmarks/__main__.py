"""Check each op, then time it beside the peers that are installed; print a table, and write it as JSON."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import qops
from benchmarks import compare, machine, peak
from benchmarks.case import Rate, WrongResult
from benchmarks.cases import CASES
from benchmarks.measure import measure
from benchmarks.peers import NAMES, installed
from benchmarks.timing import pin

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
HEADER = f"{'op':<28}{'n':>9}{'per s':>13}{'share':>7}{'ahead':>8}{'qops us':>11}{'best us':>11}  best peer"


def count(text: str) -> int:
    """Read how many elements or samples, such as 1000 or 1e3."""
    if float(text) < 1 or not float(text).is_integer():
        raise ValueError
    return int(float(text))


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=fill(" ".join(__doc__.split()), 79),
        epilog=fill("OP: " + ", ".join(names), 79, break_on_hyphens=False),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--ops", nargs="+", choices=names, metavar="OP", help="time only these ops")
    parser.add_argument(
        "--sizes", nargs="+", type=count, metavar="N", help="elements, such as 1e5; default: those of each op"
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=NAMES,
        default=NAMES,
        metavar="PEER",
        help=f"of {', '.join(NAMES)}; default: all that are installed",
    )
    parser.add_argument("--quick", action="store_true", help="few rounds and few sizes")
    parser.add_argument("--rounds", type=count, help="samples of each candidate; default: 31, with --quick 5")
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    parser.add_argument("--cpu", type=int, choices=cpus, help="CPU to run on; default: the last one that is allowed")
    parser.add_argument(
        "--json", type=Path, default=Path("build/bench.json"), help="file to write; default: %(default)s"
    )
    parser.add_argument(
        "--compare", type=Path, metavar="OLD", help="show the times of an earlier run's file beside these"
    )
    found = parser.parse_args(words)
    try:
        found.old = compare.read(found.compare) if found.compare else None
        found.json.parent.mkdir(parents=True, exist_ok=True)
        if found.json.is_dir():
            raise ValueError(f"--json {found.json}: this is a folder")
    except OSError as why:
        parser.error(f"--json {found.json}: {why}")
    except ValueError as why:
        parser.error(str(why))
    return found


def table_line(row: dict[str, Any], rate: Rate) -> str:
    """Format a row as text."""
    best, ahead = row["best_peer_us"], ""
    if best is not None:
        ahead = f"{best / row['qops_us']:.2f}x"
    times = f"{row['qops_us']:11.3f}{best if best is not None else float('nan'):11.3f}"
    per_s = f"{row[rate.column]:6.1f} {rate.unit}"
    ratios = f"{per_s:>13}{row[rate.share]:>7.2f}{ahead:>8}"
    return f"{row['op']:<28}{row['n']:>9}{ratios}{times}  {row['best_peer'] or '-'}"


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmarks; 1 if a result of qops is wrong, and then nothing more is timed."""
    args = arguments(words)
    os.environ.update(dict.fromkeys(THREADS, "1"))  # read when the peers are imported
    warnings.simplefilter("ignore")  # peers warn of what they deprecate
    cpu = pin(args.cpu)
    peers, missing = installed(tuple(args.peers))
    for name, why in missing.items():
        print(f"without {name}: {why}", file=sys.stderr)
    where = "not pinned" if cpu is None else cpu
    on = machine.facts(peers)
    for text in compare.differences(args.old, on) if args.old else ():
        print(text)
    print(f"one thread, CPU {where}, qops tier {qops.isa_tier()}, share: of memcpy, or of {peak.name()}")
    print(HEADER)
    rows = []
    for case in (case for case in CASES if not args.ops or case.name in args.ops):
        for n in args.sizes or (case.quick if args.quick else case.sizes):
            print(f"{case.name}, n = {n}", end="\r", file=sys.stderr)
            try:
                found = measure(case, n, peers, args.rounds or (5 if args.quick else 31))
            except WrongResult as why:
                print(f"not timed: {why}", file=sys.stderr)
                return 1
            rows.append(found)
            beside = compare.line(args.old, found) if args.old else ""
            print(table_line(found, case.rate) + beside, flush=True)
    args.json.write_text(json.dumps({"machine": on, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
