"""Text of C99: names, numbers, arrays, comments, of anything that a model file may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from qops.rules.c_source import emit_all
from qops.tools.params.texts import TEXTS

__all__ = ["array", "comment", "constants", "inline_rules", "names", "rules_text"]

_COLUMN = 100
_TYPES = {"float32": "float", "float64": "double"}
_LOWEST = {str(x): f"({x + 1} - 1)" for x in (-(2**31), -(2**63))}  # what C has no literal for


def names(wanted: Iterable[str]) -> list[str]:
    """Give names that C can have, each another one."""
    found: list[str] = []
    for name in wanted:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if re.match(r"[A-Za-z]", plain) else f"layer_{plain}"
        own, i = plain, 1
        while own in found:
            own, i = f"{plain}_{i}", i + 1
        found.append(own)
    return found


def comment(text: str) -> str:
    """Give words as a comment, whatever is in them."""
    plain = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return f"/* {plain.replace('*/', '* /').replace('??', '? ?')} */"


def _numbers(values: Any) -> list[str]:
    """Numbers of one type in C, exactly."""
    flat = np.asarray(values).reshape(-1)
    if flat.dtype.kind == "f":
        if not np.isfinite(flat).all():
            raise ValueError(f"no finite number: {flat[~np.isfinite(flat)][0]}")
        return [x.hex() + "f" * (flat.dtype == np.float32) for x in flat.tolist()]
    words = [*map(str, flat.astype(np.int64).tolist())]
    return words if _LOWEST.keys().isdisjoint(words) else [_LOWEST.get(word, word) for word in words]


def array(name: str, values: Any) -> str:
    """Give an array as a constant, with its shape if it has more than one axis.

    Parameters
    ----------
    name : str
        Its name.
    values : ndarray
        Integers or floats.

    Returns
    -------
    str
    """
    words = f" {', '.join(_numbers(values))},"
    lines = [f"   {line}" for line in re.findall(rf" .{{1,{_COLUMN - 5}}},", words) or [""]]  # as long as they may be
    kind = _TYPES.get(values.dtype.name, f"{values.dtype.name}_t")
    shape = f" {comment(' x '.join(map(str, values.shape)))}" if values.ndim > 1 else ""
    return "\n".join([f"static const {kind} {name}[{values.size}] = {{{shape}", *lines, "};"])


def constants(name: str, values: Mapping[str, Any]) -> str:
    """Give constants of one layer: integers as an enum, floats and arrays as const.

    Parameters
    ----------
    name : str
        What their names begin with.
    values : dict
        Integers, floats and arrays.

    Returns
    -------
    str
    """
    whole, rest = [], []
    for key, value in values.items():
        if isinstance(value, np.ndarray) and value.ndim:
            rest.append(array(f"{name}_{key}", value))
        elif isinstance(value, np.ndarray | np.floating | float) and np.asarray(value).dtype.kind == "f":
            kind = _TYPES[np.asarray(value).dtype.name]
            rest.append(f"static const {kind} {name}_{key} = {_numbers(value)[0]};")
        else:
            whole.append(f"    {name}_{key} = {_numbers(value)[0]},")
    return "\n".join([*(["enum {", *whole, "};"] if whole else []), *rest, ""])


def rules_text(rules: Iterable[str]) -> str:
    """Give rules in C with their helpers; "" for none."""
    rows = list(dict.fromkeys(rules))
    text = emit_all(row for row in rows if row not in TEXTS)
    return "\n".join(["#include <math.h>", text, *(more for name, more in TEXTS.items() if name in rows)])


def inline_rules(text: str) -> str:
    """Make functions inline, as those of a header must be that a program need not all call."""
    return re.sub(r"^static ((?:u?int\d+_t|int|float|void) \w+\()", r"static inline \1", text, flags=re.M)
