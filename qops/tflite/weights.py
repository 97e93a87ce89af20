"""Weights, biases and the scales of accumulators: what convolutions and products of TFLite have in common."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import all_finite, choice, native, shown
from qops.rules.numbers import Numbers, rule_of
from qops.rules.requantize import Requantize
from qops.rules.scales import DERIVATIONS
from qops.rules.table import BLOCKS
from qops.tflite.arithmetic import F32
from qops.tflite.losses import Losses, Lossy
from qops.tflite.op import PreparedOp

__all__ = [
    *("Rounding", "WeightedOp", "bias_of", "fit_in_halves", "in_blocks", "rule_16", "scale_of", "scale_of_pair"),
    *("stage", "weights_of"),
]

WEIGHTS = {"int8": ("int8", -128, 127), "int4": ("int8", -8, 7), "uint8": ("uint8", 0, 255), "int16": ("int16", 0, 0)}
"""The type of an array of weights, and its lowest and highest code, by TFLite's type."""
BESIDE = {"uint8": ("uint8",), "int8": ("int8", "int4"), "int16": ("int8", "int16")}
"""The types of weights that go with a type of data; those of int16 only in some ops."""
MOST_TERMS = (2**31 - 1) // (255 * 128)


def weights_of(w: ArrayLike, w_type: str, axes: int, x: np.dtype[Any], wide: bool = False) -> NDArray[Any]:
    """Give an array of weights, whose codes must be those of their type; uint8 only with codes of uint8."""
    dtype, lowest, highest = WEIGHTS[choice(w_type, "w_type", WEIGHTS)]
    if w_type not in BESIDE[x.type.__name__] or (w_type == "int16" and not wide):
        raise bad_value("w_type", f"{w_type} weights do not go with {x} data")
    data = native(w, "w", (dtype,))
    if data.ndim != axes or not data.size:
        raise bad_value("w", f"expected {axes} dimensions, none of 0, got shape {data.shape}")
    if w_type == "int4" and not (lowest <= data.min() and data.max() <= highest):
        raise bad_value("w", f"expected codes of {w_type}, {lowest} to {highest}, got {data.min()} to {data.max()}")
    return data


def fit_in_halves(w: NDArray[Any], terms: int, x: np.dtype[Any]) -> None:
    """Raise ValueError if sums of so many products of the low bytes of 16 bits may be beyond int32."""
    if x == np.int16 and terms > MOST_TERMS:
        raise bad_value("w", f"expected at most {MOST_TERMS} products in a sum of 16 by 8 bits, got shape {w.shape}")


def bias_of(bias: ArrayLike | None, x: np.dtype[Any], count: int) -> NDArray[Any] | None:
    """Give a bias: int32, or with codes of int16 int32 or int64; one value an output channel."""
    if bias is None:
        return None
    data = native(bias, "bias", ("int32", "int64") if x == np.int16 else ("int32",))
    if data.shape != (count,):
        raise bad_value("bias", f"expected {count} values, one an output channel, got shape {data.shape}")
    return data


def rule_16(bias: NDArray[Any] | None, none: str, narrow: str, wide: str) -> str:
    """Give the rule of sums of 16 by 8 bits: without a bias, with one of int32, with one of int64."""
    return none if bias is None else narrow if bias.dtype == np.int32 else wide


def scale_of(
    given: SimpleNamespace, w_scale: float | NDArray[np.float64], dtype: np.dtype[Any], derive: str, below: float
) -> float | NDArray[np.float64]:
    """Give the scale of accumulators, `below` this, or one for each channel; uint8 has one, of a float32 product."""
    if dtype == np.uint8 and isinstance(w_scale, np.ndarray):
        raise bad_value("w_scale", "expected 1 value for uint8 weights, got one an output channel")
    scale = _derived(derive, x_scale=given.x_scale, w_scale=w_scale, y_scale=given.y_scale)
    if below < inf and np.max(scale) >= below:
        raise bad_value("x_scale, w_scale, y_scale", f"{given.kernel} takes no scale of {np.max(scale)}")
    return np.asarray(scale, np.float64) if isinstance(w_scale, np.ndarray) else float(scale)


def scale_of_pair(given: SimpleNamespace, derive: str) -> float:
    """Give the scale of products of two arrays of codes."""
    return float(_derived(derive, a_scale=given.a_scale, b_scale=given.b_scale, y_scale=given.y_scale))


def _derived(derive: str, **scales: Any) -> Any:
    """Give what a derivation makes of three scales, which must be finite."""
    scale = DERIVATIONS[derive](*scales.values())
    if not all_finite(scale):
        raise bad_value(", ".join(scales), f"{derive} gives {shown(scale)}, no finite number")
    return scale


def stage(rule: str, scale: float | NDArray[np.float64], zero: int, ends: tuple[int, int]) -> Any:
    """Give what makes codes of accumulators by a rule of `qops.rules.TABLE`."""
    return Numbers(rule_of(rule), scale, zero, *ends).stage()


def in_blocks(rule: str, tail: str, size: int) -> str:
    """Give the name of the rule that has one rule for whole blocks of channels and another for the rest."""
    return next(name for name, row in BLOCKS.items() if row[:4] == (rule, tail, size, "channels"))


class Rounding(NamedTuple):
    """How sums of a layer become codes: a rule of `qops.rules`, and its numbers."""

    rule: str
    scale: float | NDArray[np.float64]
    zero_point: int
    ends: tuple[int, int]

    def stage(self) -> Any:
        """Give the loop that makes the codes."""
        return stage(*self)

    def may_wrap(self, wraps_below: bool) -> bool:
        """Whether a code of int8 wraps where a sum is far below its range, if the kernel library `wraps_below`."""
        return wraps_below and self.rule == "fp32-even" and self.zero_point < 0 and bool(np.max(self.scale) > 0.5)

    def wrap(self, sums: NDArray[Any], codes: NDArray[Any]) -> None:
        """Set the codes of sums that are below int32 once they are scaled: -2**31 wraps with the zero point, to 127."""
        below = np.rint(sums.astype(F32) * np.asarray(self.scale, F32)) < -(2.0**31)
        codes[below] = 127

    def requantize(self, dtype: np.dtype[Any]) -> Requantize:
        """Give the same as a prepared op that can be read: channels are the last axis."""
        lo, hi = self.ends
        return Requantize(
            self.rule, scale=self.scale, zero_point=self.zero_point, dtype=dtype, qmin=min(lo, hi), qmax=hi
        )


class WeightedOp(PreparedOp):
    """A prepared op that takes sums to codes by a rule."""

    __slots__ = ("_losses", "_lossy", "_rounding", "_zeros")
    _rounding: Rounding
    _zeros: tuple[int, int]
    _lossy: Lossy | None
    """What sums with any weights may lose; None if nothing."""
    _losses: Losses | None
    """What sums with the op's weights may lose; None if nothing."""

    def _prepare(self, once: bool) -> None:
        self._losses = self._lossy = None
        super()._prepare(once)

    @property
    def zero_points(self) -> tuple[int, int]:
        """What sums subtract from the codes of the data and of the weights, whose zero point some kernels ignore."""
        return self._zeros

    @property
    def requantize(self) -> Requantize:
        """The stage from sums, whose last axis has the output channels, to codes."""
        return self._rounding.requantize(self._dtype)

    def requantize_for(self, shape: tuple[int, ...]) -> Requantize:
        """Give the stage for data of this shape: a call that makes a single pixel, or row, may have another rule."""
        rounding = self._rounding
        if self._is_single(shape):
            rounding = rounding._replace(rule=self._facts.one_column[rounding.rule])
        return rounding.requantize(self._dtype)

    @property
    def loses(self) -> bool:
        """Whether sums of some data and weights lose something."""
        return self._lossy is not None

    def kept(self, sums: NDArray[Any], x: NDArray[Any], w: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give what the kernel keeps of exact sums: on 64-bit ARM, some lose pairs of codes or high bits.

        Parameters
        ----------
        sums : ndarray of int64
        x : ndarray
            The data that they are the sums of.
        w : ndarray, optional
            Other weights that they are the sums of, of the shape of the op's.

        Returns
        -------
        ndarray of int64
        """
        found = self._losses if w is None or self._lossy is None else self._losses_of(w, self._lossy)
        return sums if found is None or self._is_single(x.shape) else self._left(found, sums, x)

    def _losses_of(self, w: NDArray[Any], lossy: Lossy) -> Losses | None:
        """Give what sums with other weights may lose."""
        raise NotImplementedError

    def _left(self, found: Losses, sums: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        """Give what `found` leaves of the sums of data `x`."""
        raise NotImplementedError

    def _is_single(self, shape: tuple[int, ...]) -> bool:
        """Whether a call with data of this shape makes one pixel, or row, by a rule of its own."""
        return False
