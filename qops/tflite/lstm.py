"""UNIDIRECTIONAL_SEQUENCE_LSTM: int8 or int16 data and hidden states, weights of int8, cell states of int16."""

from __future__ import annotations

from math import frexp
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._readable import shows_fields
from qops.checks import native, number, put
from qops.tflite import _checks as check
from qops.tflite import fixed_point
from qops.tflite.arithmetic import F32, Codes, named, quantized, rounded_shift, scaled_wide, wrap
from qops.tflite.losses import LanePairs, Losses, Lossy, losses, unsafe_pairs
from qops.tflite.op import PreparedOp
from qops.tflite.tables import sigmoid_16, tanh_16

__all__ = ["LstmSequence", "UnidirectionalSequenceLstm", "unidirectional_sequence_lstm"]


def _clip_16(x: Any) -> Codes:
    return np.minimum(np.maximum(x, -(2**15)), 2**15 - 1)


def _left(sums: Codes, x: Codes, lost: Losses | None) -> Codes:
    """Give what is left of the sums (gates, batch, cells) of data (batch, codes), in 32 bits."""
    if lost is None:
        return wrap(sums)
    gates, batch, cells = sums.shape
    made = lost.of(sums.swapaxes(0, 1).reshape(batch, -1), lambda: x[:, np.newaxis])
    return made.reshape(batch, gates, cells).swapaxes(0, 1).astype(np.int64)


@shows_fields
class LstmSequence(NamedTuple):
    """What `unidirectional_sequence_lstm` gives.

    Attributes
    ----------
    y : ndarray of the type of `x`, (batch, steps, cells)
        The hidden state after each step; (steps, batch, cells) with `time_major`.
    hidden : ndarray of the type of `x`, (batch, cells)
        The last hidden state.
    cell : ndarray of int16, (batch, cells)
        The last cell state.
    """

    y: NDArray[Any]
    hidden: NDArray[Any]
    cell: NDArray[np.int16]


class UnidirectionalSequenceLstm(PreparedOp):
    """The prepared form of `unidirectional_sequence_lstm` of int8 or int16: weights and integers.

    Called ``op(x, hidden=None, cell=None, out=None)``.
    """

    __slots__ = ("_b", "_by_r", "_by_w", "_clip", "_last", "_lost", "_power", "_r", "_time_major", "_w", "_zeros")
    _name = "UNIDIRECTIONAL_SEQUENCE_LSTM"

    def __init__(
        self,
        w: ArrayLike,
        r: ArrayLike,
        b: ArrayLike,
        *,
        x_scale: float,
        x_zero_point: int,
        w_scale: ArrayLike,
        r_scale: ArrayLike,
        hidden_scale: float,
        hidden_zero_point: int,
        cell_scale: float,
        cell_clip: float = 0.0,
        time_major: bool = False,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        w, r = native(given.w, "w", ("int8",)), native(given.r, "r", ("int8",))
        b = native(given.b, "b", ("int32",) if self._dtype == np.int8 else ("int64",))
        if w.ndim != 3 or len(w) != 4 or not w.size:
            raise bad_value("w", f"expected 4 gates, (4, cells, inputs), got shape {w.shape}")
        for data, name, shape in ((r, "r", (4, w.shape[1], w.shape[1])), (b, "b", w.shape[:2])):
            if data.shape != shape:
                raise bad_value(name, f"expected shape {shape}, got {data.shape}")
        self._w, self._r, self._b = w.astype(np.int64), r.astype(np.int64), b.astype(np.int64)
        hidden_scale, cell_scale = (check.scale(getattr(given, f"{n}_scale"), f"{n}_scale") for n in ("hidden", "cell"))
        hidden_zero = check.zero_point(given.hidden_zero_point, "hidden_zero_point", self._dtype)
        self._zeros, self._time_major = (given.x_zero_point, hidden_zero), given.time_major
        self._power = frexp(cell_scale)[1] - 1
        least = -12, -9 if self._facts.lstm == "lite" else 0
        if frexp(cell_scale)[0] != 0.5 or not least[0] <= self._power <= least[1]:
            raise bad_value("cell_scale", f"expected a power of two, 2**{least[0]} to 2**{least[1]}, got {cell_scale}")
        self._lost = self._losses(w), self._losses(r)
        self._by_w = self._factors(given.w_scale, "w_scale", given.x_scale)
        self._by_r = self._factors(given.r_scale, "r_scale", hidden_scale)
        clip = number(given.cell_clip, "cell_clip")
        self._clip = int(min(clip / cell_scale, 32767)) if clip > 0 else None
        if self._clip == 0 and self._facts.lstm == "lite":  # which looks at the codes, and TFLM at the real number
            self._clip = None
        if self._facts.lstm == "lite":
            self._last = quantized(float(F32(2.0**-15) / F32(hidden_scale) * F32(2.0**-15)))
        else:
            self._last = quantized(2.0**-30 / hidden_scale)

    @property
    def unsafe_pairs(self) -> tuple[int, int]:
        """How many pairs of products of some data leave 16 bits, and how many pairs there are; 0 of 0 in wide lanes."""
        pairs = self._facts.lstm_pairs
        if not pairs:
            return 0, 0
        both = [
            unsafe_pairs(lost, (w.shape[0] * w.shape[1], 1, w.shape[2]), pairs)
            for lost, w in zip(self._lost, (self._w, self._r), strict=True)
        ]
        return both[0][0] + both[1][0], both[0][1] + both[1][1]

    @property
    def integers(self) -> dict[str, Any]:
        """Factors of the gates (input, forget, cell, output) and the result, weights, biases; 2**15 is no clip."""
        found: dict[str, Any] = dict(zip(("x_zero_point", "hidden_zero_point"), self._zeros, strict=True))
        for name, (multipliers, shifts) in (("input", self._by_w), ("recurrent", self._by_r)):
            found |= {f"{name}_multiplier": multipliers.flatten(), f"{name}_shift": shifts.flatten()}
        found |= named(self._last, "output")
        found |= {"cell_clip": 2**15 if self._clip is None else self._clip, "cell_scale_power": self._power}
        return {**found, "input_weights": self._w.copy(), "recurrent_weights": self._r.copy(), "bias": self._b.copy()}

    @property
    def bends(self) -> dict[str, Codes] | None:
        """Tables of LiteRT's functions for all codes of 16 bits, those of gates and of the cell; None for TFLM."""
        if self._facts.lstm != "lite":
            return None
        x = np.arange(-(2**15), 2**15)
        found = {"logistic": fixed_point.logistic(x, 3, 15), "tanh": fixed_point.tanh(x, 3, 15)}
        return {**found, "cell": fixed_point.tanh(x, 15 + self._power, 15)}

    def _product(self, scale: float, step: float) -> float:
        """Multiply two scales, in float32 as LiteRT does or in double as TFLM does."""
        if self._facts.lstm == "lite":
            return float(F32(scale) * F32(step))
        return float(F32(scale)) * float(F32(step))

    def _factors(self, values: Any, name: str, step: float) -> tuple[Codes, Codes]:
        """Give the multipliers and the shifts of the four gates, which broadcast with their sums."""
        each = np.broadcast_to(check.scales(values, name, 4, axis="gate"), 4).tolist()
        found = [quantized(self._product(scale, step) / 2.0**-12) for scale in each]
        multipliers, shifts = np.array(found, np.int64).T.reshape(2, 4, 1, 1)
        return multipliers, shifts

    def _losses(self, weights: NDArray[np.int8]) -> Losses | None:
        """Give what the sums of all gates may lose."""
        form = LanePairs(self._facts.lstm_pairs)
        return losses(weights.reshape(-1, 1, weights.shape[2]), Lossy(0, (self._dtype, 0), 1.0, "", form))

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != 3 or shape[2] != self._w.shape[2]:
            raise bad_value("x", f"expected 3 dimensions, the last of {self._w.shape[2]}, got shape {shape}")
        return (*shape[:2], self._w.shape[1])

    def _sums(self, x: Codes, hidden: Codes) -> Codes:
        """Give the sums of the four gates, with 12 bits behind the point."""
        by, (zero, hidden_zero) = self._facts.scaled if self._dtype == np.int8 else scaled_wide, self._zeros
        first = (x - zero) @ self._w.swapaxes(1, 2) + self._b[:, np.newaxis]
        second = (hidden - hidden_zero) @ self._r.swapaxes(1, 2)
        if self._dtype == np.int8:
            first, second = _left(first, x, self._lost[0]), _left(second, hidden, self._lost[1])
        made = by(second, self._by_r)
        return _clip_16(_clip_16(by(first, self._by_w)) + (made if self._facts.lstm == "lite" else _clip_16(made)))

    def _step(self, x: Codes, hidden: Codes, cell: Codes) -> tuple[Codes, Codes]:
        """Give the hidden state and the cell state after a step."""
        sums = self._sums(x, hidden)
        if self._facts.lstm == "lite":
            i, f, o = fixed_point.logistic(sums[[0, 1, 3]], 3, 15)
            kept = _clip_16(rounded_shift(f * cell, 15))
            new = _clip_16(rounded_shift(i * fixed_point.tanh(sums[2], 3, 15), 30 + self._power))
        else:
            i, f, o = sigmoid_16(3 * sums[[0, 1, 3]])
            kept = _clip_16(self._facts.scaled(f * cell, quantized(2.0**-15)))
            new = _clip_16(self._facts.scaled(i * tanh_16(3 * sums[2]), quantized(2.0 ** (-30 - self._power))))
        cell = _clip_16(kept + new)
        if self._clip is not None:
            cell = np.clip(cell, -self._clip, self._clip)
        if self._facts.lstm == "lite":
            bent = fixed_point.tanh(cell, 15 + self._power, 15)
        else:
            bent = tanh_16(3 * cell << (12 + self._power))
        hidden = self._facts.scaled(o * bent, self._last) + self._zeros[1]
        return np.clip(hidden, *check.ends(self._dtype)), cell

    def __call__(
        self,
        x: ArrayLike,
        hidden: ArrayLike | None = None,
        cell: ArrayLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> LstmSequence:
        """Run all steps, from states or from zeros; the hidden states are in `out` if it is given."""
        data = self._codes(x)
        shape = self._shape(data.shape)
        of_state = shape[1 if self._time_major else 0], shape[2]
        first = check.state(hidden, "hidden", (self._zeros[1], self._dtype), of_state)
        second = check.state(cell, "cell", (0, np.int16), of_state)
        check.out(out, self._dtype, shape, data, first, second)
        steps = (data if self._time_major else data.swapaxes(0, 1)).astype(np.int64)
        h, c, made = first.astype(np.int64), second.astype(np.int64), np.empty((len(steps), *first.shape), self._dtype)
        for at, step in enumerate(steps):
            h, c = self._step(step, h, c)
            made[at] = h
        y = put(made if self._time_major else made.swapaxes(0, 1), out)
        return LstmSequence(y, h.astype(self._dtype), c.astype(np.int16))


def unidirectional_sequence_lstm(
    x: ArrayLike,
    w: ArrayLike,
    r: ArrayLike,
    b: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: ArrayLike,
    r_scale: ArrayLike,
    hidden_scale: float,
    hidden_zero_point: int,
    cell_scale: float,
    cell_clip: float = 0.0,
    time_major: bool = False,
    hidden: ArrayLike | None = None,
    cell: ArrayLike | None = None,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> LstmSequence:
    """Run a layer of LSTM cells over a sequence.

    Gates have 12 bits behind the point, the cell state is int16. LiteRT uses gemmlowp's functions of 16 bits, TFLM a
    table of 256 sigmoids; they clamp and round the sums otherwise, too. Without peepholes, projection and
    normalization. LiteRT on 64-bit ARM, of all kernels and on all cores, adds the products of the codes k and k + 8 of
    a whole block of 16 in 16 bits: where both codes and both weights are -128, the sum is 65536 too small.

    Parameters
    ----------
    x : ndarray of int8 or int16, (batch, steps, inputs)
        Codes; int16 for TFLM only.
    w : ndarray of int8, (4, cells, inputs)
        Weights of the data, for the gates input, forget, cell and output.
    r : ndarray of int8, (4, cells, cells)
        Weights of the hidden state.
    b : ndarray of int32, or of int64 for int16, (4, cells)
        Biases, of scale x_scale * w_scale.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_scale, r_scale : float or array of 4
        Real size of a code step of the weights, one or one a gate.
    hidden_scale, hidden_zero_point : float, int
        Scale and zero point of the hidden state, which is the result.
    cell_scale : float
        Real size of a code step of the cell state, a power of two.
    cell_clip : float
        What the cell state is cut to; 0 is no cut. Where it is less than a code step of the cell state, TFLM makes
        every cell 0, and LiteRT cuts nothing.
    time_major : bool
        Whether steps are the first axis.
    hidden : ndarray of the type of `x`, (batch, cells), optional
        The hidden state before; real 0 by default.
    cell : ndarray of int16, (batch, cells), optional
        The cell state before; 0 by default.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    LstmSequence
        The hidden states of all steps, (batch, steps, cells), and the last states.

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; a `cell_scale` that is no power of
        two, or beyond what the kernel library computes.

    Notes
    -----
    Sources: TFLite ``unidirectional_sequence_lstm.cc``, ``lstm_eval.cc``; ``lstm_eval_general.cc``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> w, r = (rng.integers(-99, 99, (4, 2, n), np.int8) for n in (3, 2))
    >>> how = {"x_scale": 0.1, "x_zero_point": 0, "w_scale": 0.01, "r_scale": 0.01, "hidden_scale": 1 / 128}
    >>> x, b = rng.integers(-99, 99, (1, 2, 3), np.int8), np.zeros((4, 2), np.int32)
    >>> y, hidden, cell = qops.tflite.unidirectional_sequence_lstm(
    ...     x, w, r, b, **how, hidden_zero_point=0, cell_scale=2.0**-11
    ... )
    >>> y.tolist(), cell.tolist()
    ([[[0, 0], [0, 37]]], [[-12, 740]])

    **Hazard.** On every ARM core, two products of -128 by -128 that lie 8 codes apart make the sum of a gate 65536 too
    small:

    >>> x, w, r = np.full((1, 1, 16), -128, np.int8), np.full((4, 1, 16), -128, np.int8), np.zeros((4, 1, 1), np.int8)
    >>> how |= {"hidden_zero_point": 0, "cell_scale": 2.0**-11, "w_scale": 0.0001}
    >>> [
    ...     qops.tflite.unidirectional_sequence_lstm(x, w, r, b[:, :1], **how, kernel=k).y.item()
    ...     for k in ("reference", "reference_arm")
    ... ]
    [87, -1]
    """
    return UnidirectionalSequenceLstm._on(locals(), x, hidden, cell, out)
