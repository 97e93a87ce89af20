"""Errors about an argument: the one place that makes them. Each carries the name of the argument."""

from __future__ import annotations

from typing import Any

__all__ = ["about", "bad_type", "bad_value", "renamed"]


def bad_value(argument: str, reason: str) -> ValueError:
    """Give a ValueError about an argument.

    Parameters
    ----------
    argument : str
        The caller's name of it, or several names with commas between them.
    reason : str
        What is wrong with it.

    Returns
    -------
    ValueError
        Its text is ``argument: reason``; its attributes ``argument`` and ``reason`` are these two.

    Examples
    --------
    >>> from qops._kernels.arrays.refusal import bad_value
    >>> error = bad_value("scale", "expected a number above 0, got -1.0")
    >>> error, error.argument
    (ValueError('scale: expected a number above 0, got -1.0'), 'scale')
    """
    return about(ValueError(f"{argument}: {reason}"), argument, reason)


def bad_type(argument: str, reason: str) -> TypeError:
    """Give a TypeError about an argument, see `bad_value`.

    Parameters
    ----------
    argument, reason : str

    Returns
    -------
    TypeError
    """
    return about(TypeError(f"{argument}: {reason}"), argument, reason)


def renamed(error: Exception, argument: str) -> Exception:
    """Give an error about an argument of another room with the caller's name of that argument.

    Parameters
    ----------
    error : Exception
        One of `bad_value` or `bad_type`. Any other is given as it is.
    argument : str
        The caller's name of the argument.

    Returns
    -------
    Exception
        An error of the same type.

    Examples
    --------
    >>> from qops._kernels.arrays.refusal import bad_value, renamed
    >>> error = renamed(bad_value("scale", "expected a number above 0"), "y_scale")
    >>> error, error.argument
    (ValueError('y_scale: expected a number above 0'), 'y_scale')
    """
    reason = getattr(error, "reason", None)
    if reason is None or not isinstance(error, (ValueError, TypeError)):
        return error
    return bad_type(argument, reason) if isinstance(error, TypeError) else bad_value(argument, reason)


def about(error: Any, argument: str, reason: str) -> Any:
    """Give an error, of which these are the name of the argument and what is wrong with it."""
    error.argument, error.reason = argument, reason
    return error
