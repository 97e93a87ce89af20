"""Requantize by a rule's name: accumulators to codes."""

from __future__ import annotations

from typing import Any, Never

from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.given import row_named
from qops._kernels.stage.requantize import Requantization, once
from qops._kernels.stage.rules import Words
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import shown
from qops.codes import BY_TYPE, CodeType, of_dtype
from qops.fixedpoint import Multiplier
from qops.prepared import Prepared, direct
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.fitted import FittedRequantization, FittedRule
from qops.rules.numbers import WORDS
from qops.rules.real_bias import RealBiasRequantization
from qops.rules.table import BLOCKS, BlockRule

__all__ = ["Requantize", "requantize"]

_RULES: dict[str, tuple[Words, BlockRule | None, Words | None]] = {
    **{name: (words, None, None) for name, words in WORDS.items()},
    **{name: (WORDS[blocks.whole], blocks, WORDS[blocks.tail]) for name, blocks in BLOCKS.items()},
}
"""The rule of each name; of a rule of blocks also its `BlockRule`, and the rule of the tail."""


class Requantize(Prepared):
    """Prepared form of `requantize`: accumulators to codes by the rule of a real system.

    It is called as ``op(acc, out=None)``, and gives the bits of `requantize`.

    Parameters
    ----------
    rule, scale, integers, scales, in_zero_point, zero_point, dtype, qmin, qmax, axis, bias, range, w_sums, x_zero_point
        As `requantize` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        What `requantize` refuses, except accumulators and `out`, which are checked at each call.

    See Also
    --------
    requantize : the formula, the parameters, sources and hazards.

    Examples
    --------
    >>> op = qops.rules.Requantize("tflite-double", scale=0.0033, zero_point=3)
    >>> op
    Requantize('tflite-double', scale=0.0033, zero_point=3)
    >>> op.integers
    Multiplier(multiplier=1814194186, right_shift=39)
    >>> op([-1000, 0, 1000])
    array([0, 3, 6], dtype=int8)
    """

    __slots__ = ("_kernel",)

    def __init__(
        self,
        rule: str | FittedRule,
        *,
        scale: ArrayLike | None = None,
        integers: tuple[ArrayLike, ArrayLike] | None = None,
        scales: tuple[float, ArrayLike, float | None] | None = None,
        in_zero_point: int = 0,
        zero_point: int = 0,
        dtype: DTypeLike = "int8",
        qmin: int | None = None,
        qmax: int | None = None,
        axis: int = -1,
        bias: ArrayLike | None = None,
        range: tuple[float, float] | None = None,
        w_sums: ArrayLike | None = None,
        x_zero_point: int = 0,
    ):
        factor, numbers = (scale, integers, scales), (in_zero_point, zero_point, qmin, qmax, axis)
        if isinstance(rule, str) and rule in REAL_BIAS:
            given = {"bias": bias, "range": range, "w_sums": w_sums, "x_zero_point": x_zero_point}
            named = zip(_REAL_BIAS_NAMES, (*factor, *numbers), strict=True)
            self._set_real_bias(rule, of_dtype(dtype), {**dict(named), **given})
            return
        _refuse_real_bias(rule, bias, range, w_sums, x_zero_point)
        if isinstance(rule, FittedRule):
            fitted: Any = FittedRequantization(rule, of_dtype(dtype), locals())
            self._kernel = fitted
            dtype, in_zero_point, zero_point = fitted.dtype, fitted.in_zero_point, fitted.zero
            scale = None if scale is None else fitted.scale
            integers, scales = None if integers is None else fitted.numbers.integers, fitted.scales
            self._keep(locals())
            return
        op = self._kernel = Requantization(_RULES, of_dtype(dtype), rule, *factor, *numbers)
        own = op.numbers.factor  # arrays in it are copies
        scale, integers, scales = (None if scale is None else own), (None if integers is None else own), op.scales
        in_zero_point, zero_point, dtype, axis = op.in_zero_point, op.numbers.zero_point, op.dtype, op.axis
        self._keep(locals())

    def _set_real_bias(self, rule: str, codes: CodeType, given: dict[str, Any]) -> None:
        op: Any = RealBiasRequantization(rule, codes, given)
        self._kernel = op
        (a, w, y), ends = op.scales, op.range
        plain = {name: None if x is None else x if x.ndim else x.item() for name, x in op.of_channels.items()}
        own = {
            **{"scales": (float(a), float(w) if w.ndim == 0 else w, None if y is None else float(y))},
            **{"in_zero_point": op.in_zero_point, "zero_point": op.zero, "x_zero_point": op.x_zero, "axis": op.axis},
            **{"dtype": op.dtype, "range": None if ends is None else (float(ends[0]), float(ends[1]))},
        }
        self._keep({"rule": rule, **given, **plain, **own})

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest code."""
        if isinstance(self._kernel, RealBiasRequantization):
            return self._kernel.ends
        return self._kernel.numbers.lo, self._kernel.numbers.hi

    @property
    def integers(self) -> Multiplier:
        """Multiplier and total right shift, or int64 arrays of them; ValueError where the rule has none."""
        if isinstance(self._kernel, RealBiasRequantization):
            raise bad_value("rule", f"{self.rule} multiplies by real scales, it has no integers")
        multiplier, right_shift = self._kernel.numbers.integers
        return Multiplier(multiplier, right_shift)

    @property
    def floats(self) -> tuple[Any, ...]:
        """What the C of `emit` takes for a rule of `REAL_BIAS`, in its order; empty for other rules."""
        return self._kernel.made if isinstance(self._kernel, RealBiasRequantization) else ()

    @property
    def scale(self) -> Any:
        """How many output steps an input step is: a float, or an array with one for each channel."""
        if isinstance(self._kernel, RealBiasRequantization):
            in_scale, w_scale, out_scale = self._arguments["scales"]
            lo, hi = self._arguments["range"] or (0.0, 0.0)
            return in_scale * w_scale / ((hi - lo) / 255 if out_scale is None else out_scale)
        (before, after), scale = self._kernel.numbers.before_after, self._kernel.numbers.scale
        return scale if before == after == 1 else before * scale * after

    @direct
    def __call__(self, acc: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of accumulators.

        Parameters
        ----------
        acc : array_like of int
            See `requantize`.
        out : ndarray of the dtype of the codes, optional
            Where they are written; of the shape of `acc`.

        Returns
        -------
        ndarray

        Raises
        ------
        TypeError, ValueError
            Accumulators that are no integers or too large, or do not fit the channels; an `out` that does not fit or
            overlaps `acc`.
        """
        return self._kernel(acc, out)


_REAL_BIAS_NAMES = "scale", "integers", "scales", "in_zero_point", "zero_point", "qmin", "qmax", "axis"


def _refuse_real_bias(rule: Any, bias: Any, range: Any, w_sums: Any, x_zero_point: Any) -> None:
    """Refuse what only rules of `REAL_BIAS` take."""
    if bias is not None:
        _ = isinstance(rule, FittedRule) or row_named(rule, _RULES)
        raise bad_value(
            "bias", f"{rule} adds no real bias; add it to acc as an integer, rint(bias / (in_scale * w_scale))"
        )
    is_zero = type(x_zero_point) is int and x_zero_point == 0
    given = {"range": range is None, "w_sums": w_sums is None, "x_zero_point": is_zero}
    for value, (name, is_absent) in zip((range, w_sums, x_zero_point), given.items(), strict=True):
        if not is_absent:
            _ = isinstance(rule, FittedRule) or row_named(rule, _RULES)
            raise bad_value(name, f"expected none by {rule}, got {shown(value)}")


@refusing_unknown
def requantize(
    acc: ArrayLike,
    rule: str | FittedRule,
    *,
    scale: ArrayLike | None = None,
    integers: tuple[ArrayLike, ArrayLike] | None = None,
    scales: tuple[float, ArrayLike, float | None] | None = None,
    in_zero_point: int = 0,
    zero_point: int = 0,
    dtype: DTypeLike = "int8",
    qmin: int | None = None,
    qmax: int | None = None,
    axis: int = -1,
    bias: ArrayLike | None = None,
    range: tuple[float, float] | None = None,
    w_sums: ArrayLike | None = None,
    x_zero_point: int = 0,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Requantize accumulators by the rule of a real system, to the bit.

    ``y = clamp(round((acc - in_zero_point) * scale) + zero_point, qmin, qmax)``. `TABLE` says of each rule how it makes
    integers of the scale, how it rounds the product and where it adds the zero point.

    Parameters
    ----------
    acc : array_like of int
        Accumulators that int32 holds. Rules in integers or in float32, except rndnu16, also take up to 48 bits.
    rule : str or FittedRule
        A name in `TABLE`; or in `BLOCKS`, whose rules compute the last elements in another way; or in `REAL_BIAS`,
        whose rules add a real bias between two scales. Or a rule by its parts, which ``explain(fit=True)`` gives.
    scale : float or 1-D array_like of float, optional
        How many output steps an input step is (`real_scale`): one number, or one for each channel along `axis`.
    integers : (int, int), optional
        Instead of a scale: the multiplier and the total right shift, as a port to integers holds them, or arrays of
        them along `axis`. TFLite's shift, positive to the left, is ``31 - right_shift``; CMSIS-NN's beside a reduced
        multiplier (cmsis-s64) is ``15 - right_shift``.
    scales : (float, float, float), optional
        Instead of a scale: ``(in_scale, w_scale, out_scale)``. The rule forms its scale of them in the way that its
        `Rule.scales` names first; the rules of torch on oneDNN multiply by one after another. ``w_scale`` may
        have one for each channel.
    in_zero_point : int
        Subtracted from `acc` first.
    zero_point : int
        Code of real 0 in the result.
    dtype : data type
        Type of the result: uint8, int8, uint16, int16 or int32.
    qmin, qmax : int, optional
        Codes that the result is clamped to; the ends of the type if not given.
    axis : int
        Axis of the channels.
    bias : float or 1-D array_like of float, optional
        For rules of `REAL_BIAS`: the real bias, used as float32; one, or one for each channel.
    range : (float, float), optional
        For the rules of OpenVINO, whose out_scale is None then: the real values of codes 0 and 255.
    w_sums : 1-D array_like of int, optional
        For the rule mnn: the sum of the weights of each channel.
    x_zero_point : int
        For the rule mnn: the code of real 0 of the input.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of `acc`.

    Returns
    -------
    ndarray of `dtype`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known; accumulators that are no integers or too large; a scale that is negative, not finite
        or out of the rule's range; not one of scale, integers, scales; another number of them than channels; a real
        bias for a rule that adds none; an `out` that does not fit or overlaps `acc`.

    See Also
    --------
    Requantize : the same, prepared once for many calls.
    integers : what a rule makes of a scale.

    Notes
    -----
    Sources: TFLite and TFLM ``common.cc``, ``quantization_util.cc``; gemmlowp ``fixedpoint.h``, ``output_stages.h``;
    XNNPACK and QNNPACK ``requantization.h``; CMSIS-NN ``arm_nnsupportfunctions.h``; the TOSA reference model.

    **Hazards.** Two roundings are not one, and a zero point inside the rounding moves its ties:

    >>> acc = [-3, 1, 3, 5]
    >>> for rule in ("tflite-double", "tflite-single", "fp32-even"):
    ...     print(rule, qops.rules.requantize(acc, rule, scale=0.4999999))
    tflite-double [-2  1  2  3]
    tflite-single [-1  0  1  2]
    fp32-even [-1  0  1  2]
    >>> [
    ...     qops.rules.requantize(acc, rule, scale=0.5, zero_point=3).tolist()
    ...     for rule in ("fp32-even", "fp32-even-zp-inside")
    ... ]
    [[1, 3, 5, 5], [2, 4, 4, 6]]

    What int32 does not hold becomes the lowest code where `Rule.beyond` says so, however large it was:

    >>> [
    ...     qops.rules.requantize([2**31 - 1], rule, scale=3.0, dtype="uint8").item()
    ...     for rule in ("fp32-even", "torch-fbgemm")
    ... ]
    [255, 0]

    A real bias that is rounded to an accumulator first gives other codes than one that is added after the scale:

    >>> scales, bias = (0.1, 0.1, 0.4), 0.247
    >>> acc = np.arange(-200, 201)
    >>> real = qops.rules.requantize(acc, "ncnn", scales=scales, bias=bias)
    >>> rounded = qops.rules.requantize(acc + round(bias / 0.01), "ncnn", scales=scales, bias=0.0)
    >>> int(np.count_nonzero(real != rounded))
    6

    Examples
    --------
    >>> qops.rules.requantize([-1000, 0, 1000], "tflite-double", scale=0.0033, zero_point=5)
    array([2, 5, 8], dtype=int8)
    """
    if unknown:
        raise unknown_keyword(requantize, unknown)
    made: Any = once(
        _RULES, BY_TYPE, acc, out, rule, dtype, scale, integers, scales, in_zero_point, zero_point, qmin, qmax, axis,
        bias, range, w_sums, x_zero_point,
    )  # fmt: skip
    if made is not None:
        return made
    codes = of_dtype(dtype)
    if isinstance(rule, str) and rule in REAL_BIAS:
        return RealBiasRequantization(rule, codes, locals())(acc, out)
    _refuse_real_bias(rule, bias, range, w_sums, x_zero_point)
    if isinstance(rule, FittedRule):
        return FittedRequantization(rule, codes, locals())(acc, out)
    numbers = in_zero_point, zero_point, qmin, qmax, axis
    return Requantization(_RULES, codes, rule, scale, integers, scales, *numbers)(acc, out)
