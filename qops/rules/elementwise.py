"""Add and multiply by a rule's name: two tensors of 8-bit codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.numbers import are_plain
from qops._kernels.stage.calls import KnownPairs
from qops._kernels.stage.pair_stage import PairCodes
from qops.codes import of_dtype
from qops.qtensor import as_array, choice, integer, number, output
from qops.rules.pairs import ADD, MUL, Operands

__all__ = ["add", "mul"]

Array = NDArray[Any]
_NAMES = ("a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale", "y_zero_point")


_TABLES = {"add": ADD, "mul": MUL}
_KNOWN = {"add": KnownPairs(), "mul": KnownPairs()}


def _checked(scale: float, zero_point: int, name: str, lo: int, hi: int) -> tuple[float, int]:
    value = number(scale, f"{name}_scale")
    if not value > 0:
        raise ValueError(f"{name}_scale: expected a number above 0, got {value}")
    return value, integer(zero_point, f"{name}_zero_point", lo, hi)


@lru_cache(maxsize=256, typed=True)
def _made(table: str, rule: str, x: Any, y: Any, *numbers: Any) -> PairCodes:
    """What makes the codes of dtypes x and y. It is kept for the next call with the same arguments."""
    rules = _TABLES[table]
    name = choice(rule.removeprefix(f"{table}/"), "rule", rules)
    row = rules[name]
    for dtype, word in ((x, "a"), (y, "b")):
        if dtype not in (np.uint8, np.int8) and not (row.takes_int16 and dtype == np.int16):
            wide = ", ".join(key for key, other in rules.items() if other.takes_int16)
            raise TypeError(f"{word}: expected uint8 or int8 data, or int16 by {wide}, got {dtype}")
    if x != y:
        raise TypeError(f"b: expected {x} data as a, got {y}")
    codes = of_dtype(x)
    ends = codes.lowest, codes.highest
    zeros = (0, 0) if codes.dtype.itemsize > 1 else ends
    sides = [_checked(numbers[2 * i], numbers[2 * i + 1], side, *zeros) for i, side in enumerate("aby")]
    p = Operands(*sides[0], *sides[1], *sides[2], *ends)
    try:
        with np.errstate(all="ignore"):  # what is beyond float32 is refused
            made = row.made(p)
            return made.with_tail(row.width, rules[row.tail].made(p)) if row.tail else made
    except ValueError as why:
        scales = ", ".join(str(scale) for scale, _ in sides)
        raise ValueError(f"a_scale, b_scale, y_scale: {scales} are out of the range of {name}: {why}") from None


def _pair(table: str, a: ArrayLike, b: ArrayLike, rule: object, out: Any, *numbers: Any) -> Array:
    x, y = as_array(a, "a"), as_array(b, "b")
    if not are_plain(numbers):
        asked = zip((number, integer) * 3, numbers, _NAMES, strict=True)
        numbers = tuple(check(value, word) for check, value, word in asked)
    run = _made(table, rule if isinstance(rule, str) else repr(rule), x.dtype, y.dtype, *numbers)
    if x.shape != y.shape:
        raise ValueError(f"a, b: expected equal shapes, got {x.shape} and {y.shape}")
    result = output(out, x.dtype.num, x, y)
    run(x, y, result)
    _KNOWN[table].keep(run, x, rule, *numbers)
    return result


def add(
    a: ArrayLike,
    b: ArrayLike,
    rule: str,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add two tensors of 8-bit codes, or of 16 bits, by the rule of a real system, to the bit.

    In real numbers ``y_scale*(y - y_zero_point) = a_scale*(a - a_zero_point) + b_scale*(b - b_zero_point)``. `ADD` has
    the formula that each rule computes for it in integers or floats.

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape. int16 is for tflite-double and tflite-single, with zero points of 0. Rules
        with a `PairRule.tail` compute the last elements, in row-major order, in another way.
    rule : str
        A name in `ADD`.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``; those of the result are y's.
    out : ndarray of the dtype of `a`, optional
        Where the codes are written; of the shape of `a`.

    Returns
    -------
    ndarray of the dtype of `a`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, other dtypes, shapes that differ, a scale that is not above 0, a zero point that is no
        code, an `out` that does not fit or overlaps an input.

    Notes
    -----
    Sources: `ADD` names the systems; TFLite ``add.h``, XNNPACK ``qs8-vadd``, onnxruntime ``qladd.cpp``, QNNPACK, torch
    ``qadd``.

    Examples
    --------
    >>> import numpy as np
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.uint8([0, 1, 2, 3]), np.uint8([1, 1, 1, 1])  # 0.5, 1, 1.5, 2
    >>> add(a, b, "xnnpack", **how), add(a, b, "ort-x86", **how)
    (array([4, 4, 5, 5], dtype=uint8), array([4, 4, 4, 5], dtype=uint8))
    """
    numbers = a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point
    made = _KNOWN["add"](a, b, out, rule, *numbers)
    return _pair("add", a, b, rule, out, *numbers) if made is None else made


def mul(
    a: ArrayLike,
    b: ArrayLike,
    rule: str,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply two tensors of 8-bit codes, or of 16 bits, by the rule of a real system, to the bit.

    In real numbers ``y_scale*(y - y_zero_point) = a_scale*(a - a_zero_point) * b_scale*(b - b_zero_point)``. `MUL` has
    the formula that each rule computes for it in integers or floats.

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape. int16 is for tflite-double and tflite-single, with zero points of 0.
    rule : str
        A name in `MUL`.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``; those of the result are y's.
    out : ndarray of the dtype of `a`, optional
        Where the codes are written; of the shape of `a`.

    Returns
    -------
    ndarray of the dtype of `a`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, other dtypes, shapes that differ, a scale that is not above 0, a zero point that is no
        code, an `out` that does not fit or overlaps an input.

    Notes
    -----
    Sources: `MUL` names the systems; TFLite ``mul.h``, XNNPACK ``qs8-vmul``, onnxruntime ``qlmul.cpp``, torch ``qmul``.

    Examples
    --------
    >>> import numpy as np
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.uint8([1, 3, 5]), np.uint8([1, 1, 1])  # 0.5, 1.5, 2.5
    >>> [mul(a, b, rule, **how).tolist() for rule in ("tflite-double", "fp32-even", "ort-x86")]
    [[4, 5, 6], [3, 5, 5], [4, 4, 6]]
    """
    numbers = a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point
    made = _KNOWN["mul"](a, b, out, rule, *numbers)
    return _pair("mul", a, b, rule, out, *numbers) if made is None else made
