"""Keywords that an op of our own does not have, and names that a room does not have: errors with the nearest.

Python names a near keyword itself from 3.13 on. Before that a misspelt keyword never reaches a function that does not
take it, so these functions end their arguments with ``**unknown: Never``, which lets no type checker pass one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any, TypeVar

from qops._kernels.arrays.nearest import did_you_mean
from qops._kernels.arrays.refusal import about

__all__ = ["no_attribute", "refusing_unknown", "unknown_keyword"]

Op = TypeVar("Op", bound=Callable[..., Any])


def refusing_unknown(op: Op) -> Op:
    """Give `op` itself. Its signature, which help shows, then leaves out the keywords that it refuses."""
    written = signature(op)
    taken = [p for p in written.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    vars(op)["__signature__"] = written.replace(parameters=taken)
    return op


def unknown_keyword(op: Callable[..., Any], unknown: Mapping[str, object]) -> TypeError:
    """Make the error for the first of the unknown keywords. It names the nearest one that `op` has, or all of them."""
    word, names = next(iter(unknown)), [*signature(op).parameters]
    advice = did_you_mean(word, names) or f". It takes {', '.join(names)}."
    error: TypeError = TypeError(f"{op.__name__}() got an unexpected keyword argument {word!r}{advice}")
    return about(error, word, f"unexpected{advice}")


def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """Make the error for a name that a module does not have; it names the nearest one, in notebooks too."""
    near = "" if name.startswith("_") else did_you_mean(name, names)
    # without `obj`, Python does not add its own question in tracebacks
    return AttributeError(f"module {module!r} has no attribute {name!r}{near}", name=name, obj=None)
