"""Reads the tensors of a device from a log in which they are printed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_of", "numbers_in"]

_ORT = re.compile(r"(?:In|Out)put \d+ Name: (.+)")
_NAMED = re.compile(r"(?:[\w*]+ +)*([^\s=:\[\]]+(?::\d+)?)(?:\[\d*\])*\s*[:=](?=[\s\[({]|$)(.*)")
_WORDS = re.compile(r"(?i)(?!nan|inf)[a-z]{2,}|--")
_AROUND = " \t\n,;[](){}"
_BESIDE = ("Shape", "Placement")
"""What onnxruntime says beside the numbers."""


def numbers_in(text: str) -> NDArray[Any]:
    """Give printed numbers, between which are blanks, commas or other marks, in any brackets.

    Returns
    -------
    ndarray of int64 or float64
        Integers, if all are whole.

    Raises
    ------
    ValueError
        Words that are no numbers.
    """
    values = np.array([float(word) for word in re.split(r"[\s,;\[\](){}]+", text) if word])
    whole = values.size > 0 and bool((np.abs(values) < 2**53).all()) and bool((values == np.trunc(values)).all())
    return values.astype(np.int64) if whole else values


def log_of(text: str) -> dict[str, NDArray[Any]]:
    """Read the tensors that are printed in a log.

    A tensor is ``NAME: numbers``, ``NAME = {numbers};``, or as onnxruntime prints it, on one line or more. Any other
    line ends it.

    Raises
    ------
    ValueError
        A tensor that is shortened, or is there twice with other numbers.
    """
    found: dict[str, list[list[str]]] = {}
    lines: list[str] | None = None  # of the tensor that is being printed
    for line in map(str.strip, text.splitlines()):
        own = _ORT.fullmatch(line)
        named = own or _NAMED.fullmatch(line)
        if named and named[1] not in _BESIDE:
            lines = ["" if own else named[2]]
            found.setdefault(named[1], []).append(lines)
        elif named is None and _WORDS.search(line):
            lines = None
        elif named is None and lines is not None:
            lines.append(line)
    return {name: array for name, each in found.items() if (array := _one(name, each)) is not None}


def _one(name: str, each: list[list[str]]) -> NDArray[Any] | None:
    """Give the numbers of a tensor; None if there are none."""
    kept = [text for text in map("\n".join, each) if text.strip(_AROUND)]
    if any("..." in text and re.search(r"\d", text) for text in kept):
        raise ValueError(f"{name!r} is shortened; print all of it (ORT_DEBUG_NODE_IO_SNIPPET_THRESHOLD=0)")
    arrays = []
    for text in kept:
        try:
            arrays.append(numbers_in(text))
        except ValueError:
            continue  # words that a line of the log has behind its colon
    if any(x.size > 1 and not np.array_equal(x, arrays[-1], equal_nan=True) for x in arrays):
        raise ValueError(f"{name!r} is there {len(arrays)} times, with other numbers: give the log of one run")
    return arrays[-1] if arrays else None
