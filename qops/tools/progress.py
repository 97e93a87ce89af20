"""A line on stderr that says what is being tried, shown once the work has taken a second."""

import sys
from time import monotonic
from typing import Self

__all__ = ["Progress"]

_PATIENCE = 1.0  # seconds before the line is shown
_EVERY = 0.1  # seconds between two changes of it


class Progress:
    """Call it with words, and it shows the last of them, unless the work is quick or stderr is not a terminal."""

    def __init__(self) -> None:
        self._next = monotonic() + _PATIENCE
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __call__(self, words: str) -> None:
        """Show words, if the last ones have been shown long enough.

        Parameters
        ----------
        words : str
            What is being done now.
        """
        now = monotonic()
        if now >= self._next and sys.stderr.isatty():
            self._show(words[:70])
            self._next = now + _EVERY

    def __exit__(self, *why: object) -> None:
        if self._width:
            self._show("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _show(self, words: str) -> None:
        sys.stderr.write(f"\r{words.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(words)
