"""SVDF: a layer of filters with a memory, each of rank 1, that are summed to units."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._readable import shows_fields
from qops.checks import int32, integer, native, put
from qops.tflite import _checks as check
from qops.tflite.arithmetic import named, quantized, wrap
from qops.tflite.op import PreparedOp
from qops.tflite.weights import bias_of

__all__ = ["Svdf", "SvdfStep", "svdf"]


@shows_fields
class SvdfStep(NamedTuple):
    """One step of `svdf`.

    Attributes
    ----------
    y : ndarray of int8, (batch, units)
        The codes of the result.
    state : ndarray of the type of `time`, (batch, filters * memory)
        What the next step begins with.
    """

    y: NDArray[np.int8]
    state: NDArray[Any]


class Svdf(PreparedOp):
    """The prepared form of `svdf` of int8, called ``op(x, state=None, out=None)``.

    Weights, integers and the shape of the state.
    """

    __slots__ = ("_bias", "_feature", "_first", "_last", "_rank", "_state", "_time", "_zeros")
    _name = "SVDF"

    def __init__(
        self,
        feature: ArrayLike,
        time: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_scale: float,
        x_zero_point: int,
        feature_scale: float,
        time_scale: float,
        state_scale: float,
        y_scale: float,
        y_zero_point: int,
        state_zero_point: int = 0,
        rank: int = 1,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        feature = native(given.feature, "feature", ("int8",))
        time = native(given.time, "time", ("int8", "int16"))
        self._rank = int32(given.rank, "rank", 1)
        if feature.ndim != 2 or time.ndim != 2 or len(time) != len(feature) or not (feature.size and time.size):
            raise bad_value(
                "feature, time", f"expected (filters, inputs) and (filters, memory), got {feature.shape}, {time.shape}"
            )
        if len(feature) % self._rank:
            raise bad_value("rank", f"expected a divisor of the {len(feature)} filters, got {self._rank}")
        if time.dtype == np.int8 and not self._facts.state_s8:
            raise bad_value("time", f"{given.kernel} reads a state of int8 as int16, past its end")
        self._feature, self._time = feature.astype(np.int64), time.astype(np.int64)
        self._bias = bias_of(given.bias, np.dtype(np.int8), len(feature) // self._rank)
        self._state = time.dtype
        zeros = check.ends(time.dtype) if time.dtype == np.int8 else (0, 0)
        zero = integer(given.state_zero_point, "state_zero_point", *zeros)
        self._zeros = given.x_zero_point, zero, given.y_zero_point
        kind = self._facts.ratio
        x, f, t, s, y = (
            kind(check.scale(getattr(given, f"{name}_scale"), f"{name}_scale"))
            for name in ("x", "feature", "time", "state", "y")
        )
        self._first, self._last = quantized(float(x * f / s)), quantized(float(s * t / y))

    @property
    def integers(self) -> dict[str, Any]:
        """The factors of both steps, weights and bias, zero points of data, state and result, ends of the state."""
        found = dict(zip(("x_zero_point", "state_zero_point", "y_zero_point"), self._zeros, strict=True))
        found |= named(self._first, "state") | named(self._last, "output")
        found |= zip(("state_min", "state_max"), check.ends(self._state), strict=True)
        arrays = {"weights_feature": self._feature, "weights_time": self._time, "bias": self._bias}
        arrays = {name: np.array(x) for name, x in arrays.items() if x is not None}
        return {**found, "rank": self._rank, **arrays}

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != 2 or shape[1] != self._feature.shape[1]:
            raise bad_value("x", f"expected (batch, {self._feature.shape[1]}), got shape {shape}")
        return (shape[0], len(self._feature) // self._rank)

    def __call__(self, x: ArrayLike, state: ArrayLike | None = None, out: NDArray[np.int8] | None = None) -> SvdfStep:
        """Do one step from a state, or from zeros; its codes are in `out` if it is given."""
        data, (zero, s_zero, y_zero) = self._codes(x), self._zeros
        shape, filters, memory = self._shape(data.shape), *self._time.shape
        before = check.state(state, "state", (s_zero, self._state), (len(data), filters * memory))
        check.out(out, self._dtype, shape, data, before)
        after = np.roll(before.reshape(len(data), filters, memory), -1, 2)
        made = self._facts.scaled(wrap((data.astype(np.int64) - zero) @ self._feature.T), self._first)
        after[:, :, -1] = (np.clip(made, *check.ends(self._state)) + s_zero).astype(self._state)  # wraps, as in TFLM
        sums = ((after.astype(np.int64) - s_zero) * self._time).reshape(*shape, -1).sum(2)
        codes = self._facts.scaled(wrap(sums if self._bias is None else sums + self._bias), self._last) + y_zero
        y = put(np.clip(codes, -128, 127).astype(np.int8), out)
        return SvdfStep(y, after.reshape(before.shape))


def svdf(
    x: ArrayLike,
    feature: ArrayLike,
    time: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    feature_scale: float,
    time_scale: float,
    state_scale: float,
    y_scale: float,
    y_zero_point: int,
    state_zero_point: int = 0,
    rank: int = 1,
    state: ArrayLike | None = None,
    kernel: str = "reference",
    out: NDArray[np.int8] | None = None,
) -> SvdfStep:
    """Do one step of filters with a memory.

    The state moves by one; each filter puts ``clamp(round(feature @ (x - x_zero_point) * x_scale * feature_scale /
    state_scale))`` behind it; a unit is the sum of `rank` filters of `time` times state, plus the bias, taken to
    `y_scale`. The fused activation is not read.

    Parameters
    ----------
    x : ndarray of int8, (batch, inputs)
        Codes.
    feature : ndarray of int8, (filters, inputs)
        Weights of the data.
    time : ndarray of int16 or int8, (filters, memory)
        Weights of the state; int8 for TFLM only.
    bias : ndarray of int32, (filters / rank,), optional
        Of scale state_scale * time_scale. TFLM refuses a model where the bias has a scale that is off by 1e-5 or more,
        as `qops.models` does; LiteRT does not look.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    feature_scale, time_scale, state_scale : float
        Real size of a code step of each.
    y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    state_zero_point : int
        Code of 0 of a state of int8. TFLM clamps to int8 before it adds this code, so the sum wraps.
    rank : int
        How many filters make a unit.
    state : ndarray of the type of `time`, (batch, filters * memory), optional
        The state before; `state_zero_point` everywhere by default.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    SvdfStep
        The codes of the units, (batch, filters / rank), and the state after.

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; in LiteRT a state of int8, which it
        reads past its end.

    Notes
    -----
    Sources: TFLite ``svdf.cc``, ``reference/svdf.h``; ``svdf_common.cc``.

    Examples
    --------
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "feature_scale": 1.0, "time_scale": 1.0, "state_scale": 1.0}
    >>> feature, time = np.array([[1, 2]], np.int8), np.array([[1, 10]], np.int16)
    >>> y, state = qops.tflite.svdf(np.array([[1, 1]], np.int8), feature, time, **how, y_scale=1.0, y_zero_point=0)
    >>> y, qops.tflite.svdf(np.array([[2, 0]], np.int8), feature, time, state=state, **how, y_scale=1.0, y_zero_point=0)
    (array([[30]], dtype=int8), SvdfStep(y=np.int8([[23]]), state=np.int16([[3, 2]])))
    """
    return Svdf._on(locals(), x, state, out)
