"""GRU with u8 states: one layer, left to right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qops.onednn.attr import Scales
from qops.onednn.cast import ieee
from qops.onednn.dot import U8
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.rnn import RECOMMENDED, Cell, StateQuant, dequantize_state, quantize_state, sigmoid, tanh

__all__ = ["gru"]

ONE = np.float32(1)
UPDATE_RESET, OUTPUT = slice(0, 2), slice(2, 3)


@ieee
def gru(
    src_layer: ArrayLike,
    src_iter: ArrayLike,
    weights_layer: ArrayLike,
    weights_iter: ArrayLike,
    bias: ArrayLike,
    *,
    weights_scale: Scales | float,
    quant: StateQuant = RECOMMENDED,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
) -> tuple[U8, U8]:
    """Run a GRU layer on u8 codes.

    Weights and inputs g of the gates are those of `lstm`; the gates are u, r, o in this order. Each step, where h are
    the codes of the state and H = (h - shift)/scale::

        u  = sigmoid(g_u),  r = sigmoid(g_r)
        o  = tanh(g_o), with dot(q(r*H), wh) in place of dot(h, wh)
        h' = q(fma(u*H + (1 - u)*o, scale, shift))    q: saturate, then round half to even

    Parameters
    ----------
    src_layer, src_iter, weights_layer, weights_iter, bias, weights_scale
        As `lstm` takes them, with 3 gates in place of 4.
    quant, isa, version : optional
        As `lstm` takes them.

    Returns
    -------
    dst_layer : ndarray of uint8, (T, N, O)
        The state after each step.
    dst_iter : ndarray of uint8, (1, 1, N, O)
        The state after the last step.

    Raises
    ------
    TypeError, ValueError
        What `lstm` refuses.

    Notes
    -----
    Source: that of `lstm`.

    **Hazards.** Those of `lstm`. Without VNNI, pairs saturate if the codes of the weights go up to 127:

    >>> x, h = np.full((1, 1, 2), 255, np.uint8), np.full((1, 1, 1, 1), 128, np.uint8)
    >>> w, b = np.ones((1, 1, 2, 3, 1), np.float32), np.array([-9, 0, -1], np.float32).reshape(1, 1, 3, 1)
    >>> u = np.zeros((1, 1, 1, 3, 1), np.float32)
    >>> [
    ...     int(qops.onednn.gru(x, h, w, u, b, weights_scale=s, isa=isa)[1].item())
    ...     for s in (127, 63)
    ...     for isa in ("vnni", "avx2")
    ... ]
    [225, 32, 225, 225]

    While the update gate is near 1, no code of the state changes, however long the sequence:

    >>> x, h = np.full((9, 1, 1), 128, np.uint8), np.full((1, 1, 1, 1), 200, np.uint8)
    >>> w, b = np.zeros((1, 1, 1, 3, 1), np.float32), np.array([6, 0, 0], np.float32).reshape(1, 1, 3, 1)
    >>> qops.onednn.gru(x, h, w, w, b, weights_scale=1.0)[0].ravel()
    array([200, 200, 200, 200, 200, 200, 200, 200, 200], dtype=uint8)
    """
    m = machine(version, isa)
    cell = Cell(3, src_layer, src_iter, (weights_layer, weights_iter, bias, weights_scale), quant, m)
    h = cell.src_iter
    dst_layer = np.empty((len(cell.src_layer), *h.shape), np.uint8)
    for t, x in enumerate(cell.src_layer):
        gates = cell.gates(x, h, UPDATE_RESET)
        u, r = sigmoid(gates[:, 0]), sigmoid(gates[:, 1])
        state = dequantize_state(h, quant)
        o = tanh(cell.gates(x, quantize_state(r * state, quant), OUTPUT)[:, 0])
        h = dst_layer[t] = quantize_state(u * state + (ONE - u) * o, quant)
    return dst_layer, h[None, None].copy()
