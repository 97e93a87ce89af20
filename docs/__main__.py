"""python -m docs: lay out the sources, let Sphinx make the site, check every page of it."""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from docs import browser, check, contrast, stage


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the site; 0, or what Sphinx returns, or 1 if a link leads nowhere."""
    from sphinx.cmd.build import main as sphinx

    p = argparse.ArgumentParser(prog="python -m docs", description="Write the site, and check every link of it.")
    p.add_argument("--out", type=Path, default=Path("build/docs"), metavar="DIR", help="folder; default: %(default)s")
    p.add_argument(
        "--lite", type=Path, metavar="WHEEL", help="add the course in JupyterLite, with qops from this wheel"
    )
    p.add_argument("--pyodide", type=Path, metavar="DIR", help="add Pyodide itself, from its unpacked release")
    p.add_argument("--contrast", choices=("some", "all"), default="some", help="pages whose texts chromium measures")
    given = p.parse_args(arguments)
    out, lite = given.out, given.lite
    if given.pyodide and not lite:
        p.error("--pyodide goes with --lite")
    source, site = out / "source", out / "site"
    shutil.rmtree(site / "lite", ignore_errors=True)
    if lite:
        browser.build(lite, given.pyodide, stage.NOTEBOOKS, out / "lite", site)
    print("Some minutes: the scripts of the gallery run, then Sphinx makes more than 450 pages.", flush=True)
    print(f"Writing the sources to {source}.", flush=True)
    with redirect_stdout(StringIO()):  # the tables that pages show are printed by what makes them
        stage.write(source, lite=bool(lite))
    print("The sources are written; Sphinx runs.", flush=True)
    flags = ["-W", "--keep-going", "-q", "-E", "-b", "html", "-d", os.fspath(out / "doctrees")]
    code = sphinx([*flags, os.fspath(source), os.fspath(site)])
    pages = contrast.SEEN if given.contrast == "some" else contrast.all_pages(site)
    print("Checking links, anchors and words" + contrast.said(pages), flush=True)
    wrong = check.complaints(site) + check.unfound(site, stage.searched()) + contrast.complaints(site, pages)
    print(*wrong, sep="\n", file=sys.stderr)
    if not (code or wrong):
        print(f"Open {site / 'index.html'} in a browser.")
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
