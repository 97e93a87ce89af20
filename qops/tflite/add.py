"""ADD and SUB."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from qops.tflite.sums import Total

__all__ = ["Add", "Sub", "add", "sub"]


class Add(Total):
    """The prepared form of `add` of int8, uint8 or int16, called ``op(a, b, out=None)``: its stage."""

    __slots__ = ()
    _name = "ADD"
    _sign = 1
    _any_zero_point = ("a_zero_point", "b_zero_point")


class Sub(Total):
    """The prepared form of `sub` of int8, uint8 or int16, called ``op(a, b, out=None)``: its stage."""

    __slots__ = ()
    _name = "SUB"
    _sign = -1


def add(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    activation: str = "NONE",
    pot_scale_int16: bool = True,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add codes.

    ``a_scale * (a - a_zero_point) + b_scale * (b - b_zero_point)`` by integers: both are shifted left by 20 bits, 15 of
    int16, taken to twice the larger scale, added, and taken to `y_scale`, each step rounded twice. The optimised kernel
    of 8 bits does whole blocks of 16 elements (8 of uint8) otherwise, and their results wrap to 16 bits. If shapes
    broadcast, it has blocks in each row of neighbours of both operands, and blocks of 8 where one operand is one number
    for the row. Of int16 it takes the operands to twice the larger scale with one rounding, half up, in whole blocks of
    16 elements, if shapes do not broadcast. XNNPACK has two factors of 21 bits and one shift; if a ratio of scales is
    not in [2**-10, 2**8), the optimised kernel runs.

    Parameters
    ----------
    a : ndarray of int8, uint8 or int16
        Codes.
    b : ndarray of the type of `a`
        Codes; shapes broadcast.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    pot_scale_int16 : bool
        Whether codes of int16 are only shifted if all three scales are powers of two.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`

    Raises
    ------
    TypeError, ValueError
        Types that differ or are not listed, shapes that do not broadcast, an `out` that does not fit; a kernel library
        that has no such op; scales that end the process: twice the larger of them is 2**20 steps of the result (2**15
        of int16) or more.

    Notes
    -----
    Sources: TFLite ``add.cc``, ``reference/add.h``, ``optimized_ops.h``; ``add_common.cc``; XNNPACK ``qs8-vadd``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.array([0, 1, 2, -3], np.int8), np.array([1, 1, 1, 0], np.int8)
    >>> [qops.tflite.add(a, b, **how, kernel=k).tolist() for k in ("reference", "xnnpack")]
    [[4, 4, 5, 1], [4, 4, 5, 2]]

    **Hazard.** The optimised kernel wraps where all others saturate, in whole blocks of 16:

    >>> how["y_scale"] = 0.003
    >>> x = np.full(17, 127, np.int8)
    >>> qops.tflite.add(x, x, **how, kernel="optimized")
    array([-128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
           -128, -128, -128, -128, -128,  127], dtype=int8)
    """
    return Add._on(locals(), a, b, out)


def sub(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    activation: str = "NONE",
    pot_scale_int16: bool = True,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Subtract codes.

    As `add`, with the second operand negated, but the optimised kernel is the reference. TFLM forms the three ratios of
    scales in float32, all others in double.

    Parameters
    ----------
    a : ndarray of int8, uint8 or int16
        Codes.
    b : ndarray of the type of `a`
        Codes; shapes broadcast.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    pot_scale_int16 : bool
        Whether codes of int16 are only shifted if all three scales are powers of two.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`

    Raises
    ------
    TypeError, ValueError
        Types that differ or are not listed, shapes that do not broadcast, an `out` that does not fit; a kernel library
        that has no such op; scales for which a multiplier would be 1 or more.

    Notes
    -----
    Sources: TFLite ``sub.cc``, ``reference/sub.h``; ``sub_common.cc``; XNNPACK ``qs8-vadd``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> qops.tflite.sub(np.array([0, 9, 2], np.int8), np.array([1, 1, -9], np.int8), **how)
    array([2, 7, 9], dtype=int8)
    """
    return Sub._on(locals(), a, b, out)
