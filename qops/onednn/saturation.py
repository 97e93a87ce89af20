"""Where pairs of products saturate on a machine without VNNI: counted from data, or told from the weights alone.

VPMADDUBSW keeps ``a0*w0 + a1*w1`` in s16: a pair is lost where that leaves [-32768, 32767], and nothing reports it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn import dot
from qops.onednn.convolution_weights import reorder_weights
from qops.onednn.dot import S8, S16_MAX, S16_MIN, U8
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.window import DENSE, Window

__all__ = ["Saturation", "saturated_pairs", "unsafe_pairs"]


class Saturation(NamedTuple):
    """How often pairs of weights left s16.

    Attributes
    ----------
    counts : ndarray of int64
        For each pair of weights, in how many places; shape as of `unsafe_pairs`.
    places : int
        What each pair of weights was multiplied with: the rows of the source, or the places of the window.
    """

    counts: NDArray[np.int64]
    places: int

    @property
    def share(self) -> float:
        """Share of all pairs of products that saturated; 0 if there was none."""
        return int(self.counts.sum()) / max(1, self.counts.size * self.places)


def saturated_pairs(src: ArrayLike, weights: ArrayLike, *, window: Window = DENSE) -> Saturation:
    """Count the pairs of products that saturate in `convolution` or `inner_product` on AVX2.

    A pair is lost where ``a0*w0 + a1*w1`` is outside [-32768, 32767], a being the u8 codes that the kernel reads: an
    s8 source + 128. Pairs are (0,1), (2,3), ... along the channels of one tap, or along the inner product, where
    they start anew in each k block; a missing partner is 0. All versions agree; AVX-512 without VNNI does the same
    but for other k blocks, from an inner product of 257 on, and for convolutions of one channel in 3.13, where taps
    form pairs (`convolution`).

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, IC) or (N, C, H, W)
    weights : ndarray of int8, (OC, IC) or (O, C, KH, KW)
    window : Window, optional
        Stride, dilation and padding of a convolution.

    Returns
    -------
    Saturation
        counts of shape (OC, pairs) or (O, pairs, KH, KW).

    Raises
    ------
    TypeError, ValueError
        Other dtypes or numbers of dimensions, shapes that do not fit, a window for an inner product.

    Notes
    -----
    Source: the instruction VPMADDUBSW; the pairing of oneDNN's kernels, as in `qops.onednn.dot`.

    **Hazards.** The same s8 codes may saturate in an inner product and cannot in a convolution, which halves its
    weights first (`reorder_weights`):

    >>> x, w = np.int8([[127, 127]]), np.int8([[127, 127]])
    >>> saturated_pairs(x, w).share, saturated_pairs(x.reshape(1, 2, 1, 1), w.reshape(1, 2, 1, 1)).share
    (1.0, 0.0)

    Examples
    --------
    The pair (127, 127) is lost in the first of two rows, the pair (127, -127) in none:

    >>> saturated_pairs(np.uint8([[255, 255, 255, 255], [9, 9, 9, 9]]), np.int8([[127, 127, 127, -127]]))
    Saturation(counts=array([[1, 0]]), places=2)
    """
    w = _weights(weights)
    x = check.array(src, "src", [np.uint8, np.int8], w.ndim)
    check.instance(window, "window", Window)
    if w.ndim == 2:
        if window != DENSE:
            raise ValueError(f"window: expected none for an inner product, got {window!r}")
        check.shape(w, "weights", (w.shape[0], x.shape[1]))
        return Saturation(_counts(dot.shifted(x), w, _k_starts(w)), len(x))
    check.shape(w, "weights", (w.shape[0], x.shape[1], *w.shape[2:]))
    taps = window.taps(dot.shifted(x), (w.shape[2], w.shape[3]), fill=0)  # padding never saturates
    n, c, oh, ow, kh, kw = taps.shape
    places = taps.transpose(0, 2, 3, 4, 5, 1).reshape(n * oh * ow, kh * kw * c)  # channels of a tap are neighbours
    if x.dtype == np.int8:
        w = reorder_weights(w[None], None, machine(DEFAULT_VERSION, "avx2"), halved=True)[0]
    return Saturation(_like(w, _counts(places, _matrix(w), _k_starts(w))), len(places))


def unsafe_pairs(weights: ArrayLike, top: int = 255) -> NDArray[np.bool_]:
    """Tell which pairs of weights *can* saturate with a source of u8 codes in [0, `top`].

    A pair is safe if ``top*(max(w0,0) + max(w1,0)) <= 32767`` and ``top*(min(w0,0) + min(w1,0)) >= -32768``, which is
    necessary and sufficient: no data saturate a safe pair, and some data, 0 and `top` alone, saturate an unsafe one.
    A large positive and a large negative weight make a safe pair.

    Parameters
    ----------
    weights : ndarray of int8, (OC, IC) or (O, C, KH, KW)
        As multiplied: those of an s8 convolution are halved first, and then always safe.
    top : int, optional
        The largest code of the source, in [0, 255]; 255 for an s8 source, to which 128 is added.

    Returns
    -------
    ndarray of bool, (OC, pairs) or (O, pairs, KH, KW)
        Pairs as in `saturated_pairs`.

    Raises
    ------
    TypeError, ValueError
        Other dtypes or numbers of dimensions; `top` outside [0, 255].

    Notes
    -----
    Source: the instruction VPMADDUBSW.

    **Hazards.** 7-bit codes are safe only with a source that really stays at or below 127; nothing but its scale
    keeps it there:

    >>> w = np.int8([[127, 127, 127, -127, 64, 64]])
    >>> unsafe_pairs(w), unsafe_pairs(w, top=127), unsafe_pairs(w, top=130)
    (array([[ True, False, False]]), array([[False, False, False]]), array([[ True, False, False]]))
    """
    w = _weights(weights)
    check.integer(top, "top", 0, 255)
    return _like(w, dot.leaves_s16(dot.paired(_matrix(w), _k_starts(w)), top))


def _weights(x: ArrayLike) -> S8:
    w = check.array(x, "weights", [np.int8])
    if w.ndim not in (2, 4):
        raise ValueError(f"weights: expected shape (OC, IC) or (O, C, KH, KW), got {w.shape}")
    return w


def _matrix(w: S8) -> S8:
    """Weights as rows, the channels of one tap neighbours."""
    return w if w.ndim == 2 else w.transpose(0, 2, 3, 1).reshape(len(w), np.prod(w.shape[1:], dtype=int))


def _k_starts(w: S8) -> Sequence[int]:
    """Where pairing starts anew along a row: at each k block, or each tap."""
    if w.ndim == 2:
        return machine(DEFAULT_VERSION, "avx2").k_starts(w.shape[1])
    return tuple(range(0, w[0].size, w.shape[1])) if w[:1].size else (0,)


def _like(w: S8, pairs: NDArray[Any]) -> NDArray[Any]:
    """Give (O, all pairs of a row) the shape of the weights."""
    if w.ndim == 2:
        return pairs
    return pairs.reshape(len(w), *w.shape[2:], (w.shape[1] + 1) // 2).transpose(0, 3, 1, 2)


def _counts(rows: U8, weights: S8, starts: Sequence[int]) -> NDArray[np.int64]:
    """For each pair of weights (O, P): how many rows it saturates with. Only pairs that can are tried."""
    a, w = dot.paired(rows, starts), dot.paired(weights, starts)
    counts = np.zeros(w.shape[:2], np.int64)
    for o, p in np.argwhere(dot.leaves_s16(w, a.max(axis=0, initial=0))):
        pair = a[:, p] @ w[o, p]
        counts[o, p] = np.count_nonzero((pair > S16_MAX) | (pair < S16_MIN))
    return counts
