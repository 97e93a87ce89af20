"""``params``: the constants of a network for a port, and their C."""

import argparse
from pathlib import Path
from typing import Any

from qops.models.loader import load
from qops.models.target import PORTS
from qops.onnx.runtimes import RUNTIMES
from qops.tflite.kernels import KERNELS
from qops.tools.commands.parser import command
from qops.tools.params.params import FORMS, params

__all__ = ["add_params"]


def _params(options: argparse.Namespace) -> int:
    model = options.model if options.runtime is None else load(options.model, runtime=options.runtime)
    found = params(model, options.port)
    paths = found.write(options.output, options.format)
    print(found, *paths, sep="\n")
    return 0


def add_params(commands: Any) -> None:
    """Add the command to the list of commands."""
    made = command(commands, "params", "write every constant that a port of a model needs, and the C of its rules")
    made.add_argument("model", type=Path, help="a .tflite or .onnx file")
    made.add_argument("--port", default="tflm", choices=PORTS, help="the system to port to (default: %(default)s)")
    words = f"how the file is read: as one of {', '.join([*KERNELS, *RUNTIMES])} runs it"
    made.add_argument("--runtime", metavar="NAME", help=words)
    made.add_argument("--format", default="c", choices=FORMS, help="format of the files (default: %(default)s)")
    made.add_argument(
        "-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder to write to (default: this one)"
    )
    made.set_defaults(run=_params)
