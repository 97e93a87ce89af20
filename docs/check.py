"""Checks of a built site: links lead somewhere, nothing comes from the network, no page shows its markup."""

import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}
"""Tag -> the attribute that has the browser fetch something at once."""
CODE = ("code", "kbd", "math", "pre", "script", "style")
MARKUP = re.compile(r"\S*(?:`|\w\*\*(?=[\s.,;:)]|$))\S*")
ENTITY = re.compile(r"\S*(?:&#?\w+;|``)\S*")
TAGS = ("h1", "title")


class Page(HTMLParser):
    """The anchors of a page, its links, what it loads, its words, its images without words, its titles."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.words: list[str] = []
        self.entities: list[str] = []
        self.unsaid: list[str] = []
        self.tags: list[str] = []
        self.code = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag names and wants."""
        self.code += tag in CODE
        self.tags += [tag] if tag in TAGS else []
        found = {key: value for key, value in attrs if value}
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        wanted = found.get(LOADED.get(tag, ""))
        if wanted and found.get("rel") != "canonical":
            self.loaded.append(wanted)
        if (tag == "img" and "alt" not in dict(attrs)) or found.get("alt", "").endswith((".png", ".svg")):
            self.unsaid.append(found.get("src", ""))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])

    def handle_endtag(self, tag: str) -> None:
        """Note the end of code."""
        self.code -= tag in CODE

    def handle_data(self, data: str) -> None:
        """Note words, and in code too what should have become characters or code."""
        self.entities += ENTITY.findall(data) if self.lasttag not in ("script", "style") else []
        if not self.code:
            self.words.append(data)


def unfound(folder: Path, wanted: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the words that a search of the site would not find first on the page that has them."""
    index = json.loads(
        (folder / "searchindex.js").read_text("utf-8").removeprefix("Search.setIndex(").removesuffix(")")
    )
    entries, pages = index["indexentries"], index["docnames"]
    return [
        f"a search for {word!r} does not lead to {page}"
        for page, words in wanted.items()
        for word in words
        if page not in [pages[entry[0]] for entry in entries.get(word.lower(), ()) if entry[2]]
    ]


def complaints(folder: Path) -> list[str]:
    """Give what is wrong with the pages of a folder, a line each; the pages of JupyterLite itself are not read."""
    files = [path for path in sorted(folder.rglob("*.html")) if not {"_static", "lite"} & {*path.parts}]
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        found += [f"{name} has no words for {image}" for image in page.unsaid]
        found += [f"{name} shows its markup: {word}" for text in page.words for word in MARKUP.findall(text)]
        found += [f"{name} shows its markup: {word}" for word in page.entities]
        found += [f"{name} has {page.tags.count(tag)} of <{tag}>" for tag in TAGS if page.tags.count(tag) != 1]
        for link in page.loaded + page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.loaded:
                    found.append(f"{name} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name} links to {link}, which is not there")
            elif target in pages and "=" not in parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {link}, which has no such anchor")
    for sheet in (path for path in folder.rglob("*.css") if "lite" not in path.parts):
        text = sheet.read_text("utf-8")
        found += [
            f"{sheet.name} loads from the network"
            for word in ("url(http", "url(//", "@import url", '@import "http')
            if word in text
        ]
    return found
