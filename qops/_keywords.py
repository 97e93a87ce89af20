"""Keywords that an op of our own does not have, and names that a room does not have: errors with the nearest.

Python names a near keyword itself from 3.13 on. Before that a misspelt keyword never reaches a function that does not
take it. So functions of the front door, the rules and the tools end their arguments with ``**unknown: Never``, which
lets no type checker pass one. The rooms of the systems call `name_keywords` once instead, and their functions stay as
they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import CO_VARKEYWORDS, Parameter, isclass, signature, unwrap
from types import FunctionType
from typing import Any, TypeVar, cast

from qops._kernels.arrays.nearest import did_you_mean
from qops._kernels.arrays.refusal import about

__all__ = ["name_keywords", "name_keywords_of_class", "no_attribute", "refusing_unknown", "unknown_keyword"]

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


def name_keywords(room: dict[str, Any]) -> None:
    """Have what a room exports name the keyword that is nearest to a misspelt one, where Python does not.

    Each exported function of the room becomes one that calls it, and so does the constructor of each exported class,
    which stays the same class. A call takes some 0.2 us more. From Python 3.13 on nothing is changed.

    Parameters
    ----------
    room : dict
        The names of the room's module.
    """
    if sys.version_info >= (3, 13):
        return
    for name in room["__all__"]:
        if isclass(room[name]):
            name_keywords_of_class(room[name])
        elif _refuses_keywords(room[name]):
            room[name] = _naming(room[name])
            room[name].__module__ = room["__name__"]  # where `pickle` finds it


def name_keywords_of_class(kind: type) -> None:
    """Have the constructor of a class, or of its base, name the keyword that is nearest to a misspelt one."""
    if sys.version_info >= (3, 13):
        return
    word = "__new__" if "__new__" in vars(kind) else "__init__"  # that of a tuple with names is `__new__`
    base = next(base for base in kind.__mro__ if word in vars(base))
    made = vars(base)[word]
    made = made.__func__ if isinstance(made, staticmethod) else made
    if _refuses_keywords(made) and unwrap(made) is made:  # a base is met once for each of its classes
        setattr(base, word, _naming(made))


def _refuses_keywords(op: object) -> bool:
    """Whether it is a function of Python's that takes no keywords but its own."""
    return isinstance(op, FunctionType) and not unwrap(op).__code__.co_flags & CO_VARKEYWORDS


def _naming(op: Op) -> Op:
    """Give a function that calls `op`, or a constructor; of a keyword that it refuses it makes `unknown_keyword`."""

    @wraps(op)
    def naming(*arguments: Any, **keywords: Any) -> Any:
        try:
            return op(*arguments, **keywords)
        except TypeError:
            taken = signature(op)
            unknown = {word: value for word, value in keywords.items() if word not in taken.parameters}
            if not unknown:
                raise
        if op.__name__ in ("__init__", "__new__"):
            raise unknown_keyword(arguments[0] if isclass(arguments[0]) else type(arguments[0]), unknown)
        raise unknown_keyword(op, unknown)

    return cast(Op, naming)


def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """Make the error for a name that a module does not have; it names the nearest one, in notebooks too."""
    near = "" if name.startswith("_") else did_you_mean(name, names)
    # without `obj`, Python does not add its own question in tracebacks
    return AttributeError(f"module {module!r} has no attribute {name!r}{near}", name=name, obj=None)
