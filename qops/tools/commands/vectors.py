"""``vectors``: test vectors of each kind of op."""

import argparse
from pathlib import Path
from typing import Any

from qops.rules import AVERAGE_POOL, QUANTIZE, REAL_BIAS, TABLE
from qops.tools.commands.parser import command, rule_list
from qops.tools.vectors.add_forms import FORMS
from qops.tools.vectors.add_vectors import add_vectors
from qops.tools.vectors.formats import FORMATS, VectorSet, write
from qops.tools.vectors.pool_vectors import pool_vectors
from qops.tools.vectors.quantize_vectors import quantize_vectors
from qops.tools.vectors.vectors import vectors

__all__ = ["add_vectors_of_all_kinds"]

_USAGE = """\
%(prog)s [options] --rule NAME -o DIR
         (--scale SCALE | --integers MULTIPLIER SHIFT | --scales SCALE ...)"""


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


def add_vectors_of_all_kinds(commands: Any) -> None:
    """Add the command to the list of commands."""
    made = command(commands, "vectors", "make test vectors that tell a rule from all others")
    kinds = made.add_subparsers(required=True, metavar="kind")
    for add in (_add_requantize_vectors, _add_quantize_vectors, _add_vectors_of_add, _add_pool_vectors):
        kind = add(kinds)
        kind.add_argument("--format", default="c", choices=FORMATS, help="format of the files (default: %(default)s)")
        kind.add_argument(
            "-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder to write to (default: this one)"
        )


def _add_requantize_vectors(kinds: Any) -> argparse.ArgumentParser:
    words = "make accumulators and the codes that a rule gives them"
    made = command(kinds, "requantize", words, rule_list({**TABLE, **REAL_BIAS}))
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
    made = command(
        kinds, "quantize", "make float32 values and the codes that a quantizer gives them", rule_list(QUANTIZE)
    )
    made.add_argument("--rule", required=True, choices=QUANTIZE, metavar="NAME", help="a rule of the list below")
    factor = made.add_mutually_exclusive_group(required=True)
    factor.add_argument("--scale", type=float, help="real size of a code step")
    words = "real values of the lowest and the highest code, for openvino"
    factor.add_argument("--range", type=float, nargs=2, metavar=("MIN", "MAX"), help=words)
    _add_codes(made)
    made.set_defaults(run=_quantize_vectors)
    return made


def _add_vectors_of_add(kinds: Any) -> argparse.ArgumentParser:
    made = command(kinds, "add", "make pairs of uint8 codes and the sums that an add gives them", rule_list(FORMS))
    made.add_argument("--rule", required=True, choices=FORMS, metavar="NAME", help="a rule of the list below")
    for name, word in (("a", "the first operand"), ("b", "the second operand"), ("y", "the result")):
        made.add_argument(
            f"--{name}-range", required=True, type=float, nargs=2, metavar=("MIN", "MAX"), help=f"range of {word}"
        )
    made.set_defaults(run=_add_vectors)
    return made


def _add_pool_vectors(kinds: Any) -> argparse.ArgumentParser:
    words = "make windows of codes and the codes that an average pool gives them"
    made = command(kinds, "average_pool", words, rule_list(AVERAGE_POOL))
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
