"""nnlib's Quantize and AutoQuantize: the kernels of the vector unit, and (``_ref``) those in plain C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import quantize as kernels
from qops._kernels.stage.range import range_float
from qops.checks import U8, float32s, output, span
from qops.qtensor import QTensor, tensor

__all__ = ["auto_quantize", "auto_quantize_ref", "quantize", "quantize_ref"]


def quantize(x: ArrayLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Quantize: as `quantize_ref`, but in integers of about 19 bits, on the vector unit.

    If min < 0, `adjust_minmax_for_zero` first moves one end of the range, to put 0 on a code. Then all numbers are
    shifted to the exponent of the range: ``fixed(v)`` is the 24-bit mantissa of v, shifted right by ``exponent(width) +
    4 - exponent(v)``, with the sign of v. Here ``width = (max - min) * 256 / 255``, and ``//`` rounds down::

        c = sat_u16((fixed(x) + offset) * scaling >> 16) >> 8
        offset = |fixed(min)| + fixed(width) // 512                  # the second term is half a step
        scaling = (2**32 - 1) // fixed(width)

    Parameters
    ----------
    x : array_like of real numbers
        Read as float32; real values.
    min, max : float
        The requested range.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes and the adjusted range.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range wider than float32. NaN and infinity are data.

    See Also
    --------
    quantize_ref : error 0.5 LSB; here it is 0.53, and up to 0.4 % of the codes differ by 1.

    Notes
    -----
    Source: ``quantize_execute_opt``, ``op_quantize.c``; ``autoquantize_h.S``.

    **Hazards.** Values a little beyond the range saturate, but from about 5000 times the range on the sum wraps:

    >>> qops.nnlib.quantize(np.array([-2, 2, -1e4, 1e4], np.float32), -1.0, 1.0).data
    array([  0, 255, 255,   0], dtype=uint8)

    A range above 0 is not widened to hold 0, and its min is added, though it should be subtracted:

    >>> qops.nnlib.quantize(np.array([1, 2], np.float32), 1.0, 2.0).data  # not 0, 255
    array([255, 255], dtype=uint8)

    NaN and infinity get codes like any other number:

    >>> qops.nnlib.quantize(np.array([np.nan, np.inf], np.float32), -1.0, 1.0).data
    array([255, 254], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantize(np.array([-1, 0, 0.5, 1], np.float32), -1.0, 1.0)
    QTensor(np.uint8([0, 127, 190, 254]), -1.0, 1.0078740119934082)
    """
    lo, hi = span(min, max)
    return _quantized(float32s(x, "x"), kernels.quantize, lo, hi, out)


def quantize_ref(x: ArrayLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Quantize_ref: ``c = sat_u8(half_away((x - min) * (255 / (max - min))))``, in the range that `adjust_range` gives.

    Parameters
    ----------
    x, min, max, out
        As `quantize` takes them.

    Returns
    -------
    QTensor
        uint8 codes and the adjusted range.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range wider than float32; as in the original, one that does
        not hold 0 or is narrower than 1e-8.

    Notes
    -----
    Source: ``quantize_execute_ref``, ``op_quantize.c``.

    **Hazards.** It refuses ranges that `quantize` takes, so a graph may run on the vector unit and fail in plain C:

    >>> qops.nnlib.quantize_ref(np.array([1, 2], np.float32), 1.0, 2.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: min, max: (1.0, 2.0) does not hold 0 ...

    Examples
    --------
    >>> qops.nnlib.quantize_ref(np.array([-1, 0, 0.5, 1], np.float32), -1.0, 1.0)
    QTensor(np.uint8([0, 127, 191, 254]), -1.0, 1.0078740119934082)
    """
    lo, hi = span(min, max)
    values = float32s(x, "x")
    if kernels.refused(lo, hi):
        raise bad_value(
            "min, max", f"({min}, {max}) does not hold 0 or is narrower than 1e-8, which the original refuses"
        )
    return _quantized(values, kernels.quantize_ref, lo, hi, out)


def auto_quantize(x: ArrayLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """AutoQuantize: `quantize` in the range of the data and 0.

    Parameters
    ----------
    x : array_like of real numbers
        Read as float32; real values, all finite.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        As `quantize` returns it.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); data that are not finite, as in the original; a range of the data
        that is wider than float32.

    Notes
    -----
    Source: ``autoquantize_execute_opt``, ``op_quantize.c``; ``autoquantize_h.S``.

    **Hazards.** Data that are all 0 give a range 1e-18 wide here, and one 1e-4 wide with `auto_quantize_ref`:

    >>> zeros = np.zeros(1, np.float32)
    >>> qops.nnlib.auto_quantize(zeros).max, qops.nnlib.auto_quantize_ref(zeros).max
    (1.000000045813705e-18, 9.999999747378752e-05)

    Examples
    --------
    >>> qops.nnlib.auto_quantize(np.array([-1, 0, 1], np.float32))
    QTensor(np.uint8([0, 127, 254]), -1.0, 1.0078740119934082)
    """
    return _auto(x, kernels.quantize, 0.0, out)


def auto_quantize_ref(x: ArrayLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """AutoQuantize_ref: `quantize_ref` in the range of the data and 0, made at least 1e-4 wide.

    Parameters
    ----------
    x, out
        As `auto_quantize` takes them.

    Returns
    -------
    QTensor
        As `quantize_ref` returns it.

    Raises
    ------
    TypeError, ValueError
        As `auto_quantize`.

    Notes
    -----
    Source: ``autoquantize_execute``, ``op_quantize.c``.

    **Hazards.** Data much smaller than 1e-4 lose all their codes:

    >>> qops.nnlib.auto_quantize_ref(np.array([0, 1e-7], np.float32)).data
    array([0, 0], dtype=uint8)
    """
    return _auto(x, kernels.quantize_ref, 1e-4, out)


Kernel: TypeAlias = Callable[[NDArray[Any], float, float, NDArray[Any]], tuple[float, float] | None]


def _auto(x: ArrayLike, kernel: Kernel, narrowest: float, out: NDArray[np.uint8] | None) -> QTensor:
    values = float32s(x, "x")
    lowest, highest, finite = range_float(values)
    if not finite:
        raise bad_value("x", "has NaN or infinite values, which the original refuses")
    lo, hi = kernels.range_of_data(lowest, highest, narrowest)
    return _quantized(values, kernel, lo, hi, out, "x", "its range ")


def _quantized(
    values: NDArray[Any],
    kernel: Kernel,
    lo: float,
    hi: float,
    out: NDArray[np.uint8] | None,
    name: str = "min, max",
    words: str = "",
) -> QTensor:
    codes = output(out, U8, values)
    ends = kernel(values, lo, hi, codes)
    if ends is None:
        raise bad_value(name, f"{words}({lo}, {hi}) is wider than float32")
    return tensor(codes, *ends)
