"""Public functions whose body is compiled: a call goes to the body at once, which saves a third of the time.

The loops in the bodies are there once for each kind of CPU, called a tier, of which `isa_tier` tells the name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from qops._kernels.machine import tiers as _tiers
from qops._kernels.machine.immortal import immortal as _immortal

__all__ = ["compiled", "isa_tier"]

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
        return cast(_Public, _immortal(update_wrapper(body, definition)))

    return take


@compiled(_tiers.name)
def isa_tier() -> str:
    """Name of the tier of SIMD lanes in use.

    It is the best one that the CPU has: "avx2", "avxvnni", "avx512", "vnni" or "amx" on x86, "neon", "dotprod" or
    "i8mm" on ARM, and "plain", which is no lanes at all, elsewhere. The environment variable QOPS_ISA names another
    one.

    Returns
    -------
    str

    Examples
    --------
    >>> isa_tier() in ("plain", "avx2", "avxvnni", "avx512", "vnni", "amx", "neon", "dotprod", "i8mm")
    True
    """
