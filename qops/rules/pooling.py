"""Average pooling by a rule's name: images of 8-bit codes, NHWC, stride 1, no padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.codes import of as code_type
from qops.qtensor import as_array, check_out, integer, number
from qops.rules.accumulators import requantize

__all__ = ["AVERAGE_POOL", "PoolRule", "average_pool"]

F32 = np.float32
Array = NDArray[Any]


class Windows(NamedTuple):
    """An image (N, H, W, C), the size of a window, the scale and zero point of x and y, the ends of the codes."""

    image: Array
    kernel: tuple[int, int]
    x_scale: float
    x_zero_point: int
    y_scale: float
    y_zero_point: int
    lo: int
    hi: int

    @property
    def size(self) -> int:
        """Codes of a window."""
        return self.kernel[0] * self.kernel[1]

    @property
    def sums(self) -> Array:
        """Sums of the stored codes, int32."""
        return self.summed(self.image.astype(np.int32))

    def summed(self, pixels: Array) -> Array:
        """Sums over the windows, one tap after the other."""
        height, width = (n - k + 1 for n, k in zip(pixels.shape[1:3], self.kernel, strict=True))
        total = np.zeros((len(pixels), height, width, pixels.shape[3]), pixels.dtype)
        for row, column in np.ndindex(self.kernel):
            total += pixels[:, row : row + height, column : column + width]
        return total


class PoolRule(NamedTuple):
    """One row of `AVERAGE_POOL`.

    Attributes
    ----------
    formula : str
        What is computed of the n codes of a window.
    systems : str
        Who computes it.
    rescales : bool
        Whether the result has a scale and zero point of its own.
    codes : callable
        windows -> codes before they are clamped.
    """

    formula: str
    systems: str
    rescales: bool
    codes: Callable[[Windows], Array]


def _away_stored(w: Windows) -> Array:
    s, n = w.sums, w.size
    return np.where(s > 0, (s + n // 2) // n, -((n // 2 - s) // n))


def _even_stored(w: Windows) -> Array:
    return np.asarray(np.rint(w.sums.astype(F32) * (F32(1) / F32(w.size))))


def _torch_nhwc(w: Windows) -> Array:
    """16 channels at a time by their values, the rest by their codes."""
    whole = w.image.shape[3] // 16 * 16
    found = _even_stored(w)
    values = (w.sums - w.size * w.x_zero_point).astype(F32)
    found[..., :whole] = (np.rint(values * (F32(1) / F32(w.size))) + w.x_zero_point)[..., :whole]
    return found


def _ort(w: Windows) -> Array:
    total = w.summed((w.image.astype(np.int32) - w.x_zero_point).astype(F32) * F32(w.x_scale))
    return np.asarray(np.rint(total / F32(w.size) / F32(w.y_scale) + F32(w.y_zero_point)))


def _ort_global(w: Windows) -> Array:
    scale = float(F32(w.x_scale) / F32(F32(w.y_scale) * F32(w.size)))
    acc = w.sums - w.size * w.x_zero_point
    return requantize(acc, "fp32-even", scale=scale, zero_point=w.y_zero_point, dtype=np.int32, qmin=w.lo, qmax=w.hi)


AVERAGE_POOL = {
    "away-stored": PoolRule(
        "t > 0 ? (t + n/2) / n : (t - n/2) / n, t the sum of the stored codes, C's division",
        "TFLite reference, optimised and default; CMSIS-NN",
        False,
        _away_stored,
    ),
    "even-stored": PoolRule(
        "rint(t * (1 / n)) in float32, t the sum of the stored codes", "torch, NCHW", False, _even_stored
    ),
    "torch-nhwc": PoolRule(
        "rint(sum(x - z) * (1 / n)) + z for 16 channels at a time, the last C % 16 as even-stored",
        "torch, channels_last",
        False,
        _torch_nhwc,
    ),
    "ort": PoolRule(
        "rint(sum((x - zx) * sx) / n / sy + zy), in float32, tap after tap",
        "onnxruntime QLinearAveragePool",
        True,
        _ort,
    ),
    "ort-global": PoolRule(
        "fp32-even of sum(x - zx), scale sx / (sy * n)", "onnxruntime QLinearGlobalAveragePool", True, _ort_global
    ),
}
"""Rules of average pooling, by name."""


def average_pool(
    x: ArrayLike,
    rule: str,
    *,
    kernel: tuple[int, int],
    zero_point: int,
    x_scale: float = 1.0,
    y_scale: float | None = None,
    y_zero_point: int | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Average windows of an image by the rule of a real system, to the bit.

    Parameters
    ----------
    x : ndarray of uint8 or int8, (N, H, W, C)
        Codes.
    rule : str
        A name in `AVERAGE_POOL`.
    kernel : (int, int)
        Height and width of a window; stride 1, no padding.
    zero_point : int
        Code of real 0 of `x`.
    x_scale : float
        Real size of a code step of `x`.
    y_scale, y_zero_point : float, int, optional
        Those of the result, for the rules that rescale; those of `x` if not given.
    out : ndarray of the dtype of `x`, optional
        Where the codes are written; (N, H - KH + 1, W - KW + 1, C).

    Returns
    -------
    ndarray of the dtype of `x`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, another dtype or number of axes, a kernel that does not fit, a scale that is not above
        0, a zero point that is no code, scale or zero point of y for a rule that keeps those of x, an `out` that does
        not fit or overlaps `x`.

    Notes
    -----
    Sources: TFLite ``pooling.h``, CMSIS-NN ``arm_avgpool_s8.c``, torch ``AveragePool2d``, onnxruntime
    ``qlavgpool.cpp``.

    **Hazards.** TFLite rounds away from the stored 0, so the same picture in s8 and in u8 gives other results:

    >>> pixels = np.uint8([[[[101], [102]]]])
    >>> as_u8 = average_pool(pixels, "away-stored", kernel=(1, 2), zero_point=128)
    >>> as_s8 = average_pool((pixels - 128).astype(np.int8), "away-stored", kernel=(1, 2), zero_point=0)
    >>> as_u8.item(), as_s8.item() + 128
    (102, 101)

    Examples
    --------
    >>> average_pool(np.uint8([[[[1], [2], [4]]]]), "even-stored", kernel=(1, 2), zero_point=0).ravel()
    array([2, 3], dtype=uint8)
    """
    name = rule.removeprefix("avgpool/").removeprefix("avgpool-rescale/") if isinstance(rule, str) else rule
    if not isinstance(name, str) or name not in AVERAGE_POOL:
        raise ValueError(f"rule: {rule!r:.80} is none of {', '.join(AVERAGE_POOL)}")
    row, image = AVERAGE_POOL[name], as_array(x, "x")
    if image.dtype not in (np.uint8, np.int8):
        raise TypeError(f"x: expected uint8 or int8 data, got {image.dtype}")
    codes, taps = code_type(image, "x"), _kernel(kernel, image)
    zero = integer(zero_point, "zero_point", codes.lowest, codes.highest)
    scale = number(x_scale, "x_scale")
    if not row.rescales and (y_scale is not None or y_zero_point is not None):
        raise ValueError(f"y_scale, y_zero_point: {name} keeps those of x")
    y = scale if y_scale is None else number(y_scale, "y_scale")
    y_zero = zero if y_zero_point is None else integer(y_zero_point, "y_zero_point", codes.lowest, codes.highest)
    for value, word in ((scale, "x_scale"), (y, "y_scale")):
        if not value > 0:
            raise ValueError(f"{word}: expected a number above 0, got {value}")
    shape = (image.shape[0], image.shape[1] - taps[0] + 1, image.shape[2] - taps[1] + 1, image.shape[3])
    if out is not None:
        check_out(out, image.dtype.num, shape, [image])
    with np.errstate(all="ignore"):
        found = row.codes(Windows(image, taps, scale, zero, y, y_zero, codes.lowest, codes.highest))
    if np.isnan(found).any():
        raise ValueError(f"x_scale, y_scale: {scale}, {y} are beyond what {name} computes in float32")
    made = np.clip(found, codes.lowest, codes.highest).astype(image.dtype)
    if out is None:
        return made
    out[...] = made
    return np.asarray(out)


def _kernel(kernel: Any, image: Array) -> tuple[int, int]:
    if image.ndim != 4:
        raise ValueError(f"x: expected 4 dimensions, NHWC, got shape {image.shape}")
    if not isinstance(kernel, tuple | list) or len(kernel) != 2:
        raise TypeError(f"kernel: expected (height, width), got {kernel!r:.80}")
    return integer(kernel[0], "kernel", 1, image.shape[1]), integer(kernel[1], "kernel", 1, image.shape[2])
