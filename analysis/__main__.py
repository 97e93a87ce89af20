"""python -m analysis: measure, print the tables, draw the figures, write the pages."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import escape
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from analysis import (
    add_error,
    add_guess_error,
    add_ratio_error,
    first_page,
    hunt,
    mul_error,
    multiply_shift_error,
    network_error,
    nnlib_error,
    observer_error,
    ops_error,
    own_op,
    photograph,
    pictures,
    quantize_error,
    report,
    requantize_error,
    rules_apart,
    saturation_repairs,
    summary,
    sweep_error,
    sweeps,
    systems_apart,
)
from analysis.claims import Claim, claims
from analysis.options import BadOption, parser
from analysis.systems import FORMS
from qops import isa_tier

PAGES: dict[str, tuple[ModuleType, ...]] = {
    "photograph": (photograph,),
    "sweep": (sweep_error,),
    "add": (add_error, add_ratio_error, add_guess_error),
    "multiply": (mul_error, multiply_shift_error),
    "codes": (quantize_error, observer_error, requantize_error),
    "ops": (ops_error,),
    "nnlib": (nnlib_error,),
    "network": (network_error, saturation_repairs),
    "hunt": (hunt,),
    "systems": (systems_apart,),
    "rules": (rules_apart,),
}
VIEWS = tuple(view for views in PAGES.values() for view in views)
OUT = Path("build/analysis")


def timed(text: str, work: Callable[[], Any]) -> Any:
    """Do the work, tell on stderr how long it took, return its result."""
    print(f"{text:.<40}", end="", file=sys.stderr, flush=True)
    start = perf_counter()
    result = work()
    print(f" {perf_counter() - start:4.1f} s", file=sys.stderr, flush=True)
    return result


def stem(view: ModuleType) -> str:
    """Name of the view's module."""
    return view.__name__.rpartition(".")[2]


def measure(where: sweeps.Pool, count: int) -> dict[str, Any]:
    """Measure everything: what each view found, by its stem. The sweep is begun first and waited for last."""
    with ThreadPoolExecutor(1) as beside:
        swept = beside.submit(sweep_error.measure, where, count)
        work = {stem(v): v.measure for v in VIEWS if v is not sweep_error} | {"sweep_error": swept.result}
        return {name: timed(f"[{i}/{len(work)}] measuring {name} ", f) for i, (name, f) in enumerate(work.items(), 1)}


def lines(views: Sequence[ModuleType], found: Mapping[str, Any]) -> list[summary.Line]:
    """Give the lines that the views have for the summary."""
    return [line for v in views if hasattr(v, "summary") for line in v.summary(found[stem(v)])]


def by_page(found: Mapping[str, Any]) -> dict[str, list[summary.Line]]:
    """The lines of each page."""
    return {page: lines(views, found) for page, views in PAGES.items()}


def links(found: Mapping[str, Any]) -> dict[str, str]:
    """The page that each op is on."""
    return {line.op: f"{page}.html" for page, own in by_page(found).items() for line in own}


def draw(view: ModuleType, found: Any, out: Path, later: report.Later, tag: str = "h2") -> str:
    """Draw all figures of a view; its part of a page."""
    figures = [
        timed(f"drawing {name} ", partial(report.drawn, name, partial(draw, found), out, later))
        for name, draw in view.FIGURES.items()
    ]
    return report.section(stem(view), figures, view.tables(found), tag)


def write(out: Path, found: Mapping[str, Any], checked: Sequence[Claim]) -> Path:
    """Draw all figures and write all pages and the table of the sweep; return the index."""
    out.mkdir(parents=True, exist_ok=True)
    names = [*PAGES, "claims"]
    with report.packing() as later:
        for page, views in PAGES.items():
            tags = ["h1", *["h2"] * (len(views) - 1)]
            body = [draw(v, found[stem(v)], out, later, tag) for v, tag in zip(views, tags, strict=True)]
            report.write(out, page, body, names)
    report.write(out, "claims", [report.section("claims", [], [first_page.claim_table(checked)], "h1")], names)
    sweeps.write(out / "sweep.csv", found["sweep_error"].rows)
    cards = "".join(report.card(page, stem(v), next(iter(v.FIGURES))) for page, (v, *_) in PAGES.items())
    body = first_page.body(lines(VIEWS, found), checked, links(found), cards)
    return report.write(out, "index", body, names)


def show_image(file: Path, out: Path) -> int:
    """Add pictures that are made from a file."""
    picture = pictures.read(file)
    print(f"{file}: {picture.told}", file=sys.stderr)
    found = timed("measuring ", lambda: photograph.measure(picture.luma))
    table = summary.table(f"{file.name}, {picture.told}", photograph.summary(found), [])
    print("\n".join(map(report.as_text, [*photograph.tables(found), table])))
    out.mkdir(parents=True, exist_ok=True)
    title = f"<h1>{escape(file.name)}</h1>"
    with report.packing() as later:
        body = [title, report.as_html(table), draw(photograph, found, out, later)]
    page = report.write(out, "index", body, [])
    print(f"Open {page} in a browser.")
    return 0


def show_sweep(file: Path, where: sweeps.Pool, count: int) -> int:
    """Sweep, and write the table."""
    found = sweep_error.measure(where, count)
    sweeps.write(file, found.rows)
    print("\n".join(map(report.as_text, sweep_error.tables(found))))
    print(f"{len(found.rows):,} rows of {sweep_error.PAIRS:,} pairs of codes in {file}")
    return 0


def show_all(options: Namespace, where: sweeps.Pool) -> int:
    """Measure everything; 0, or 1 if a claim is broken."""
    start = perf_counter()
    found = measure(where, options.ranges)
    checked = claims(found)
    if not options.check:
        for view in VIEWS if options.tables else ():
            print("\n".join(map(report.as_text, view.tables(found[stem(view)]))))
        file = write(options.out or OUT, found, checked)
        if options.tables:
            print(report.as_text(first_page.overview(lines(VIEWS, found), checked, {})))
        print(report.as_text(first_page.brief(by_page(found), checked)))
        print(first_page.verdict(lines(VIEWS, found), checked))
    if options.check or options.tables:
        print(report.as_text(first_page.claim_table(checked)))
    broken = [c for c in checked if not c.holds]
    for c in broken:
        print(f"BROKEN: {c.text}: measured {c.measured:.8g}, limit {c.limit:.8g}", file=sys.stderr)
    if not options.check:
        print(f"Open {file} in a browser.")
    seconds, held = perf_counter() - start, len(checked) - len(broken)
    print(f"{held} of {len(checked)} claims hold ({seconds:.0f} s, {isa_tier()} kernels)")
    return 1 if broken else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, 1 if a claim is broken, and 2 for an option that cannot be followed."""
    options = parser().parse_args(arguments)
    try:
        if bool(options.op) != bool(options.exact):
            raise BadOption("--op, --exact: each needs the other")
        if options.one_range and not options.op:
            raise BadOption("--one-range: only with --op")
        if options.image and (options.check or options.sweep):
            raise BadOption("--image: not with --check or --sweep")
        if options.image and not options.op:
            return show_image(options.image, options.out or OUT / "picture")
        if options.sweep:
            sweeps.check(options.sweep)
        with sweeps.place(options) as where:
            if options.op:
                return own_op.show(options, where, options.out or OUT / "op")
            print(f"{len(FORMS)} forms of ops are swept by {where.name}", file=sys.stderr)
            if options.sweep:
                return show_sweep(options.sweep, where, options.ranges)
            return show_all(options, where)
    except BadOption as wrong:
        parser().error(str(wrong))


if __name__ == "__main__":
    sys.exit(main())
