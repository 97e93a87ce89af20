"""`Prepared`, what all prepared ops are: made once of all that is not data, then called with the data.

A prepared op has the name of its function in CamelCase: ``rules.Requantize`` beside ``rules.requantize``. Its
constructor checks its arguments, makes the integers and packs the weights. After that nothing of it changes, so threads
may share it. ``op(x, out=None)`` checks the arrays and runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature, unwrap
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from qops._kernels.arrays.checks import as_array
from qops._kernels.arrays.direct import Direct
from qops._kernels.machine.host import check as check_rounding
from qops._readable import in_lines, shown

__all__ = ["Prepared"]

Call = TypeVar("Call", bound=Callable[..., Any])


class Prepared:
    """Base of prepared ops: shows itself as one would type it, pickles, and has no attributes that can be set.

    Each argument of the constructor is an attribute of its name, unless the class defines another one. A subclass has a
    ``__slots__``, and defines `_prepare`. Its ``__init__`` calls ``self._make(locals())``, which copies the arguments
    and prepares the op; its function makes an op for one call by ``_once(locals())``. Both take the constructor's
    arguments by their names out of all local names.
    """

    __slots__ = ("_arguments",)

    _arguments: Mapping[str, Any]
    """The constructor's arguments by their names; an op for a single call has all names of the function here."""
    _argument_names: ClassVar[tuple[str, ...]]
    """Those of the constructor, in the order of its parameters."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An argument of the constructor."""

    def __init_subclass__(cls) -> None:
        """Make the public slots read-only once the op is made, and an attribute of each argument."""
        for name in vars(cls).get("__slots__", ()):
            if not name.startswith("_"):
                setattr(cls, name, _read_only(vars(cls)[name]))
        cls._argument_names = _parameter_names(cls)
        for name in cls._argument_names:
            if not hasattr(cls, name):
                setattr(cls, name, argument(name))

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Keep the constructor's arguments, which are among `given`, for attributes, `repr` and `pickle`."""
        self._arguments = {name: given[name] for name in self._argument_names}

    def _make(self, given: Mapping[str, Any]) -> None:
        """Keep the constructor's arguments, which are among `given`, and of arrays a copy; then prepare the op."""
        check_rounding()
        self._keep({name: _own(given[name], name) for name in self._argument_names})
        self._prepare(once=False)

    @classmethod
    def _once(cls, given: Mapping[str, Any]) -> Self:
        """Make an op for a single call, of the constructor's arguments among `given`; it reads the caller's arrays."""
        op = cls.__new__(cls)
        op._arguments = given
        op._prepare(once=True)
        return op

    def _prepare(self, once: bool) -> None:
        """Check `_arguments` and prepare what calls need, for a single call or for many."""
        raise NotImplementedError

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for data of this shape.

        Parameters
        ----------
        shape : tuple of int

        Returns
        -------
        tuple of int

        Raises
        ------
        ValueError
            A shape that does not fit.
        """
        return self._shape(shape)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), tuple(arguments(self)))

    def __repr__(self) -> str:
        """Show the call of the constructor: arguments by position, then by name those that are not the default."""
        words = []
        for parameter, value in zip(parameters(type(self)), arguments(self), strict=True):
            by_name = parameter.kind is Parameter.KEYWORD_ONLY or parameter.default is not Parameter.empty
            if parameter.default is Parameter.empty or not _is(value, parameter.default):
                words.append(f"{parameter.name}={shown(value)}" if by_name else shown(value))
        return in_lines(f"{type(self).__name__}(", words)


def direct(call: Call) -> Call:
    """Make the `__call__` of a prepared op with a `_kernel` that takes the same arguments: its calls go to that.

    Where `_kernel` is None, `call` runs.
    """
    made: Call = Direct(call)
    return made


def arguments(op: Prepared) -> list[Any]:
    """Give the constructor's arguments, in the order of its parameters."""
    return [op._arguments[name] for name in op._argument_names]


def argument(name: str) -> property:
    """Make the property of a prepared op that gives its constructor's argument of this name."""
    return property(lambda op: op._arguments[name], doc="As the constructor got it; an array is read-only.")


def _own(value: Any, name: str) -> Any:
    """Give an argument that nobody else can change: of an array a copy, of a list of integers a tuple."""
    if value is None or isinstance(value, (int, float, str, np.generic, np.dtype)):
        return value
    if isinstance(value, type):
        return np.dtype(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value):
        return tuple(value)
    copy = as_array(value, name).copy()
    copy.flags.writeable = False
    return copy


def _read_only(slot: Any) -> property:
    """The attribute that a slot holds, which the constructor may set, and nobody after it."""

    def set_in_constructor(op: Prepared, value: Any) -> None:
        if hasattr(op, "_arguments"):
            raise AttributeError(f"{type(op).__name__}: a prepared op does not change; make another one")
        slot.__set__(op, value)

    return property(slot.__get__, set_in_constructor, doc="")  # its class describes it


def _parameter_names(kind: type[Prepared]) -> tuple[str, ...]:
    """Give the names of the constructor's parameters, in a hundredth of the time of its signature."""
    code = getattr(unwrap(kind.__init__), "__code__", None)  # a base has none
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount] if code else ()


def parameters(kind: type[Prepared]) -> list[Parameter]:
    """Give the arguments of the constructor of a class of prepared ops."""
    return [*signature(kind.__init__).parameters.values()][1:]


def _remade(kind: type[Prepared], arguments: tuple[Any, ...]) -> Prepared:
    return kind(**dict(zip(kind._argument_names, arguments, strict=True)))


def _is(value: Any, default: Any) -> bool:
    """Whether an argument is its default; an array never is, a dtype may be given by its name."""
    if isinstance(value, np.ndarray) or default is None:
        return value is default
    return (type(value) is type(default) or isinstance(value, np.dtype)) and bool(value == default)
