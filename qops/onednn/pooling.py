"""Pooling: max, average with padding counted ("avg_inc") and without ("avg_exc"); images NCHW."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn.cast import ieee, store, to_f32
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine
from qops.onednn.output import reciprocal
from qops.onednn.window import DENSE, Pair, Window

__all__ = ["pooling"]


@ieee
def pooling(
    src: ArrayLike,
    alg: str,
    kernel: Pair,
    *,
    window: Window = DENSE,
    layout: str = "nhwc",
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
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

    Returns
    -------
    ndarray of the dtype of `src`, (N, C, OH, OW)

    Raises
    ------
    TypeError, ValueError
        Another dtype or number of dimensions, an unknown name, a kernel that does not fit in the image or may lie on
        padding only.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_i8i8_pooling.cpp, src/cpu/ref_pooling.cpp. Nothing saturates. Sums are exact. One value
    a channel lies in memory alike in both orders: 2.6 and 3.2 go by the strides given, taken to be those of nchw here.

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
    if any(p >= s for pad in (window.pad_l, window.pad_r) for p, s in zip(pad, window.span(taps), strict=True)):
        raise ValueError(f"window: expected padding smaller than the kernel {taps}, got {window.pad_l}, {window.pad_r}")
    out = window.out_size((image.shape[2], image.shape[3]), taps)
    if not _count(image, "avg_exc", taps, window).all():
        raise ValueError(f"window: some of it lies on padding only, of an image of {image.shape[2:]}")
    if alg == "max":
        return np.asarray(window.taps(image, taps, np.iinfo(image.dtype).min).max(axis=(4, 5)))
    total = to_f32(window.taps(image.astype(np.int32), taps, 0).sum(axis=(4, 5), dtype=np.int32))
    count = to_f32(_count(image, alg, taps, window))
    mean = total / count if _is_ref(image.shape, out, layout, m) else total * reciprocal(count)
    return store(mean, "u8" if image.dtype == np.uint8 else "s8")


def _count(src: NDArray[Any], alg: str, kernel: Pair, window: Window) -> NDArray[np.int64]:
    ones = np.ones((1, 1, *src.shape[2:]), np.int64)
    return np.asarray(window.taps(ones, kernel, fill=1 if alg == "avg_inc" else 0).sum(axis=(4, 5)))


def _is_ref(dims: tuple[int, ...], out: Pair, layout: str, m: Machine) -> bool:
    smallest = dims[0] * dims[1] * min(dims[2], out[0]) * min(dims[3], out[1])
    return layout == "nchw" or smallest < m.pool_min or (out == (1, 1) and m.pool_global == "ref")
