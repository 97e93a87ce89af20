"""LSTM with u8 states: one layer, left to right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qops.onednn.attr import Scales
from qops.onednn.cast import F32, ieee
from qops.onednn.dot import U8
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.rnn import RECOMMENDED, Cell, StateQuant, quantize_state, sigmoid, state_f32, tanh

__all__ = ["lstm"]


@ieee
def lstm(
    src_layer: ArrayLike,
    src_iter: ArrayLike,
    src_iter_c: ArrayLike,
    weights_layer: ArrayLike,
    weights_iter: ArrayLike,
    bias: ArrayLike,
    *,
    weights_scale: Scales | float,
    quant: StateQuant = RECOMMENDED,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
) -> tuple[U8, U8, F32]:
    """Run an LSTM layer on u8 codes.

    Weights are stored as ``w = q(f32(W*weights_scale))``. Each step, for the gates i, f, c~, o in this order::

        acc = dot(x, wx) + dot(h, wh)
        g   = f32(acc - shift*(sum wx + sum wh)) / f32(weights_scale*scale) + bias
        c   = sigmoid(g_f)*c + sigmoid(g_i)*tanh(g_c~)
        h   = q(fma(sigmoid(g_o)*tanh(c), scale, shift))    q: saturate, then round half to even

    Parameters
    ----------
    src_layer : ndarray of uint8, (T, N, C)
        The inputs: T steps of N sequences, with C inputs each. O is the number of outputs.
    src_iter : ndarray of uint8, (1, 1, N, O)
        The hidden state before the first step.
    src_iter_c : ndarray of float32, (1, 1, N, O)
        The cell state before the first step.
    weights_layer, weights_iter : ndarray of float32 or int8, (1, 1, C, 4, O) and (1, 1, O, 4, O)
        int8 weights are taken as quantized already.
    bias : ndarray of float32, (1, 1, 4, O)
        Added to the inputs of the gates.
    weights_scale : Scales or float
        Mask 0, or 24 for one scale for each gate and output. With `recommended_weights_scale` no pair saturates.
    quant : StateQuant, optional
        Scale and shift of the states. 127 and 128 are recommended.
    isa, version : str, optional
        See `gemm_u8s8s32`. All versions give the same bits.

    Returns
    -------
    dst_layer : ndarray of uint8, (T, N, O)
        The hidden state after each step.
    dst_iter : ndarray of uint8, (1, 1, N, O)
        The hidden state after the last step.
    dst_iter_c : ndarray of float32, (1, 1, N, O)
        The cell state after the last step. It differs from oneDNN's by up to 1e-6, because oneDNN has its own exp and
        tanh. A code may differ where its value is that close to a tie.

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, weights that are NaN, a bias or cell state that is not finite, an
        unknown `isa` or `version`.

    Notes
    -----
    Source: src/cpu/rnn/ref_rnn.cpp, src/cpu/x64/rnn. Not modelled: packed GEMM's k blocks for long inputs.

    **Hazards.** The accumulator of a gate wraps at 2**31: with the largest codes, from C + O = 65794 on.

    Without VNNI, pairs saturate in both products if the codes of the weights go up to 127. Up to 63 they do not:

    >>> x, h, c = np.full((1, 1, 2), 255, np.uint8), np.full((1, 1, 1, 1), 128, np.uint8), np.zeros((1, 1, 1, 1))
    >>> w, u, b = np.ones((1, 1, 2, 4, 1)), np.zeros((1, 1, 1, 4, 1)), np.full((1, 1, 4, 1), -1)
    >>> c, w, u, b = (v.astype(np.float32) for v in (c, w, u, b))
    >>> [int(qops.onednn.lstm(x, h, c, w, u, b, weights_scale=s, isa=isa)[1].item())
    ...  for s in (127, 63) for isa in ("vnni", "avx2")]
    [175, 121, 175, 175]
    """
    m = machine(version, isa)
    cell = Cell(4, src_layer, src_iter, (weights_layer, weights_iter, bias, weights_scale), quant, m)
    h = cell.src_iter
    c = state_f32(src_iter_c, "src_iter_c", (1, 1, *h.shape))
    dst_layer = np.empty((len(cell.src_layer), *h.shape), np.uint8)
    for t, x in enumerate(cell.src_layer):
        gates = cell.gates(x, h)
        i, f, o = (sigmoid(gates[:, g]) for g in (0, 1, 3))
        c = f * c + i * tanh(gates[:, 2])
        h = dst_layer[t] = quantize_state(o * tanh(c), quant)
    return dst_layer, h[None, None].copy(), c[None, None].copy()
