"""``saturation``: whether sums of a network saturate on a machine, and what repairs them."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from qops.isa import MACHINES
from qops.models.lanes.runtimes import NAMES as RUNTIMES
from qops.tools.commands.parser import command
from qops.tools.folder import check_free, write_new
from qops.tools.saturation.repair import REPAIRS
from qops.tools.saturation.saturation import saturation

__all__ = ["add_saturation"]

_PAGE = "saturation.html"


def _saturation(options: argparse.Namespace) -> int:
    if options.html is not None:
        check_free(options.html, [_PAGE])
    data = None
    if options.data is not None:
        with np.load(options.data) as file:
            data = dict(file)
    found = saturation(options.model, data, machine=options.machine, runtime=options.runtime)
    tried = None
    if options.repairs:
        tried = found.repairs(None if options.labels is None else np.load(options.labels))
    if options.json:
        more = {} if tried is None else {"repairs": tried.as_dict()["tried"]}
        print(json.dumps({**found.as_dict(), **more}, allow_nan=False))
    else:
        print(found, *([] if tried is None else [tried]), sep="\n")
    told = sys.stderr if options.json else sys.stdout
    if options.repair is not None:
        print(found.write(options.repair, options.how, seen=options.seen), file=told)
    if options.html is not None:
        print(*write_new(options.html, {_PAGE: found.page()}), file=told)
    return 0 if found.safe else 1


def add_saturation(commands: Any) -> None:
    """Add the command to the list of commands."""
    words = "tell whether sums of a network saturate or overflow on a machine"
    made = command(commands, "saturation", words, "The exit code is 1 if a layer is not safe for every input.")
    made.add_argument("model", type=Path, help="a .tflite or .onnx file")
    lanes = "avx2, for .tflite s32"
    made.add_argument("--machine", choices=MACHINES, metavar="NAME", help=f"{', '.join(MACHINES)} (default: {lanes})")
    how = f"whose order of codes and kernels: {', '.join(RUNTIMES)} (default: that of the file)"
    made.add_argument("--runtime", choices=RUNTIMES, metavar="NAME", help=how)
    made.add_argument("--data", type=Path, metavar="FILE.npz", help="inputs by name: count what really saturates")
    made.add_argument("--json", action="store_true", help="print the answer as JSON")
    made.add_argument("--html", type=Path, metavar="DIR", help=f"write a page with pictures, {_PAGE}")
    words = "write the model with a repair in each layer that is not safe, once the new file is looked at"
    made.add_argument("--repair", type=Path, metavar="OUT", help=words)
    default = "types, for .tflite widen"
    made.add_argument("--how", choices=REPAIRS, metavar="NAME", help=f"{', '.join(REPAIRS)} (default: {default})")
    made.add_argument("--seen", action="store_true", help="change only rows that the data saturate")
    made.add_argument("--repairs", action="store_true", help="try all repairs on the data, and print what each costs")
    made.add_argument("--labels", type=Path, metavar="FILE.npy", help="the right results, for the accuracy of repairs")
    made.set_defaults(run=_saturation)
