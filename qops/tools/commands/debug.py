"""``debug``: the first layer of a network that differs from a device, and why."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, TextIO

from qops.onnx.runtimes import RUNTIMES
from qops.tflite.kernels import KERNELS
from qops.tools.commands.parser import command
from qops.tools.debug.debug import debug
from qops.tools.debug.executors import client_of
from qops.tools.debug.hunt import Hunt
from qops.tools.debug.reduce import ALWAYS
from qops.tools.folder import check_free, write_new

__all__ = ["add_debug"]

_DEVICE = """\
The dump holds tensors by the names that the model has for them: an .npz file;
a .log or .txt file in which they are printed; a .tflm file of
layer_by_layer_output_tool; or a folder with one file for each tensor: .npy;
.bin or .raw, plain bytes; .txt or .csv, printed numbers; .pb or .tensorproto
of ONNX. It needs the inputs, unless --data has them; other tensors may be
missing. Several dumps are those of steps that follow each other, with as
many files behind --data, or none. Without any dump the inputs are seeded
noise."""
_PAGE = "hunt.html"


def _debug(options: argparse.Namespace) -> int:
    for folder, names in ((options.html, [_PAGE]), (options.reduce, ALWAYS)):
        if folder is not None:
            check_free(folder, names)  # before a long run, not after it
    data, device = (files[0] if files and len(files) == 1 else files for files in (options.data, options.device))
    given = {"device": device, "float_model": options.float, "runtime": options.runtime}
    with client_of(options.jobs) as client:
        found = debug(options.model, data, client=client, **given)
    print(json.dumps(found.as_dict(), allow_nan=False) if options.json else found)
    told = sys.stderr if options.json else sys.stdout
    if options.html is not None:
        print(*write_new(options.html, {_PAGE: found.page()}), file=told)
    if options.reduce is not None:
        _reduce(found, options.reduce, told)
    return 1 if found.differs else 0


def _reduce(found: Hunt, folder: Path, told: TextIO) -> None:
    """Write the files of the layer that differs, and tell their names, or that there is nothing to write."""
    if found.case is None:
        print("no layer differs by itself: nothing is written", file=told)
        return
    for path in found.reduce(folder):
        print(path, file=told)


def add_debug(commands: Any) -> None:
    """Add the command to the list of commands."""
    words = "find the first layer of a network that differs from a device's dump, and why"
    made = command(commands, "debug", words, _DEVICE)
    made.add_argument("model", type=Path, help="a .tflite or .onnx file")
    made.add_argument("--data", type=Path, nargs="+", metavar="FILE.npz", help="the inputs, by name")
    made.add_argument("--device", type=Path, nargs="+", metavar="DUMP", help="what the device gave; see below")
    made.add_argument("--float", type=Path, metavar="MODEL", help="the float model (default: this one, not rounded)")
    jobs = "run layers as tasks of dask, on so many processes, which take seconds to start"
    made.add_argument("--jobs", type=int, metavar="N", help=jobs)
    made.add_argument("--runtime", metavar="NAME", help=f"whose bits are expected: {', '.join([*KERNELS, *RUNTIMES])}")
    made.add_argument("--json", action="store_true", help="print the answer as JSON")
    made.add_argument("--html", type=Path, metavar="DIR", help="write a page with pictures, hunt.html")
    words = "write that layer as a model of its own, with a test in C and a report"
    made.add_argument("--reduce", type=Path, metavar="DIR", help=words)
    made.set_defaults(run=_debug)
