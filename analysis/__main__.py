"""python -m analysis: measure, print the tables, draw the figures, write the page."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from analysis import (
    add_error,
    add_guess_error,
    add_ratio_error,
    multiply_shift_error,
    photograph,
    quantize_error,
    report,
    requantize_error,
)
from analysis.claims import Claim, claims
from qops import isa_tier

VIEWS = (photograph, add_error, add_ratio_error, add_guess_error, requantize_error, multiply_shift_error, quantize_error)
TITLE = "qops: how far quantized ops are from float"
INTRODUCTION = (
    "The quantized ops of qops, nnlib and TensorFlow, run on real data and on every pair of 8-bit codes, each compared with the "
    "exact result in float64. nnlib and TensorFlow are qops' models of them, which give the same bits as the originals. "
    "Errors are in LSB, one step of the output code: rounding alone costs up to half of one. They are drawn blue where the "
    "result is too low, red where it is too high, on one scale throughout."
)

CLAIMED = "Each sentence of the README about errors, beside what was measured for this page. python -m analysis --check does the same."


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog="python -m analysis", description=__doc__.split(": ", 1)[1])
    p.add_argument("--check", action="store_true", help="draw nothing; exit code 1 if a claim of the README no longer holds")
    p.add_argument("--out", type=Path, default=Path("build/analysis"), metavar="DIR", help="where index.html and the figures go (%(default)s)")
    return p


def timed(text: str, work: Callable[[], Any]) -> Any:
    """The result of the work, told on stderr while it is done."""
    print(f"{text:.<40}", end="", file=sys.stderr, flush=True)
    start = perf_counter()
    result = work()
    print(f" {perf_counter() - start:4.1f} s", file=sys.stderr, flush=True)
    return result


def stem(view: Any) -> str:
    """Name of the view's module."""
    return view.__name__.rpartition(".")[2]


def measure() -> dict[str, Any]:
    """What each view measures, by its stem."""
    return {
        stem(v): timed(f"[{i}/{len(VIEWS)}] measuring {stem(v)} ", v.measure) for i, v in enumerate(VIEWS, 1)
    }


def claim_table(found: Sequence[Claim]) -> report.Table:
    """Every claim beside what was measured."""
    rows = [
        ["held" if c.holds else "BROKEN", c.text, f"{c.measured:.6g}", (">= " if c.at_least else "<= ") + f"{c.limit:.8g}"]
        for c in found
    ]
    return report.Table("What the README claims, measured anew", ("", "claim", "measured", "limit"), rows, words=2)


def write(out: Path, found: dict[str, Any], checked: report.Table) -> Path:
    """Draw all figures and write the page."""
    out.mkdir(parents=True, exist_ok=True)
    sections = [v.section(found[stem(v)]) for v in VIEWS]
    bodies = []
    for i, view in enumerate(sections, 1):
        pictures = [timed(f"[{i}/{len(sections)}] drawing {f.stem} ", lambda f=f: report.draw(f, out)) for f in view.figures]
        bodies.append(report.section(view, pictures))
    last = report.Section("claims", "What the README claims", CLAIMED, [checked], [])
    page = report.page(TITLE, INTRODUCTION, [*sections, last], [*bodies, report.section(last, [])])
    file = out / "index.html"
    file.write_text(page, encoding="utf-8")
    return file


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, or 1 if a claim is broken."""
    options = parser().parse_args(arguments)
    start = perf_counter()
    found = measure()
    checked = claims(found)
    table = claim_table(checked)
    if not options.check:
        for view in VIEWS:
            print("\n".join(map(report.as_text, view.section(found[stem(view)]).tables)))
        file = write(options.out, found, table)
    print(report.as_text(table))
    broken = [c for c in checked if not c.holds]
    for c in broken:
        print(f"BROKEN: {c.text}: measured {c.measured:.8g}, limit {c.limit:.8g}", file=sys.stderr)
    if not options.check:
        print(f"Open {file} in a browser.")
    print(f"{len(checked) - len(broken)} of {len(checked)} claims hold ({perf_counter() - start:.0f} s, {isa_tier()} kernels)")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
