"""Errors that go on under another name of the argument."""

from typing import Any

__all__ = ["renamed"]


def renamed(error: Exception, name: str) -> Exception:
    """Give an error of another room, whose text begins with its own name of an argument, with the caller's name of it.

    The attribute ``argument`` of the error that is given is the name.

    Examples
    --------
    >>> from qops._errors import renamed
    >>> error = renamed(ValueError("scale: expected a number above 0"), "y_scale")
    >>> error, error.argument
    (ValueError('y_scale: expected a number above 0'), 'y_scale')
    """
    made: Any = type(error)(f"{name}: {str(error).partition(': ')[2]}")
    made.argument = name
    return made
