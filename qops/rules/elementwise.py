"""Add and multiply by a rule's name: two tensors of 8-bit codes, each with its scale and zero point, into a third."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.codes import of as code_type
from qops.qtensor import as_array, check_out, integer, number
from qops.rules.pairs import ADD, MUL, Operands, PairRule, codes_of

__all__ = ["add", "mul"]

Array = NDArray[Any]


def _checked(scale: object, zero_point: object, name: str, lo: int, hi: int) -> tuple[float, int]:
    value = number(scale, f"{name}_scale")
    if not value > 0:
        raise ValueError(f"{name}_scale: expected a number above 0, got {value}")
    return value, integer(zero_point, f"{name}_zero_point", lo, hi)


def _pair(
    table: dict[str, PairRule], prefix: str, a: ArrayLike, b: ArrayLike, rule: object, numbers: dict[str, Any], out: Any
) -> Array:
    name = rule.removeprefix(prefix) if isinstance(rule, str) else rule
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"rule: {rule!r:.80} is none of {', '.join(table)}")
    x, y = as_array(a, "a"), as_array(b, "b")
    for data, word in ((x, "a"), (y, "b")):
        if data.dtype not in (np.uint8, np.int8) and not (table[name].takes_int16 and data.dtype == np.int16):
            wide = ", ".join(key for key, row in table.items() if row.takes_int16)
            raise TypeError(f"{word}: expected uint8 or int8 data, or int16 by {wide}, got {data.dtype}")
    if x.dtype != y.dtype:
        raise TypeError(f"b: expected {x.dtype} data as a, got {y.dtype}")
    if x.shape != y.shape:
        raise ValueError(f"a, b: expected equal shapes, got {x.shape} and {y.shape}")
    codes = code_type(x, "a")
    ends = codes.lowest, codes.highest
    values = [
        _checked(numbers[f"{n}_scale"], numbers[f"{n}_zero_point"], n, *((0, 0) if codes.dtype.itemsize > 1 else ends))
        for n in "aby"
    ]
    if out is not None:
        check_out(out, x.dtype.num, x.shape, [x, y])
    p = Operands(*values[0], *values[1], *values[2], codes.lowest, codes.highest)
    with np.errstate(all="ignore"):
        found = codes_of(table, table[name], np.ravel(x), np.ravel(y), p)
    if np.isnan(found).any():
        raise ValueError(f"a_scale, b_scale, y_scale: beyond what {name} computes in float32")
    result = np.empty(x.shape, x.dtype) if out is None else np.asarray(out)
    result[...] = found.reshape(x.shape)
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

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape; int16 for tflite-double and tflite-single, with zero points 0. Some rules
        compute the last elements of an array, in memory order, otherwise.
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
    Sources: `ADD` names the systems; TFLite ``add.h``, XNNPACK ``qs8-vadd``, onnxruntime ``qladd.cpp`` and
    ``qlmul.cpp``, QNNPACK, torch ``qadd``, ``qmul``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.uint8([0, 1, 2, 3]), np.uint8([1, 1, 1, 1])  # 0.5, 1, 1.5, 2
    >>> add(a, b, "xnnpack", **how), add(a, b, "ort-x86", **how)
    (array([4, 4, 5, 5], dtype=uint8), array([4, 4, 4, 5], dtype=uint8))
    """
    numbers = {name: value for name, value in locals().items() if name.endswith(("_scale", "_zero_point"))}
    return _pair(ADD, "add/", a, b, rule, numbers, out)


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

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape; int16 for tflite-double and tflite-single, with zero points 0.
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
    Sources: `MUL` names the systems; TFLite ``mul.h``, XNNPACK ``qs8-vmul``, onnxruntime ``qladd.cpp`` and
    ``qlmul.cpp``, QNNPACK, torch ``qadd``, ``qmul``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.uint8([1, 3, 5]), np.uint8([1, 1, 1])  # 0.5, 1.5, 2.5
    >>> [mul(a, b, rule, **how).tolist() for rule in ("tflite-double", "fp32-even", "ort-x86")]
    [[4, 5, 6], [3, 5, 5], [4, 4, 6]]
    """
    numbers = {name: value for name, value in locals().items() if name.endswith(("_scale", "_zero_point"))}
    return _pair(MUL, "mul/", a, b, rule, numbers, out)
