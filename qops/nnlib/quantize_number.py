"""nnlib's three functions that give the code of one number."""

from __future__ import annotations

from qops._kernels.nnlib import ranges as kernels
from qops.checks import real, span
from qops.codes import TABLE

__all__ = ["HIGHEST", "quantize_int", "quantize_uint", "quantize_uint8"]

HIGHEST = TABLE["u8"].highest


def quantize_int(x: float, min: float, max: float) -> int:
    """Give the code of a number, ``half_away((x - min) * (255 / max(1e-18, max - min)))``, not cut to 0..255.

    Parameters
    ----------
    x, min, max : float
        The number, and the real values of the codes 0 and 255.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``quantize_int``, ``quantize.h``.

    Examples
    --------
    >>> qops.nnlib.quantize_int(3.0, 0.0, 2.0), qops.nnlib.quantize_int(-1.0, 0.0, 2.0)
    (383, -128)
    """
    lo, hi = span(min, max)
    return kernels.quantized(real(x, "x"), lo, hi)


def quantize_uint(x: float, min: float, max: float) -> int:
    """Give the code of a number as `quantize_int` does, but at least 0.

    Parameters
    ----------
    x, min, max
        As `quantize_int` takes them.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``quantize_uint``, ``quantize.h``.

    **Hazards.** The result need not be a code of 8 bits:

    >>> qops.nnlib.quantize_uint(3.0, 0.0, 2.0), qops.nnlib.quantize_uint(-1.0, 0.0, 2.0)
    (383, 0)
    """
    code = quantize_int(x, min, max)
    return code if code > 0 else 0


def quantize_uint8(x: float, min: float, max: float) -> int:
    """Give the code of a number as `quantize_int` does, but at least 0 and at most 255.

    Parameters
    ----------
    x, min, max
        As `quantize_int` takes them.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``quantize_uint8``, ``quantize.h``.

    Examples
    --------
    >>> qops.nnlib.quantize_uint8(1.0, 0.0, 2.0), qops.nnlib.quantize_uint8(3.0, 0.0, 2.0)
    (128, 255)
    """
    code = quantize_uint(x, min, max)
    return code if code < HIGHEST else HIGHEST
