"""Pooling: max, average with padding counted ("avg_inc") and without ("avg_exc"); images NCHW."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.product import pooling as pools
from qops.onednn import _checks as check
from qops.onednn.cast import to_f32
from qops.onednn.destination import Step, destination
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine
from qops.onednn.output import reciprocal
from qops.onednn.window import DENSE, Pair, Window

__all__ = ["pooling"]


def pooling(
    src: ArrayLike,
    alg: str,
    kernel: Pair,
    *,
    window: Window = DENSE,
    layout: str = "nhwc",
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Pool an image of u8 or s8 codes into codes of the same dtype.

    Where the kernel is generated code ("jit")::

        max:      dst = max over the valid taps
        avg_inc:  dst = rne(f32(f32(s) * f32(1/n))), s = sum over the valid taps, n = number of taps
        avg_exc:  the same with n = number of valid taps

    Images stored nchw, those of fewer than 16 elements on AVX2, and in 2.6 and 3.2 those that are pooled into one value
    go to plain C++ ("ref"), which divides: ``rne(f32(s) / f32(n))``.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, C, H, W)
    alg : {"max", "avg_inc", "avg_exc"}
    kernel : pair of int
        At least 1.
    window : Window, optional
        Its padding must be smaller than the kernel, so that no window is all padding.
    layout : {"nhwc", "nchw"}, optional
        Order in memory; shapes are logical, always NCHW.
    isa, version : str, optional
        See `gemm_u8s8s32`.
    out : ndarray of the dtype of `src`, (N, C, OH, OW), optional
        Where the result is written; it must not share memory with `src`.

    Returns
    -------
    ndarray of the dtype of `src`, (N, C, OH, OW)

    Raises
    ------
    TypeError, ValueError
        Another dtype or number of dimensions, an unknown name, a kernel that does not fit in the image or may lie on
        padding only, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_i8i8_pooling.cpp, src/cpu/ref_pooling.cpp. Nothing saturates; sums are exact. A result
    of one value a channel has the same bytes in both orders, so that its strides alone tell 2.6 and 3.2 which it is;
    here they are taken to be those of nchw, which is why such pools are "ref" there.

    **Hazards.** "jit" and "ref" differ on exact ties (here 91/14 = 6.5), for 49 of the n below 400, first 14, 26, 28:

    >>> image = np.zeros((1, 64, 2, 14), np.uint8)
    >>> image[0, 0, 0, 0] = 91
    >>> [int(pooling(image, "avg_inc", (2, 7), window=Window(stride=(2, 7)), layout=layout)[0, 0, 0, 0])
    ...  for layout in ("nhwc", "nchw")]
    [7, 6]

    Examples
    --------
    >>> image, window = np.uint8([[1, 2], [3, 5]]).reshape(1, 1, 2, 2), Window(stride=(2, 2))
    >>> [int(pooling(image, alg, (2, 2), window=window).item()) for alg in ("max", "avg_inc")]
    [5, 3]
    """
    m = machine(version, isa)
    image = check.array(src, "src", [np.uint8, np.int8], 4)
    check.choice(alg, "alg", ["max", "avg_inc", "avg_exc"])
    check.choice(layout, "layout", ["nhwc", "nchw"])
    check.instance(window, "window", Window)
    taps = check.pair(kernel, "kernel", 1)
    span = window.moves.span(taps)
    if any(p >= s for pad in (window.pad_l, window.pad_r) for p, s in zip(pad, span, strict=True)):
        raise ValueError(f"window: expected padding smaller than the kernel {taps}, got {window.pad_l}, {window.pad_r}")
    size = image.shape[2], image.shape[3]
    places = window.out_size(size, taps)
    count = pools.counts(size, taps, window.moves)
    if not count.all():
        raise ValueError(f"window: some of it lies on padding only, of an image of {image.shape[2:]}")
    dst = destination((*image.shape[:2], *places), "u8" if image.dtype == np.uint8 else "s8", out, (image, src))
    if alg == "max":
        return dst.put(pools.largest(image, taps, window.moves))
    taken = to_f32(count if alg == "avg_exc" else taps[0] * taps[1])
    mean: Step = ("divide", taken) if _is_ref(image.shape, places, layout, m) else ("multiply", reciprocal(taken))
    return dst.store(pools.sums(image, taps, window.moves), [mean])


def _is_ref(dims: tuple[int, ...], places: Pair, layout: str, m: Machine) -> bool:
    smallest = dims[0] * dims[1] * min(dims[2], places[0]) * min(dims[3], places[1])
    return layout == "nchw" or smallest < m.pool_min or (places == (1, 1) and m.pool_global == "ref")
