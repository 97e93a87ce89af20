"""Pooling of images NCHW: the maximum, or the average with padding ("avg_inc") or without it ("avg_exc")."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.pool import pooling as pools
from qops.onednn import _checks as check
from qops.onednn.destination import destination
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine
from qops.onednn.window import DENSE, TwoInts, Window

__all__ = ["pooling"]


def pooling(
    src: ArrayLike,
    alg: str,
    kernel: TwoInts,
    *,
    window: Window = DENSE,
    layout: str = "nhwc",
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Pool images of u8 or s8 codes into codes of the same dtype.

    oneDNN's generated code ("jit") computes, over the taps that lie on the image::

        max:      dst = the largest code
        avg_inc:  dst = rne(f32(f32(s) * f32(1/n))), s = the sum of the codes, n = the number of all taps
        avg_exc:  the same with n = the number of taps on the image

    Its plain C++ ("ref") divides: ``rne(f32(s) / f32(n))``. That is used for images stored nchw, on AVX2 for images of
    fewer than 16 elements, and in 2.6 and 3.2 for images pooled into one value.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, C, H, W)
    alg : {"max", "avg_inc", "avg_exc"}
    kernel : pair of int
        At least 1.
    window : Window, optional
        Its padding must be smaller than the dilated kernel.
    layout : {"nhwc", "nchw"}, optional
        Order of the images in memory. The shape is that of NCHW in both cases.
    isa, version : str, optional
        See `gemm_u8s8s32`.
    out : ndarray of the dtype of `src`, (N, C, OH, OW), optional
        Where the result is written. It must not share memory with `src`.

    Returns
    -------
    ndarray of the dtype of `src`, (N, C, OH, OW)

    Raises
    ------
    TypeError, ValueError
        Another dtype or number of dimensions, an unknown name, a kernel that does not fit in the image or that lies on
        padding alone somewhere, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_i8i8_pooling.cpp, src/cpu/ref_pooling.cpp. Sums are exact and nothing saturates. 2.6 and
    3.2 tell nhwc from nchw by the strides of the result. If that is one value a channel, both orders have the same
    bytes, and its strides are taken here to be those of nchw.

    **Hazards.** "jit" and "ref" round some ties differently, for 49 of the n below 400: 14, 26, 28, ... Here, 91/14:

    >>> image = np.zeros((1, 64, 2, 14), np.uint8)
    >>> image[0, 0, 0, 0] = 91
    >>> window = qops.onednn.Window(stride=(2, 7))
    >>> [
    ...     qops.onednn.pooling(image, "avg_inc", (2, 7), window=window, layout=layout)[0, 0, 0, 0].item()
    ...     for layout in ("nhwc", "nchw")
    ... ]
    [7, 6]

    Examples
    --------
    >>> image, window = np.array([[1, 2], [3, 5]], np.uint8).reshape(1, 1, 2, 2), qops.onednn.Window(stride=(2, 2))
    >>> [int(qops.onednn.pooling(image, alg, (2, 2), window=window).item()) for alg in ("max", "avg_inc")]
    [5, 3]
    """
    m = machine(version, isa)
    image = check.array(src, "src", check.CODES_8, 4)
    check.choice(alg, "alg", ["max", "avg_inc", "avg_exc"])
    check.choice(layout, "layout", ["nhwc", "nchw"])
    check.instance(window, "window", Window)
    taps = check.integers(kernel, "kernel", 2, 1)
    span = window.moves.span(taps)
    if any(p >= s for pad in (window.pad_l, window.pad_r) for p, s in zip(pad, span, strict=True)):
        got = f"{window.pad_l}, {window.pad_r}"
        raise bad_value("window", f"expected padding smaller than the dilated kernel, {span}, got {got}")
    size = image.shape[2], image.shape[3]
    places = window.out_size(size, taps)
    if 0 not in image.shape[:2] and not pools.counts(size, taps, window.moves).all():
        raise bad_value("window", f"some of it lies on padding only, of an image of {image.shape[2:]}")
    dst = destination((*image.shape[:2], *places), "u8" if image.dtype == np.uint8 else "s8", out, (image, src))
    room = dst.channels_last(1).out
    pixels = image.transpose(0, 2, 3, 1)
    if alg == "max":
        made = pools.largest(pixels, taps, window.moves, room)
    else:
        rule = "quotient" if _is_ref(image.shape, places, layout, m) else "reciprocal"
        made = pools.means(pixels, taps, window.moves, rule, padding=alg == "avg_inc", out=room)
    return made.transpose(0, 3, 1, 2) if out is None else out


def _is_ref(dims: tuple[int, ...], places: TwoInts, layout: str, m: Machine) -> bool:
    smallest = dims[0] * dims[1] * min(dims[2], places[0]) * min(dims[3], places[1])
    return layout == "nchw" or smallest < m.pool_min or (places == (1, 1) and m.pool_global == "ref")
