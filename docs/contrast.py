"""Contrast of text with what is behind it, as chromium draws pages: at two widths, in light and in dark colours."""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

SCRIPT = Path(__file__).with_name("contrast.js")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = (1280, 390)
MODES = {"dark": 0, "light": 1}
"""Mode -> what chromium calls it."""
MINUTES, PAGES_OF_A_MINUTE = 4, 15
"""How long chromium may take at most: so many minutes, and one more for each 15 pages."""
FRAME = "the-frame.html"
WITHOUT_TEXT = ("/searchindex.js", "/_static/scripts/fontawesome.js")
"""Scripts of icons and of the index, which take most of the time of a page and draw no text."""
SEEN = (
    "index.html",
    "ten_minutes.html",
    "guide/debug.html",
    "notebooks/5_requantize.html",
    "rules/requantize/tflite-double.html",
    "tools/explain.html",
    "gallery/index.html",
    "gallery/ties.html",
    "frontdoor/conv2d.html",
    "trust/compare.html",
    "surprises.html",
    "search.html",
    "microscope/index.html",
)
"""A page of each kind that the site has."""


class Read(NamedTuple):
    """A page as it was drawn: its texts, and a line for each that has a contrast below 4.5."""

    page: str
    width: int
    mode: str
    texts: int
    faint: Sequence[str]


class Handler(SimpleHTTPRequestHandler):
    """Files of a folder, and a page that looks at them in a frame."""

    def __init__(self, *args: Any, frame: str, **options: Any) -> None:
        """Keep the page."""
        self.frame = frame.encode()
        super().__init__(*args, **options)

    def do_GET(self) -> None:
        """Send the page, or a file."""
        path = self.path.partition("?")[0]
        if path == f"/{FRAME}":
            self.send("text/html; charset=utf-8", self.frame)
        elif path in WITHOUT_TEXT:
            self.send("text/javascript", b"")
        else:
            super().do_GET()

    def send(self, kind: str, content: bytes) -> None:
        """Send an answer."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path, frame: str) -> Iterator[str]:
    """The address of a folder."""
    handler = partial(Handler, directory=os.fspath(folder), frame=frame)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def frame_of(pages: Sequence[str]) -> str:
    """The page that reads all others."""
    head = '<!doctype html><meta charset="utf-8"><style>:root { color-scheme: light dark }</style>'
    call = f"all({json.dumps(list(pages))}, {json.dumps(WIDTHS)})"
    return f'{head}<body><pre id="found"></pre><script>{SCRIPT.read_text("utf-8")}\n{call};</script>'


def drawn(address: str, mode: int, minutes: int) -> str:
    """What chromium makes of a page after its scripts have run."""
    with TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom"]
        flags += [f"--blink-settings=preferredColorScheme={mode}", f"--virtual-time-budget={minutes * 60_000}"]
        alone = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        command = [str(CHROMIUM), *flags, address]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env=alone, timeout=minutes * 60
        ).stdout


def read(folder: Path, pages: Sequence[str]) -> list[Read]:
    """Draw pages of a folder at each width in each mode; nothing where chromium is not installed."""
    if not CHROMIUM:
        return []
    minutes = MINUTES + len(pages) // PAGES_OF_A_MINUTE
    with served(folder, frame_of(pages)) as address, ThreadPoolExecutor(len(MODES)) as pool:
        htmls = [*pool.map(lambda mode: drawn(f"{address}/{FRAME}", mode, minutes), MODES.values())]
    found: list[Read] = []
    for mode, html in zip(MODES, htmls, strict=True):
        answer = re.search(r'<pre id="found">(.*?)</pre>', html, re.S)
        rows = json.loads(unescape(answer[1])) if answer and answer[1] else []
        if len(rows) != len(pages) * len(WIDTHS):
            raise RuntimeError(f"chromium drew {len(rows)} of {len(pages) * len(WIDTHS)} pages")
        found += [Read(row["page"], row["width"], mode, row["count"], row["faint"]) for row in rows]
    return found


def all_pages(site: Path) -> list[str]:
    """The pages of a site, but for those of JupyterLite, which is not ours."""
    found = sorted(path.relative_to(site) for path in site.rglob("*.html"))
    return [path.as_posix() for path in found if path.parts[0] not in ("lite", "_static")]


def said(pages: Sequence[str]) -> str:
    """What follows in a line that says what is checked."""
    if CHROMIUM:
        return f", and in chromium the contrast of text on {len(pages)} pages."
    return ". Chromium is not installed, so the contrast of text is not measured."


def complaints(folder: Path, pages: Sequence[str]) -> list[str]:
    """Give what is hard to read on pages of a folder, a line each."""
    return [
        f"{page} in {mode} colours, {width} wide: {line}"
        for page, width, mode, _, faint in read(folder, pages)
        for line in faint
    ]
