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
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn, TextIO

import numpy as np

from qops._kernels.arrays.nearest import did_you_mean
from qops.isa import MACHINES
from qops.models.lanes.runtimes import NAMES as SATURATION_RUNTIMES
from qops.models.loader import load
from qops.models.target import PORTS
from qops.onnx.runtimes import RUNTIMES
from qops.rules import AVERAGE_POOL, QUANTIZE, REAL_BIAS, TABLE, emit
from qops.rules.c_binary import OPS
from qops.tflite.kernels import KERNELS
from qops.tools.debug.debug import debug
from qops.tools.debug.executors import client_of
from qops.tools.debug.hunt import Hunt
from qops.tools.debug.reduce import ALWAYS
from qops.tools.explain.dump_file import NAMES, read_dump
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.page import page_of
from qops.tools.explain.verdicts import explained
from qops.tools.folder import check_free, write_new
from qops.tools.params.params import FORMS as PARAM_FORMS
from qops.tools.params.params import params
from qops.tools.progress import Progress
from qops.tools.saturation.repair import REPAIRS
from qops.tools.saturation.saturation import saturation
from qops.tools.selftest import selftest
from qops.tools.vectors.add_forms import FORMS
from qops.tools.vectors.add_vectors import add_vectors
from qops.tools.vectors.formats import FORMATS, VectorSet, write
from qops.tools.vectors.pool_vectors import pool_vectors
from qops.tools.vectors.quantize_vectors import quantize_vectors
from qops.tools.vectors.vectors import vectors

_DUMP = """\
A dump holds the arguments of qops.explain by their names, with the same
defaults. x (or acc, or a) is what the op read, and y what the device made of
it. zero_point and ..._zero_point are codes of real 0. kind names the op;
without it the op is requantize. A .json dump names the type of y as dtype.
Each kind needs the names before the semicolon, and takes the others. The
scale of requantize is given as scale, as what it is made of, in_scale,
w_scale and out_scale, or as integers, a multiplier and a right shift.
integers also stand for the scales of add and mul:"""
_DEVICE = """\
The dump holds tensors by the names that the model has for them: an .npz file;
a .log or .txt file in which they are printed; a .tflm file of
layer_by_layer_output_tool; or a folder with one file for each tensor: .npy;
.bin or .raw, plain bytes; .txt or .csv, printed numbers; .pb or .tensorproto
of ONNX. It needs the inputs, unless --data has them; other tensors may be
missing. Several dumps are those of steps that follow each other, with as
many files behind --data, or none. Without any dump the inputs are seeded
noise."""
_USAGE = """\
%(prog)s [options] --rule NAME -o DIR
         (--scale SCALE | --integers MULTIPLIER SHIFT | --scales SCALE ...)"""
_NEGATIVE = re.compile(r"-(\d|\.\d).*")  # numbers such as -5e-1 and -1., which argparse would take for options
_PAGE = "hunt.html"
_SATURATION_PAGE = "saturation.html"
_NO_READER = (errno.EPIPE, errno.EINVAL)  # Windows says EINVAL of a pipe that nobody reads


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


def _saturation(options: argparse.Namespace) -> int:
    if options.html is not None:
        check_free(options.html, [_SATURATION_PAGE])
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
        print(*write_new(options.html, {_SATURATION_PAGE: found.page()}), file=told)
    return 0 if found.safe else 1


def _params(options: argparse.Namespace) -> int:
    model = options.model if options.runtime is None else load(options.model, runtime=options.runtime)
    found = params(model, options.port)
    paths = found.write(options.output, options.format)
    print(found, *paths, sep="\n")
    return 0


def _requantize_vectors(options: argparse.Namespace) -> int:
    names = ("scale", "integers", "zero_point", "dtype", "qmin", "qmax", "scales", "bias", "w_sums", "x_zero_point")
    given = {name: getattr(options, name) for name in names}
    if given["scales"] is not None:
        given["scales"] = tuple([*given["scales"], None][:3])
    ends = None if options.range is None else tuple(options.range)
    return _written(vectors(options.rule, **given, range=ends), options)


def _quantize_vectors(options: argparse.Namespace) -> int:
    given = {name: getattr(options, name) for name in ("scale", "zero_point", "dtype", "qmin", "qmax")}
    ends = None if options.range is None else tuple(options.range)
    return _written(quantize_vectors(options.rule, **given, range=ends), options)


def _pool_vectors(options: argparse.Namespace) -> int:
    names = ("zero_point", "x_scale", "y_scale", "y_zero_point", "dtype", "qmin", "qmax")
    given = {name: getattr(options, name) for name in names}
    return _written(pool_vectors(options.rule, kernel=tuple(options.kernel), **given), options)


def _add_vectors(options: argparse.Namespace) -> int:
    a, b, y = (tuple(getattr(options, name)) for name in ("a_range", "b_range", "y_range"))
    return _written(add_vectors(options.rule, a_range=a, b_range=b, y_range=y), options)


def _written(found: VectorSet, options: argparse.Namespace) -> int:
    print(found)
    for path in write(found, options.format, options.output):
        print(path)
    return 0


def _emit(options: argparse.Namespace) -> int:
    print(emit(options.rule, op=options.op), end="")
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose errors end with the word that may have been meant, as argparse does from Python 3.14 on."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"(?:invalid choice: '|unrecognized arguments: )([^ ',]+)", message)
        near = "" if wrong is None or "Did you mean" in message else did_you_mean(wrong[1], self._words())
        super().error(f"{message}{near}")

    def _words(self) -> list[str]:
        """Give the options of this command and of those below it, and all that they let one choose from."""
        below = [a.choices for a in self._actions if isinstance(a, argparse._SubParsersAction)]
        words = [word for a in self._actions for word in (*a.option_strings, *map(str, a.choices or ()))]
        return words + [word for commands in below for parser in commands.values() for word in parser._words()]


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "qops",
        description="Tell which rule of a real system made some integers, find the layer of a network that differs "
        "first from a device, tell whether its sums saturate on a machine, make test vectors for a port of a rule, and "
        "write a rule in C.",
        epilog="The exit code is 0; 1 if no rule fits, a layer differs or can saturate, or a check fails; 2 for bad "
        "input.",
    )
    parser.add_argument("--version", action="version", version=f"qops {sys.modules['qops'].__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_explain(commands)
    _add_debug(commands)
    _add_saturation(commands)
    _add_params(commands)
    _add_vectors_of_all_kinds(commands)
    text = _command(commands, "emit", "write a rule in C", _rules(TABLE))
    text.add_argument("rule", metavar="NAME", help="a rule of the list below, or of another op")
    known = [*dict.fromkeys(["requantize", *OPS])]
    text.add_argument("--op", default=known[0], choices=known, metavar="OP", help=f"one of {', '.join(known)}")
    text.set_defaults(run=_emit)
    own = _command(commands, "selftest", "check this installation: golden cases, and every SIMD tier of this CPU")
    own.set_defaults(run=lambda options: 0 if selftest() else 1)
    return parser


def _add_explain(commands: Any) -> None:
    explain = _command(commands, "explain", "tell which rules made the integers of a device", _listed(_DUMP, NAMES))
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


def _add_debug(commands: Any) -> None:
    words = "find the first layer of a network that differs from a device's dump, and why"
    made = _command(commands, "debug", words, _DEVICE)
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


def _add_saturation(commands: Any) -> None:
    words = "tell whether sums of a network saturate or overflow on a machine"
    made = _command(commands, "saturation", words, "The exit code is 1 if a layer is not safe for every input.")
    made.add_argument("model", type=Path, help="a .tflite or .onnx file")
    lanes = "avx2, for .tflite s32"
    made.add_argument("--machine", choices=MACHINES, metavar="NAME", help=f"{', '.join(MACHINES)} (default: {lanes})")
    how = f"whose order of codes and kernels: {', '.join(SATURATION_RUNTIMES)} (default: that of the file)"
    made.add_argument("--runtime", choices=SATURATION_RUNTIMES, metavar="NAME", help=how)
    made.add_argument("--data", type=Path, metavar="FILE.npz", help="inputs by name: count what really saturates")
    made.add_argument("--json", action="store_true", help="print the answer as JSON")
    made.add_argument("--html", type=Path, metavar="DIR", help=f"write a page with pictures, {_SATURATION_PAGE}")
    words = "write the model with a repair in each layer that is not safe, once the new file is looked at"
    made.add_argument("--repair", type=Path, metavar="OUT", help=words)
    default = "types, for .tflite widen"
    made.add_argument("--how", choices=REPAIRS, metavar="NAME", help=f"{', '.join(REPAIRS)} (default: {default})")
    made.add_argument("--seen", action="store_true", help="change only rows that the data saturate")
    made.add_argument("--repairs", action="store_true", help="try all repairs on the data, and print what each costs")
    made.add_argument("--labels", type=Path, metavar="FILE.npy", help="the right results, for the accuracy of repairs")
    made.set_defaults(run=_saturation)


def _add_params(commands: Any) -> None:
    made = _command(commands, "params", "write every constant that a port of a model needs, and the C of its rules")
    made.add_argument("model", type=Path, help="a .tflite or .onnx file")
    made.add_argument("--port", default="tflm", choices=PORTS, help="the system to port to (default: %(default)s)")
    words = f"how the file is read: as one of {', '.join([*KERNELS, *RUNTIMES])} runs it"
    made.add_argument("--runtime", metavar="NAME", help=words)
    made.add_argument("--format", default="c", choices=PARAM_FORMS, help="format of the files (default: %(default)s)")
    made.add_argument(
        "-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder to write to (default: this one)"
    )
    made.set_defaults(run=_params)


def _add_vectors_of_all_kinds(commands: Any) -> None:
    made = _command(commands, "vectors", "make test vectors that tell a rule from all others")
    kinds = made.add_subparsers(required=True, metavar="kind")
    one = _add_requantize_vectors(kinds)
    three = _add_quantize_vectors(kinds)
    two = _command(kinds, "add", "make pairs of uint8 codes and the sums that an add gives them", _rules(FORMS))
    two.add_argument("--rule", required=True, choices=FORMS, metavar="NAME", help="a rule of the list below")
    for name, word in (("a", "the first operand"), ("b", "the second operand"), ("y", "the result")):
        two.add_argument(
            f"--{name}-range", required=True, type=float, nargs=2, metavar=("MIN", "MAX"), help=f"range of {word}"
        )
    two.set_defaults(run=_add_vectors)
    four = _add_pool_vectors(kinds)
    for kind in (one, two, three, four):
        kind.add_argument("--format", default="c", choices=FORMATS, help="format of the files (default: %(default)s)")
        kind.add_argument(
            "-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder to write to (default: this one)"
        )


def _add_requantize_vectors(kinds: Any) -> argparse.ArgumentParser:
    words = "make accumulators and the codes that a rule gives them"
    made = _command(kinds, "requantize", words, _rules({**TABLE, **REAL_BIAS}))
    made.usage = _USAGE  # argparse would write the three in one line that is too long
    made.add_argument(
        "--rule", required=True, choices=[*TABLE, *REAL_BIAS], metavar="NAME", help="a rule of the list below"
    )
    factor = made.add_mutually_exclusive_group(required=True)
    factor.add_argument("--scale", type=float, help="how many output steps an input step is")
    words = "the multiplier and the right shift of a port, instead of the scale"
    factor.add_argument("--integers", type=int, nargs=2, metavar=("MULTIPLIER", "SHIFT"), help=words)
    words = "in_scale, w_scale and out_scale, for rules on real values; two of them beside --range"
    factor.add_argument("--scales", type=float, nargs="+", metavar="SCALE", help=words)
    made.add_argument("--bias", type=float, help="the real bias that such a rule adds")
    made.add_argument(
        "--range", type=float, nargs=2, metavar=("MIN", "MAX"), help="real values of codes 0 and 255, for OpenVINO"
    )
    made.add_argument("--w-sums", type=int, metavar="SUM", help="the sum of the weights, for mnn")
    made.add_argument("--x-zero-point", type=int, default=0, metavar="CODE", help="of the input, for mnn")
    _add_codes(made)
    made.set_defaults(run=_requantize_vectors)
    return made


def _add_quantize_vectors(kinds: Any) -> argparse.ArgumentParser:
    made = _command(
        kinds, "quantize", "make float32 values and the codes that a quantizer gives them", _rules(QUANTIZE)
    )
    made.add_argument("--rule", required=True, choices=QUANTIZE, metavar="NAME", help="a rule of the list below")
    factor = made.add_mutually_exclusive_group(required=True)
    factor.add_argument("--scale", type=float, help="real size of a code step")
    words = "real values of the lowest and the highest code, for openvino"
    factor.add_argument("--range", type=float, nargs=2, metavar=("MIN", "MAX"), help=words)
    _add_codes(made)
    made.set_defaults(run=_quantize_vectors)
    return made


def _add_pool_vectors(kinds: Any) -> argparse.ArgumentParser:
    words = "make windows of codes and the codes that an average pool gives them"
    made = _command(kinds, "average_pool", words, _rules(AVERAGE_POOL))
    made.add_argument("--rule", required=True, choices=AVERAGE_POOL, metavar="NAME", help="a rule of the list below")
    made.add_argument("--kernel", required=True, type=int, nargs=2, metavar=("H", "W"), help="size of a window")
    made.add_argument("--x-scale", type=float, default=1.0, help="real size of a code step (default: %(default)s)")
    words = "of the result, for rules that rescale, if not that of the windows"
    made.add_argument("--y-scale", type=float, help=f"real size of a code step {words}")
    made.add_argument("--y-zero-point", type=int, metavar="CODE", help=f"code of real 0 {words}")
    _add_codes(made)
    made.set_defaults(run=_pool_vectors)
    return made


def _add_codes(made: argparse.ArgumentParser) -> None:
    """Add what says which codes there are."""
    made.add_argument("--zero-point", type=int, default=0, help="code of real 0 (default: %(default)s)")
    types = ["int8", "uint8", "int16", "uint16"]
    made.add_argument("--dtype", default="int8", choices=types, help="type of the codes (default: %(default)s)")
    for name, end in (("--qmin", "lowest"), ("--qmax", "highest")):
        made.add_argument(name, type=int, help=f"{end} code, if the result is clamped (default: that of the type)")


def _command(commands: Any, name: str, words: str, end: str | None = None) -> argparse.ArgumentParser:
    """Add a command. `words` describe it in the list of commands and at the top of its help."""
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog=end,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return made


def _rules(rules: Mapping[str, Any]) -> str:
    return _listed("rules:", {name: row.systems for name, row in rules.items()})


def _listed(title: str, rows: dict[str, str]) -> str:
    """Wrap each row by itself; argparse would break names at their hyphens."""
    wide = max(map(len, rows)) + 4
    lines = (
        fill(text, 80, initial_indent=f"  {name:<{wide - 2}}", subsequent_indent=" " * wide, break_on_hyphens=False)
        for name, text in rows.items()
    )
    return "\n".join([title, *lines])


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
