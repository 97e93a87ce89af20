"""Keywords that an op of the front door does not have: the error names the nearest one.

Python does so itself from 3.13 on. Before that a misspelt keyword never reaches a function that does not take it, so
these functions end their arguments with ``**unknown: Never``, which lets no type checker pass one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, TypeVar

from qops._kernels.arrays.nearest import did_you_mean

__all__ = ["refusing_unknown", "unknown_keyword"]

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
    return TypeError(f"{op.__name__}() got an unexpected keyword argument {word!r}{advice}")
