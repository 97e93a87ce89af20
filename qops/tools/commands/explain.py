"""``explain``: which rules made the integers of a device."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from qops.tools.commands.parser import command, listed
from qops.tools.explain.dump_file import NAMES, read_dump
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.page import page_of
from qops.tools.explain.verdicts import explained
from qops.tools.progress import Progress

__all__ = ["add_explain"]

_DUMP = """\
A dump holds the arguments of qops.explain by their names, with the same
defaults. x (or acc, or a) is what the op read, and y what the device made of
it. zero_point and ..._zero_point are codes of real 0. kind names the op;
without it the op is requantize. A .json dump names the type of y as dtype.
Each kind needs the names before the semicolon, and takes the others. The
scale of requantize is given as scale, as what it is made of, in_scale,
w_scale and out_scale, or as integers, a multiplier and a right shift.
integers also stand for the scales of add and mul:"""


def _explain(options: argparse.Namespace) -> int:
    dump = read_dump(options.dump, options.fit)
    with Progress() as progress:
        found = explained(dump, options.probe is not None, progress, options.fit)
    if options.probe is not None and found.fit is not None and found.fit.probe.size:
        np.savez(options.probe, kind=dump.kind, acc=found.fit.probe, **_of_probe(dump))
    elif found.separated is not None:
        numbers = {name: value for name, value in found.separated.numbers.items() if value is not None}
        parts: dict[str, Any] = {"kind": dump.kind, **found.separated.inputs, **numbers}
        np.savez(options.probe, **parts)
    if options.html:
        print(page_of(dump, found, options.dump.name))
    else:
        print(json.dumps(found.as_dict()) if options.json else found)
    return 0 if found.exact else 1


def _of_probe(dump: Dump) -> dict[str, Any]:
    """Give the numbers of the inputs that a fit asks for: of the first channel, and no scale that was never given."""
    one = dump.of_some(0).but(axis=None) if dump.is_by_channel else dump
    unsaid = ("scale_is_seen", "scale") if "scale_is_seen" in dump.numbers else ()
    found = {name: v for name, v in one.numbers.items() if v is not None and name not in unsaid}
    return found | ({"channel": 0} if dump.is_by_channel else {})


def add_explain(commands: Any) -> None:
    """Add the command to the list of commands."""
    explain = command(commands, "explain", "tell which rules made the integers of a device", listed(_DUMP, NAMES))
    explain.add_argument(
        "dump",
        type=Path,
        help="an .npz or .json file, with what is listed below",
    )
    explain.add_argument(
        "--probe", type=Path, metavar="FILE.npz", help="write inputs that tell the remaining rules apart"
    )
    explain.add_argument("--fit", action="store_true", help="fit a rule by its parts where no known rule fits")
    form = explain.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the answer as JSON")
    form.add_argument("--html", action="store_true", help="print the answer as an HTML page with pictures")
    explain.set_defaults(run=_explain)
