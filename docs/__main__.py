"""python -m docs: lay out the sources, let Sphinx make the site, check every page of it."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from docs import check, stage


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, or what Sphinx returns, or 1 if a page links to nothing."""
    from sphinx.cmd.build import main as sphinx

    p = argparse.ArgumentParser(prog="python -m docs", description="Write the site.")
    p.add_argument("--out", type=Path, default=Path("build/docs"), metavar="DIR", help="where it goes (%(default)s)")
    out = p.parse_args(arguments).out
    source, site = out / "source", out / "site"
    stage.write(source)
    flags = ["-W", "--keep-going", "-q", "-E", "-b", "html", "-d", os.fspath(out / "doctrees")]
    code = sphinx([*flags, os.fspath(source), os.fspath(site)])
    wrong = check.complaints(site)
    print(*wrong, sep="\n", file=sys.stderr)
    if not (code or wrong):
        print(f"Open {site / 'index.html'} in a browser.")
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
