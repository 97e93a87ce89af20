"""Where pairs of products saturate on a machine without VNNI: counted from data, or found from the weights alone.

VPMADDUBSW keeps ``a0*w0 + a1*w1`` in s16. Where that is outside [-32768, 32767] it saturates, and nothing reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._readable import shows_fields
from qops.checks import shown
from qops.codes import TABLE
from qops.onednn import _checks as check
from qops.onednn import dot
from qops.onednn.convolution_weights import Filters, filters_of, reorder_weights
from qops.onednn.dot import S8, S16_MAX, S16_MIN, S64, U8
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.pair_order import ORDERS, padded_rows, rows_of, weights_in_order
from qops.onednn.unrolled import unrolled_image, unrolled_weights, unrolled_window
from qops.onednn.window import DENSE, Window

__all__ = ["Saturation", "saturated_pairs", "unsafe_pairs"]

U8_TOP = TABLE["u8"].highest
S8_LOW = TABLE["s8"].lowest
ONEDNN = next(iter(ORDERS))


@shows_fields
class Saturation(NamedTuple):
    """How often each pair of weights saturated, and how far the sums are from the exact ones.

    Attributes
    ----------
    counts : ndarray of int64
        For each pair of weights, in how many places it saturated. The shape is that of `unsafe_pairs`.
    places : int
        In how many places each pair of weights was used: rows of the source, or places of the window.
    largest_loss : int
        The largest distance of a sum from the exact one. Saturation or halved weights cause it.
    mean_loss : float
        The mean distance over all sums.
    """

    counts: NDArray[np.int64]
    places: int
    largest_loss: int
    mean_loss: float

    @property
    def share(self) -> float:
        """The share of all pairs of products that saturated; 0 if there was no pair."""
        return int(self.counts.sum()) / max(1, self.counts.size * self.places)


def saturated_pairs(
    src: ArrayLike,
    weights: ArrayLike,
    *,
    window: Window = DENSE,
    isa: str = "avx2",
    version: str = DEFAULT_VERSION,
    order: str = ONEDNN,
    zero_point: int = 0,
) -> Saturation:
    """Count the pairs of products that saturate in `convolution` or `inner_product`, and measure what that costs.

    A pair saturates where ``a0*w0 + a1*w1`` is outside [-32768, 32767]. Here a are the u8 codes that the kernel reads,
    which for an s8 source are its codes + 128. Channels (0,1), (2,3), ... of one tap form pairs. So do the codes of an
    inner product, separately in each k block. A code that is left over is paired with 0. Convolutions of one channel
    form pairs of taps in 3.13 on AVX-512 (see `convolution`). Depthwise convolutions form none. With VNNI nothing
    saturates.

    In a convolution of an s8 source nothing saturates either, because the weights are halved. But that loses their
    lowest bit; ``largest_loss`` and ``mean_loss`` measure what it does to the sums. Even weights lose nothing. So
    weights of 7 bits are exact if they are doubled, and lose as much as others if they are not.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, IC) or (N, C, H, W)
    weights : ndarray of int8, (OC, IC), (O, C, KH, KW) or (G, O/G, C/G, KH, KW)
        With the order "channels, taps" they may be uint8, and are (O, C, KH, KW) or (G, O/G, C/G, KH, KW).
    window : Window, optional
        Stride, dilation and padding of a convolution.
    isa, version : str, optional
        See `gemm_u8s8s32`.
    order : {"channels of a tap", "taps, channels", "channels, taps"}
        How codes under the window form pairs. "channels of a tap" is oneDNN's order: pairs begin anew at each tap, and
        padding is no part of them. "taps, channels" is that of fbgemm and of onnxruntime's QLinearConv: pairs go on
        from the last channel of a tap to the first one of the next, and padding takes part. An inner product forms
        pairs from its first code on. Nothing is halved, and codes of int8 saturate nothing. "channels, taps" is that of
        onnxruntime's ConvInteger: pairs go on from the last tap of a channel to the first one of the next. There the
        weights are the unsigned codes. So a source of int8 with weights of uint8 saturates, and nothing else.
    zero_point : int
        The code of real 0 of the source, which padding has. It is for the orders in which padding takes part.

    Returns
    -------
    Saturation
        The shape of its counts is (OC, pairs) or (O, pairs, KH, KW), where O are the outputs of all groups. Where taps
        form pairs, it is (O, pairs, KH, 1) for pairs in the rows of the kernel, else (O, pairs, 1, 1).
        With the orders in which padding takes part it is (OC, pairs) or (O, pairs).

    Raises
    ------
    TypeError, ValueError
        Other dtypes or numbers of dimensions, shapes that do not fit, a window for an inner product, an unknown `isa`,
        `version` or `order`; a `zero_point` that is no code, or beside an order without padding.

    Notes
    -----
    Source: the instruction VPMADDUBSW, and the pairs of `qops.onednn.dot`. Images are taken to be stored nhwc and to
    have no zero point, weights of inner products to be in the layout that oneDNN prefers.

    **Hazards.** The same s8 codes saturate in an inner product and not in a convolution, which halves its weights. Odd
    weights pay for that:

    >>> x, w = np.array([[127, 127]], np.int8), np.array([[127, 127]], np.int8)
    >>> (
    ...     qops.onednn.saturated_pairs(x, w).share,
    ...     qops.onednn.saturated_pairs(x.reshape(1, 2, 1, 1), w.reshape(1, 2, 1, 1)).share,
    ... )
    (1.0, 0.0)
    >>> bits7 = np.array([[63, 63]], np.int8).reshape(1, 2, 1, 1)
    >>> [qops.onednn.saturated_pairs(x.reshape(1, 2, 1, 1), w).largest_loss for w in (bits7, 2 * bits7)]
    [254, 0]

    Examples
    --------
    The pair (127, 127) saturates in the first of two rows, the pair (127, -127) in none:

    >>> qops.onednn.saturated_pairs(
    ...     np.array([[255, 255, 255, 255], [9, 9, 9, 9]], np.uint8), np.array([[127, 127, 127, -127]], np.int8)
    ... )
    Saturation(counts=[[1, 0]], places=2, largest_loss=32003, mean_loss=16001.5)
    """
    m = machine(version, isa)
    check.instance(window, "window", Window)
    if check.choice(order, "order", ORDERS) != ONEDNN:
        return _in_order(src, weights_in_order(weights, order), window, m.saturates, zero_point, order)
    if check.int32(zero_point, "zero_point"):
        raise bad_value("zero_point", f"expected 0 with order {order!r}, got {zero_point}")
    if _weights(weights).ndim == 4:
        x = check.array(src, "src", check.CODES_8, 4)
        return _of_convolution(x, filters_of(weights, None, m), window)
    if window != DENSE:
        raise bad_value("window", f"expected none for an inner product, got {shown(window)}")
    x = check.array(src, "src", check.CODES_8, 2)
    w = _weights(weights)
    check.shape(w, "weights", (len(w), x.shape[1]))
    is_vector = m.ip_any == "gemm" and m.gemv and 1 in (len(x), len(w))
    starts = m.k_starts(x.shape[1]) if m.ip_any == "gemm" and not is_vector else (0,)
    if is_vector and len(x) > 1 and x.dtype == np.int8:  # of a matrix and a vector, GEMV shifts the vector
        counts, lost = _lost(dot.shifted(w), x, starts, m.saturates)
        counts = counts.sum(axis=0, keepdims=True)
    else:
        counts, lost = _lost(dot.shifted(x), w, starts, m.saturates)
    return _saturation(counts, len(x), lost)


def _of_convolution(src: NDArray[Any], filters: Filters, window: Window) -> Saturation:
    if src.shape[1] != filters.weights.shape[0] * filters.weights.shape[2]:
        raise filters.unfit(src)
    size = src.shape[2], src.shape[3]
    columns = window.moves.out_size(size, filters.taps, "weights")[1]  # refuses a kernel that does not fit
    is_whole = not any(n % stride for n, stride in zip(size, window.stride, strict=True))
    kernel = filters.kernel(src.dtype, is_whole, False, window)
    way = filters.way(kernel, src.dtype, window, columns)
    w = unrolled_weights(filters.weights, way.order) if way.order else filters.weights
    groups, outputs, inputs, kh, kw = w.shape
    image = unrolled_image(src, filters.taps, window, way.order) if way.order else src
    taps = unrolled_window(window, way.order).taps(image, (kh, kw), fill=0)  # padding never saturates, and is 0
    n, _, oh, ow = taps.shape[:4]
    places, k = n * oh * ow, kh * kw * inputs  # the channels of a tap are neighbours
    rows = taps.reshape(n, groups, inputs, oh, ow, kh, kw).transpose(1, 0, 3, 4, 5, 6, 2).reshape(groups, places, k)
    columns = w.transpose(0, 1, 3, 4, 2).reshape(groups, outputs, k)
    found = [_lost(x, y, range(0, k, max(1, inputs)), way.saturating) for x, y in zip(rows, columns, strict=True)]
    lost: list[NDArray[Any]] = [sums for _, sums in found]
    if way.halved:
        stored = reorder_weights(columns, None, halved=True)
        lost = [dot.compensated(x, d.T, saturates=False) for x, d in zip(rows, columns - 2 * stored, strict=True)]
    counts = np.stack([pairs for pairs, _ in found]).reshape(groups * outputs, kh, kw, (inputs + 1) // 2)
    return _saturation(counts.transpose(0, 3, 1, 2), places, np.stack(lost))


def _lost(rows: U8 | S8, weights: NDArray[Any], starts: Sequence[int], saturates: bool) -> tuple[S64, S64]:
    """Give in how many rows each pair of weights (O, P) saturates, and what each sum (M, O) loses by that."""
    w = dot.paired(weights, starts)
    counts, lost = np.zeros(w.shape[:2], np.int64), np.zeros((len(rows), len(weights)), np.int64)
    if not saturates:
        return counts, lost
    a = dot.paired(rows, starts)
    ends = a.max(axis=0, initial=0), a.min(axis=0, initial=0)
    for o, p in np.argwhere(dot.leaves_s16(w, *ends)):  # only these can saturate
        pair = a[:, p] @ w[o, p]
        cut = pair - np.clip(pair, S16_MIN, S16_MAX)
        counts[o, p] = np.count_nonzero(cut)
        lost[:, o] += cut
    return counts, lost


def _in_order(
    src: ArrayLike, weights: NDArray[Any], window: Window, saturates: bool, zero_point: int, order: str
) -> Saturation:
    """Count where pairs reach from tap to tap or from channel to channel, and padding holds the zero point."""
    how = ORDERS[order]
    x = check.array(src, "src", check.CODES_8, 2 if weights.ndim == 2 else 4)
    codes = np.iinfo(x.dtype)
    pad = check.int32(zero_point, "zero_point", int(codes.min), int(codes.max))
    rows = padded_rows(x, weights, window, pad, how.channels_last)
    filters = rows_of(weights, how.channels_last).reshape(len(rows), -1, rows.shape[2])
    saturates = saturates and how.saturates(x.dtype.name, weights.dtype.name)
    found = [_lost(row, w, (0,), saturates) for row, w in zip(rows, filters, strict=True)]
    counts = np.concatenate([pairs for pairs, _ in found])
    return _saturation(counts, rows.shape[1], np.stack([lost for _, lost in found]))


def _saturation(counts: S64, places: int, lost: NDArray[Any]) -> Saturation:
    loss = np.abs(lost.astype(np.int64))
    return Saturation(counts, places, int(loss.max(initial=0)), float(loss.mean()) if loss.size else 0.0)


def unsafe_pairs(
    weights: ArrayLike, top: int = U8_TOP, *, src_dt: str = "u8", order: str = ONEDNN
) -> NDArray[np.bool_]:
    """Tell which pairs of weights *can* saturate with a source of u8 codes in [0, `top`].

    A pair is safe if ``top*(max(w0,0) + max(w1,0)) <= 32767`` and ``top*(min(w0,0) + min(w1,0)) >= -32768``. No data
    saturate a safe pair, and codes of 0 and `top` saturate every unsafe one. A large positive and a large negative
    weight are a safe pair. This holds on AVX2; AVX-512 has two exceptions, see the hazards.

    Parameters
    ----------
    weights : ndarray of int8, (OC, IC), (O, C, KH, KW) or (G, O/G, C/G, KH, KW)
        With the order "channels, taps" they may be uint8, and are (O, C, KH, KW) or (G, O/G, C/G, KH, KW).
    top : int, optional
        The largest code of the source, in [0, 255]. Of an s8 source it is the largest code + 128.
    src_dt : {"u8", "s8"}, optional
        Type of the source. A convolution halves its weights for s8, and then no pair is unsafe. With "taps, channels"
        no pair of s8 is unsafe, because the kernels of these systems are exact. With "channels, taps" pairs of s8 and
        weights of uint8 may be, and no others.
    order : {"channels of a tap", "taps, channels", "channels, taps"}
        See `saturated_pairs`. With the last two padding takes part: if the zero point of the source is above `top`,
        give that as `top`.

    Returns
    -------
    ndarray of bool, (OC, pairs) or (O, pairs, KH, KW); with the last two orders (OC, pairs) or (O, pairs)
        The pairs are those of `saturated_pairs` on AVX2.

    Raises
    ------
    TypeError, ValueError
        Other dtypes or numbers of dimensions; `top` outside [0, 255]; an unknown `src_dt` or `order`.

    Notes
    -----
    Source: the instruction VPMADDUBSW.

    **Hazards.** A source of 7 bits is safe only while no code is above 127, and nothing but its scale ensures that:

    >>> w = np.array([[127, 127, 127, -127, 64, 64]], np.int8)
    >>> qops.onednn.unsafe_pairs(w), qops.onednn.unsafe_pairs(w, top=127), qops.onednn.unsafe_pairs(w, top=130)
    (array([[ True, False, False]]), array([[False, False, False]]), array([[ True, False, False]]))

    With an odd number of channels, fbgemm and onnxruntime form other pairs. Each of these taps is alone in oneDNN:

    >>> taps = np.array([[[[127, 127]]]], np.int8)
    >>> [bool(qops.onednn.unsafe_pairs(taps, order=order).any()) for order in ("channels of a tap", "taps, channels")]
    [False, True]

    onnxruntime's ConvInteger multiplies weights of uint8 by an image of int8, and saturates with that alone:

    >>> w = np.array([[[[255, 2, 1, 255]]]], np.uint8)
    >>> [qops.onednn.unsafe_pairs(w, src_dt=dt, order="channels, taps").tolist() for dt in ("s8", "u8")]
    [[[True, False]], [[False, False]]]

    On AVX-512 other pairs can saturate in two places: those of taps, in images of one channel (see `convolution`), and
    those of s8 codes times one row of weights, where 2.6, and 3.2 with weights "oi", add 128 to the weights:

    >>> x, w = np.array([[127, 127], [0, 0]], np.int8), np.array([[60, 60]], np.int8)
    >>> qops.onednn.unsafe_pairs(w), qops.onednn.saturated_pairs(x, w, isa="avx512", version="2.6").counts
    (array([[False]]), array([[1]]))
    """
    top = check.int32(top, "top", 0, U8_TOP)
    src = {"u8": "uint8", "s8": "int8"}[check.choice(src_dt, "src_dt", ("u8", "s8"))]
    if check.choice(order, "order", ORDERS) != ONEDNN:
        how, any_w = ORDERS[order], weights_in_order(weights, order)
        low = S8_LOW if src_dt == "s8" else 0
        row = dot.paired(rows_of(any_w, how.channels_last), (0,))
        return dot.leaves_s16(row, max(top + low, 0), low) & how.saturates(src, any_w.dtype.name)
    w = _weights(weights)
    if w.ndim == 2:
        return dot.leaves_s16(dot.paired(w, machine(DEFAULT_VERSION, "avx2").k_starts(w.shape[1])), top)
    outputs, inputs, kh, kw = w.shape
    if src_dt == "s8":
        w = reorder_weights(w[None], None, halved=True)[0]
    rows = w.transpose(0, 2, 3, 1).reshape(outputs, kh * kw * inputs)
    pairs = dot.leaves_s16(dot.paired(rows, range(0, rows.shape[1], max(1, inputs))), top)
    return pairs.reshape(outputs, kh, kw, (inputs + 1) // 2).transpose(0, 3, 1, 2)


def _weights(x: ArrayLike) -> S8:
    """Give weights as (OC, IC) or (O, I, KH, KW), where O are the outputs of all groups."""
    w = weights_in_order(x, ONEDNN)
    return w if w.ndim < 5 else w.reshape(w.shape[0] * w.shape[1], *w.shape[2:])
