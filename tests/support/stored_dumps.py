"""The stored results of real systems as dumps for `qops.explain`: what the adaptors of the golden vectors call."""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from npz import read_npz

from qops import rules

GOLDEN = Path(__file__).parents[1] / "golden"
SYSTEMS = ("rules", "rules_arm", "rules_avx2", "runtimes")
KINDS = ("requantize", "add", "mul", "quantize", "average_pool")
_PAIRS = ("add", "mul")
_MADE_OF = ("in_scale", "w_scale", "out_scale")


class Stored(NamedTuple):
    """One call of a rule that gives what a system gave.

    Attributes
    ----------
    id : str
        Of the case.
    kind : str
        What `explain` calls the op.
    rule : str
        The right rule.
    x, b, y : ndarray
        The inputs and the result of the system; `b` is None with one input.
    numbers : dict
        The numbers by the names of `explain`.
    """

    id: str
    kind: str
    rule: str
    x: Any
    b: Any
    y: Any
    numbers: dict[str, Any]


@contextmanager
def _recorded(calls):
    """Adaptors whose calls of rules are written down: imported anew, as some hold a function of `rules`."""
    own = {kind: getattr(rules, kind) for kind in KINDS}
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "adaptors"}

    def recorder(kind):
        def call(*arguments, **how):
            y = own[kind](*arguments, **how)
            calls.append((kind, arguments, how, y))
            return y

        return call

    for name in kept:
        del sys.modules[name]
    try:
        for kind in KINDS:
            setattr(rules, kind, recorder(kind))
        yield {system: importlib.import_module(f"adaptors.{system}").ADAPTORS for system in SYSTEMS}
    finally:
        for kind, function in own.items():
            setattr(rules, kind, function)
        for name in [name for name in sys.modules if name.split(".")[0] == "adaptors"]:
            del sys.modules[name]
        sys.modules.update(kept)


def sets():
    """The system and the name of each set of which an adaptor calls rules."""
    return [(system, file.stem) for system in SYSTEMS for file in sorted((GOLDEN / system).glob("*.json"))]


def dumps(system, name):
    """Each call of a rule by the cases of a set, whose result is that of the system."""
    path = GOLDEN / system / name
    arrays, calls = read_npz(path.with_suffix(".npz")), []
    with _recorded(calls) as adaptors:
        for case in json.loads(path.with_suffix(".json").read_text()):
            attrs = {"system": case.get("system", ""), "rule": case["rule"], **case["attrs"]}
            inputs, wanted = ({key: arrays[k] for key, k in case[part].items()} for part in ("inputs", "outputs"))
            for vnni in (False, True) if system == "rules_avx2" else (False,):
                calls.clear()
                adaptors[system][name](inputs, attrs | {"vnni": vnni})
                for kind, arguments, how, y in calls:
                    if any(_same(y, stored) for stored in wanted.values()):
                        yield _dump(case["id"], kind, arguments, dict(how), y, attrs | inputs)


def _same(y, stored):
    return y.dtype == stored.dtype and y.size == stored.size and y.tobytes() == stored.tobytes()


def _dump(id, kind, arguments, how, y, said):
    x, *more = arguments
    b = more.pop(0) if kind in _PAIRS else None
    rule = more[0] if more else how.pop("rule")
    how.pop("dtype", None)
    numbers = _of_scales(how, said) if kind == "requantize" else how
    if isinstance(numbers.get("range"), tuple):
        numbers |= dict(zip(("rmin", "rmax"), numbers.pop("range"), strict=True))
    if kind == "quantize" and "rmin" not in numbers:
        numbers.setdefault("zero_point", 0)
    kept = {key: value for key, value in numbers.items() if value is not None}
    return Stored(id, kind, rule, np.asarray(x), b, y, kept)


def _of_scales(how, said):
    """The three scales where the system has them, whatever the adaptor made of these."""
    if "scale" in how and "derive" in said and all(name in said for name in _MADE_OF):
        del how["scale"]
        return {**{name: said[name] for name in _MADE_OF}, **how}
    if "scales" in how:
        return {**dict(zip(_MADE_OF, how.pop("scales"), strict=True)), **how}
    return how
