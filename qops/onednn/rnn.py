"""What LSTM and GRU share: states in u8, weights in s8, inputs of the gates in float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from qops._kernels.arrays.refusal import bad_value
from qops._readable import shows_fields
from qops.onednn import _checks as check
from qops.onednn import dot
from qops.onednn.attr import Scales, as_scales
from qops.onednn.cast import F32, ieee, store, to_f32
from qops.onednn.destination import fma
from qops.onednn.dot import S8, S64, U8
from qops.onednn.machine import Machine

__all__ = [
    "RECOMMENDED",
    "Cell",
    "StateQuant",
    "dequantize_state",
    "quantize_state",
    "recommended_weights_scale",
    "sigmoid",
    "tanh",
]

WEIGHTS_PEAK = 63
"""The recommended code of the largest weight. No pair of products can saturate: 2*255*63 = 32130 <= 32767."""


@shows_fields
@dataclass(frozen=True)
class StateQuant:
    """How states are held in u8: ``code = q(x*scale + shift)``, ``x = (code - shift)/scale``.

    Parameters
    ----------
    scale : float, optional
        Above zero.
    shift : float, optional
        A whole number.

    Raises
    ------
    TypeError, ValueError
        Another scale or shift.
    """

    scale: float = 127.0
    shift: float = 128.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check.real(self.scale, "scale"))
        object.__setattr__(self, "shift", check.real(self.shift, "shift"))
        if not self.scale > 0:
            raise bad_value("scale", f"expected a number above zero, got {self.scale}")
        if self.shift % 1 != 0 or abs(self.shift) > 2**24:
            raise bad_value("shift", f"expected a whole number up to 2**24, got {self.shift}")


RECOMMENDED = StateQuant()
"""Scale 127, shift 128: states in [-1, 1] become codes 1..255."""

EVERY = slice(None)
Given: TypeAlias = tuple[ArrayLike, ArrayLike, ArrayLike, Scales | float]


def recommended_weights_scale(weights: ArrayLike) -> float:
    """Give 63 / max|W|, the scale of weights with which no pair saturates.

    Parameters
    ----------
    weights : ndarray of float32

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        Another dtype, weights that are not finite or all zero.

    Notes
    -----
    Source: doc/advanced/int8_computations.md, whose int8 LSTM takes 63 for this reason.

    **Hazards.** The weights have 7 bits then. With 127 / max|W| they have all 8, but pairs saturate without VNNI; see
    `lstm`.

    Examples
    --------
    >>> qops.onednn.recommended_weights_scale(np.array([0.5, -2.0], np.float32))
    31.5
    """
    peak = float(np.abs(check.array(weights, "weights", ["float32"])).max(initial=0))
    if not 0 < peak < np.inf:
        raise bad_value("weights", f"expected finite values, not all zero, got a largest magnitude of {peak}")
    return WEIGHTS_PEAK / peak


def quantize_state(x: F32, quant: StateQuant = RECOMMENDED) -> U8:
    """Make codes of a state, ``q(fma(x, scale, shift))``, where q saturates, then rounds half to even.

    Examples
    --------
    >>> from qops.onednn.rnn import quantize_state
    >>> quantize_state(np.array([-1, 0, 1], np.float32))
    array([  1, 128, 255], dtype=uint8)
    """
    return store(fma(x, quant.scale, quant.shift), "u8", names="quant")


def dequantize_state(code: U8, quant: StateQuant = RECOMMENDED) -> F32:
    """Make a state of its codes, ``(code - shift) / scale``.

    Examples
    --------
    >>> from qops.onednn.rnn import dequantize_state
    >>> dequantize_state(np.array([1, 128, 255], np.uint8))
    array([-1.,  0.,  1.], dtype=float32)
    """
    return (to_f32(code) - np.float32(quant.shift)) / np.float32(quant.scale)


def sigmoid(x: F32) -> F32:
    """``1 / (1 + exp(-x))``, rounded once. oneDNN's own function differs by a few float32 steps."""
    return to_f32(0.5 + 0.5 * np.tanh(0.5 * x.astype(np.float64)))


def tanh(x: F32) -> F32:
    """``tanh(x)``, rounded once. oneDNN's own function differs by a few float32 steps."""
    return to_f32(np.tanh(x.astype(np.float64)))


class Cell:
    """A cell with checked inputs and weights, which computes the inputs of its G gates (4 in an LSTM, 3 in a GRU).

    `weights` are those of the layer, those of the state, the bias and the scale, as the caller of `lstm` gives them.
    """

    def __init__(
        self, gates: int, src_layer: ArrayLike, src_iter: ArrayLike, weights: Given, quant: StateQuant, m: Machine
    ) -> None:
        of_layer, of_state, bias, weights_scale = weights
        check.instance(quant, "quant", StateQuant)
        self.src_layer: U8 = check.array(src_layer, "src_layer", ["uint8"], 3)
        state = check.array(src_iter, "src_iter", ["uint8"], 4)
        batch, inputs = self.src_layer.shape[1:]
        outputs = state.shape[3]
        self.src_iter: U8 = check.shape(state, "src_iter", (1, 1, batch, outputs))[0, 0]
        dims = 1, 1, 1, gates, outputs
        scale = as_scales(weights_scale, "weights_scale").along(dims, "weights_scale", (0, 24))[0, 0, 0]
        self.layer = _quantized(of_layer, "weights_layer", (1, 1, inputs, gates, outputs), scale)
        self.iter = _quantized(of_state, "weights_iter", (1, 1, outputs, gates, outputs), scale)
        self.bias = state_f32(bias, "bias", (1, 1, gates, outputs))
        self.divisor: F32 = np.broadcast_to(scale * np.float32(quant.scale), (gates, outputs))
        self.quant, self.saturates = quant, m.saturates

    @ieee
    def gates(self, x: U8, h: U8, which: slice = EVERY) -> F32:
        """Give the inputs of gates, (N, G, O): ``f32(acc - shift*(sum wx + sum wh)) / f32(wscale*scale) + bias``."""
        wx, wh = self.layer[:, which], self.iter[:, which]
        acc = self._dot(x, wx) + self._dot(h, wh)
        weight_sum = wx.sum(axis=0, dtype=np.int64) + wh.sum(axis=0, dtype=np.int64)
        total = dot.wrap_s32(acc - int(self.quant.shift) * weight_sum)
        return to_f32(total) / self.divisor[which] + self.bias[which]

    def _dot(self, states: U8, weights: S8) -> S64:
        inputs, gates, outputs = weights.shape
        product = dot.compensated(states, weights.reshape(inputs, gates * outputs), self.saturates)
        return product.reshape(len(states), gates, outputs).astype(np.int64)


def state_f32(x: ArrayLike, name: str, wanted: tuple[int, ...]) -> F32:
    """Give finite float32 data of shape (1, 1, ...) without the 1s: infinities may make NaN, which has no code."""
    return np.asarray(check.shape(check.finite(x, name), name, wanted)[0, 0], np.float32)


@ieee
def _quantized(weights: ArrayLike, name: str, wanted: tuple[int, ...], scale: F32) -> S8:
    w = check.no_nan(check.shape(check.array(weights, name, ["float32", "int8"]), name, wanted), name)[0, 0]
    return w if w.dtype == np.int8 else store(w * scale, "s8")
