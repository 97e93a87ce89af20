"""The command line: ``qops``, or ``python -m qops``.

``python -m qops explain dump.npz``, ``python -m qops debug model.tflite --device dump.npz``,
``python -m qops saturation model.onnx --machine avx2``,
``python -m qops params model.tflite -o DIR``,
``python -m qops vectors requantize --rule NAME --scale S -o DIR``,
``python -m qops vectors quantize --rule NAME --scale S -o DIR``,
``python -m qops vectors average_pool --rule NAME --kernel H W -o DIR``,
``python -m qops vectors add --rule NAME --a-range MIN MAX --b-range MIN MAX --y-range MIN MAX -o DIR``,
``python -m qops emit NAME`` and ``python -m qops selftest``.
"""

import argparse
import errno
import os
import re
import sys

from qops.rules import TABLE, emit
from qops.rules.c_binary import OPS
from qops.tools.commands.debug import add_debug
from qops.tools.commands.explain import add_explain
from qops.tools.commands.params import add_params
from qops.tools.commands.parser import Parser, command, rule_list
from qops.tools.commands.saturation import add_saturation
from qops.tools.commands.vectors import add_vectors_of_all_kinds
from qops.tools.selftest import selftest

_NEGATIVE = re.compile(r"-(\d|\.\d).*")  # numbers such as -5e-1 and -1., which argparse would take for options
_NO_READER = (errno.EPIPE, errno.EINVAL)  # Windows says EINVAL of a pipe that nobody reads


def _emit(options: argparse.Namespace) -> int:
    print(emit(options.rule, op=options.op), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        "qops",
        description="Tell which rule of a real system made some integers, find the layer of a network that differs "
        "first from a device, tell whether its sums saturate on a machine, make test vectors for a port of a rule, and "
        "write a rule in C.",
        epilog="The exit code is 0; 1 if no rule fits, a layer differs or can saturate, or a check fails; 2 for bad "
        "input.",
    )
    parser.add_argument("--version", action="version", version=f"qops {sys.modules['qops'].__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    add_explain(commands)
    add_debug(commands)
    add_saturation(commands)
    add_params(commands)
    add_vectors_of_all_kinds(commands)
    text = command(commands, "emit", "write a rule in C", rule_list(TABLE))
    text.add_argument("rule", metavar="NAME", help="a rule of the list below, or of another op")
    known = [*dict.fromkeys(["requantize", *OPS])]
    text.add_argument("--op", default=known[0], choices=known, metavar="OP", help=f"one of {', '.join(known)}")
    text.set_defaults(run=_emit)
    own = command(commands, "selftest", "check this installation: golden cases, and every SIMD tier of this CPU")
    own.set_defaults(run=lambda options: 0 if selftest() else 1)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : list of str, optional
        The words of the command line; by default those of the program.

    Returns
    -------
    int
        The exit code: 0; 1 if no rule fits, a layer differs or can saturate, or a check fails; 2 for bad input; 141 if
        nobody reads what is printed.
    """
    parser = _parser()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        try:
            options = parser.parse_args([f" {word}" if _NEGATIVE.fullmatch(word) else word for word in words])
            return int(options.run(options))
        finally:
            sys.stdout.flush()  # raises here if nobody reads; --help ends in an exception too
    except OSError as why:
        if why.filename is None and why.errno in _NO_READER:  # as in `| head -1`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
            return 141
        said = f"{why.filename}: {why.strerror}" if why.filename else str(why)
    except (ValueError, TypeError, ModuleNotFoundError) as why:
        said = str(why)
    print(f"{parser.prog}: {said}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
