"""The command line.

``python -m qops explain dump.npz`` and ``python -m qops vectors requantize --rule NAME --scale S -o DIR``.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from qops.rules import TABLE
from qops.tools.dump import read_dump
from qops.tools.explain import explained
from qops.tools.formats import FORMATS, write
from qops.tools.page import page_of
from qops.tools.progress import Progress
from qops.tools.vectors import vectors


def _explain(options: argparse.Namespace) -> int:
    dump = read_dump(options.dump)
    with Progress() as progress:
        found = explained(dump, options.probe is not None, progress)
    if found.separated is not None:
        numbers = {name: value for name, value in found.separated.numbers.items() if value is not None}
        parts: dict[str, Any] = {"kind": dump.kind, **found.separated.inputs, **numbers}
        np.savez(options.probe, **parts)
    if options.html:
        print(page_of(dump, found, options.dump.name))
    else:
        print(json.dumps(found.as_dict()) if options.json else found)
    return 0 if found.exact else 1


def _vectors(options: argparse.Namespace) -> int:
    found = vectors(options.rule, scale=options.scale, zero_point=options.zero_point, dtype=options.dtype)
    print(found)
    for path in write(found, options.format, options.output):
        print(path)
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 if no rule fits, 2 for bad input.

    Parameters
    ----------
    arguments : list of str, optional
        The words of the command line.

    Returns
    -------
    int
    """
    parser = argparse.ArgumentParser(
        "python -m qops", description="Which rule made these integers, and vectors that test one."
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    explain = commands.add_parser("explain", help="which rule made the integers of a dump")
    explain.add_argument("dump", type=Path, help=".npz or .json: kind, acc (or a, b, or x), y, scales, zero points")
    explain.add_argument("--probe", type=Path, metavar="FILE.npz", help="write accumulators that separate what is left")
    form = explain.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object")
    form.add_argument("--html", action="store_true", help="print one page with pictures: > page.html")
    explain.set_defaults(run=_explain)
    made = commands.add_parser("vectors", help="test vectors that tell a rule from all others")
    made.add_argument("kind", choices=["requantize"])
    made.add_argument("--rule", required=True, choices=TABLE, metavar="NAME", help=f"one of {', '.join(TABLE)}")
    made.add_argument("--scale", required=True, type=float)
    made.add_argument("--zero-point", type=int, default=0)
    made.add_argument("--dtype", default="int8", choices=["int8", "uint8", "int16", "uint16"])
    made.add_argument("--format", default="c", choices=FORMATS)
    made.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR", help="the folder to write to")
    made.set_defaults(run=_vectors)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (ValueError, TypeError, OSError) as why:
        print(f"{parser.prog}: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
