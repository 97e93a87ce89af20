"""The command line of the analysis."""

import argparse
import os
from pathlib import Path

from analysis.ranges import MANY

DESCRIPTION = """Show how far quantized ops are from float: those of qops, nnlib and TensorFlow on a photograph, on
every pair of codes and on many ranges, and a network that runs on those of oneDNN. Tables go to stdout, progress to
stderr, figures and index.html to DIR."""


class BadOption(ValueError):
    """An option asks for something that cannot be done; the text names the option."""


def number(text: str) -> int:
    """A count from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    p = argparse.ArgumentParser(prog="python -m analysis", description=DESCRIPTION)
    what = p.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="draw nothing; exit code 1 if a claim no longer holds")
    p.add_argument(
        "--image",
        type=Path,
        metavar="FILE",
        help="only add pictures that are made from this one: .png, .jpg, .tif and so on; with --op: run the op on it",
    )
    what.add_argument(
        "--sweep", type=Path, metavar="FILE", help="only sweep over ranges, and write one table: .csv or .parquet"
    )
    what.add_argument(
        "--op",
        metavar="MODULE:FUNCTION",
        help="only measure this op of your own, which takes one tensor or two and gives one; needs --exact",
    )
    p.add_argument(
        "--exact",
        metavar="MODULE:FUNCTION",
        help="with --op: what is right, of the real values of the operands, as float64 arrays",
    )
    p.add_argument(
        "--one-range",
        action="store_true",
        help="with --op: give both operands the same range, for an op that needs it",
    )
    _add_results(p)
    _add_sweep(p)
    return p


def _add_results(p: argparse.ArgumentParser) -> None:
    """Add what is printed and where pages go."""
    p.add_argument("--tables", action="store_true", help="print all tables, not the summary alone")
    p.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for pages and figures; default: build/analysis, with --image build/analysis/picture, with "
        "--op build/analysis/op",
    )


def _add_sweep(p: argparse.ArgumentParser) -> None:
    """Add how many ranges a sweep has, and where it runs."""
    p.add_argument(
        "--ranges", type=number, default=MANY, metavar="N", help="pairs of ranges to sweep over; default: %(default)s"
    )
    where = p.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=number,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes that sweep; default: %(default)s",
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="sweep on the dask cluster there, such as tcp://127.0.0.1:8786; start its workers in this folder: "
        "python -m dask worker ADDRESS",
    )
