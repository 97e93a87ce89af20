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
    mul_error,
    multiply_shift_error,
    network_error,
    photograph,
    quantize_error,
    report,
    requantize_error,
    rules_apart,
    systems_apart,
)
from analysis.claims import Claim, claims
from qops import isa_tier

VIEWS = (
    photograph,
    add_error,
    add_ratio_error,
    add_guess_error,
    mul_error,
    requantize_error,
    multiply_shift_error,
    quantize_error,
    network_error,
    systems_apart,
    rules_apart,
)
DESCRIPTION = """Run the quantized ops of qops, nnlib and TensorFlow on a photograph, on every pair of codes and over
ranges, and a network on oneDNN's, and show how far they are from float: tables on stdout, progress on stderr, figures
and index.html in DIR."""


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    p = argparse.ArgumentParser(prog="python -m analysis", description=DESCRIPTION)
    p.add_argument(
        "--check", action="store_true", help="draw nothing; exit code 1 if a claim of the README no longer holds"
    )
    p.add_argument(
        "--out",
        type=Path,
        default=Path("build/analysis"),
        metavar="DIR",
        help="where index.html and the figures go (%(default)s)",
    )
    return p


def timed(text: str, work: Callable[[], Any]) -> Any:
    """Do the work, tell on stderr how long it took, return its result."""
    print(f"{text:.<40}", end="", file=sys.stderr, flush=True)
    start = perf_counter()
    result = work()
    print(f" {perf_counter() - start:4.1f} s", file=sys.stderr, flush=True)
    return result


def stem(view: Any) -> str:
    """Name of the view's module."""
    return view.__name__.rpartition(".")[2]


def measure() -> dict[str, Any]:
    """Measure everything: what each view found, by its stem."""
    return {stem(v): timed(f"[{i}/{len(VIEWS)}] measuring {stem(v)} ", v.measure) for i, v in enumerate(VIEWS, 1)}


def claim_table(found: Sequence[Claim]) -> report.Table:
    """Every claim beside what was measured."""
    rows = [
        [
            "held" if c.holds else "BROKEN",
            c.text,
            f"{c.measured:.6g}",
            (">= " if c.at_least else "<= ") + f"{c.limit:.8g}",
        ]
        for c in found
    ]
    return report.Table("What the README claims, measured anew", ("", "claim", "measured", "limit"), rows, words=2)


def write(out: Path, found: dict[str, Any], checked: report.Table) -> Path:
    """Draw all figures and write the page."""
    out.mkdir(parents=True, exist_ok=True)
    sections = {}
    for i, view in enumerate(VIEWS, 1):
        figures = view.figures(found[stem(view)])
        drawn = [
            timed(f"[{i}/{len(VIEWS)}] drawing {name} ", lambda name=name, draw=draw: report.drawn(name, draw, out))
            for name, draw in figures.items()
        ]
        sections[stem(view)] = report.section(stem(view), drawn, view.tables(found[stem(view)]))
    sections["claims"] = report.section("claims", [], [checked])
    file = out / "index.html"
    file.write_text(report.page(sections), encoding="utf-8")
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
            print("\n".join(map(report.as_text, view.tables(found[stem(view)]))))
        file = write(options.out, found, table)
    print(report.as_text(table))
    broken = [c for c in checked if not c.holds]
    for c in broken:
        print(f"BROKEN: {c.text}: measured {c.measured:.8g}, limit {c.limit:.8g}", file=sys.stderr)
    if not options.check:
        print(f"Open {file} in a browser.")
    seconds, held = perf_counter() - start, len(checked) - len(broken)
    print(f"{held} of {len(checked)} claims hold ({seconds:.0f} s, {isa_tier()} kernels)")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
