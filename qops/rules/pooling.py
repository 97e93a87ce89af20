"""Average pooling by a rule's name: images of 8-bit codes, NHWC, stride 1, no padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.window import Window
from qops._kernels.pool.pooling import coded, means
from qops._kernels.stage import rows
from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.qtensor import as_array, check_out, choice, integer, number
from qops.rules.numbers import Numbers, rule_of

__all__ = ["AVERAGE_POOL", "AveragePool", "PoolRule", "average_pool"]

F32 = np.float32
Array = NDArray[Any]
_TOGETHER = 16
"""Channels that torch computes together."""
_MOST_CODES = 2**21
"""Codes of the largest window for which the reciprocal of 31 bits gives every mean."""


class Windows(NamedTuple):
    """The size of a window, the scale and zero point of x and of y, the lowest and highest code."""

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


Pooled = Callable[[Array, Array | None], Array]


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
    made : callable
        What prepares the rule: it takes `Windows`, and returns a function that takes an image and `out`.
    """

    formula: str
    systems: str
    rescales: bool
    made: Callable[[Windows], Pooled]


def _by_stage(w: Windows, stage: rows.Codes, zero: int = 0, scale: float = 0.0) -> Pooled:
    return lambda image, out: coded(image, w.kernel, stage, zero, scale, out)


def reciprocal(size: int) -> tuple[int, int]:
    """Give 1 / size as a multiplier, rounded up, and a right shift. The excess changes no mean of up to 2**21 codes."""
    right_shift = 30 + (size - 1).bit_length()
    return -(-(2**right_shift) // size), right_shift


def _away_stored(w: Windows) -> Pooled:
    return _by_stage(w, Numbers(rule_of("rndna"), reciprocal(w.size), 0, w.lo, w.hi).run())


def _even_stored(w: Windows) -> Pooled:
    return lambda image, out: means(image, w.kernel, Window(), "reciprocal", out=out)


def _torch_nhwc(w: Windows) -> Pooled:
    """Blocks of 16 channels take the mean of x - z, and add z to it; the last C % 16 the mean of the stored codes."""
    inverse = float(F32(1) / F32(w.size))
    values = rows.FloatCodes(rows.floats(inverse, "half_even", w.lo, w.hi, shift=w.x_zero_point))
    of_values, of_codes = _by_stage(w, values, w.size * w.x_zero_point), _even_stored(w)

    def pooled(image: Array, out: Array | None) -> Array:
        rest = image.shape[3] % _TOGETHER
        if rest == image.shape[3]:
            return of_codes(image, out)
        made = of_values(image, out)
        if rest:
            made[..., -rest:] = of_codes(image[..., -rest:], None)
        return made

    return pooled


def _ort(w: Windows) -> Pooled:
    x_step, y_step = F32(w.x_scale), F32(w.y_scale)
    largest = x_step * F32((w.hi - w.lo) * w.size)
    if not (x_step > 0 and y_step > 0 and np.isfinite([largest, y_step]).all()):
        raise ValueError(f"x_scale, y_scale: {w.x_scale}, {w.y_scale} are beyond what ort computes in float32")
    row = rows.floats(float(y_step), "half_even", w.lo, w.hi, form="over", plus=w.y_zero_point)
    return _by_stage(w, rows.FloatCodes(row), w.x_zero_point, float(x_step))


def _ort_global(w: Windows) -> Pooled:
    scale = F32(w.x_scale) / F32(F32(w.y_scale) * F32(w.size))
    if not np.isfinite(scale):
        raise ValueError(f"x_scale, y_scale: {w.x_scale}, {w.y_scale} are beyond what ort-global computes in float32")
    stage = Numbers(rule_of("fp32-even"), float(scale), w.y_zero_point, w.lo, w.hi).run()
    return _by_stage(w, stage, w.size * w.x_zero_point)


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

    In real numbers the result is the mean of ``x_scale * (x - zero_point)`` over each window. `AVERAGE_POOL` has the
    formula that each rule computes for it.

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
    image = _codes(x)
    op = AveragePool(
        rule,
        kernel=kernel,
        zero_point=zero_point,
        x_scale=x_scale,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        dtype=image.dtype,
    )
    return op(image, out=out)


class AveragePool(Prepared):
    """Prepared form of `average_pool`: a rule with its numbers, for windows of one size and codes of one type.

    Called as ``op(x, out=None)``, it gives what `average_pool` gives with the same arguments. Each `x` may have its own
    number of images, height, width and number of channels.

    Parameters
    ----------
    rule, kernel, zero_point, x_scale, y_scale, y_zero_point
        As `average_pool` takes them.
    dtype : data type, optional
        Type of the codes, uint8 or int8.

    Attributes
    ----------
    rule : str
        The name in `AVERAGE_POOL`.
    kernel : (int, int)
        Height and width of a window.
    dtype : numpy.dtype
        Type of the codes.

    Raises
    ------
    TypeError, ValueError
        What `average_pool` refuses; `x` of another type than `dtype`.

    Examples
    --------
    >>> op = AveragePool("even-stored", kernel=(1, 2), zero_point=0)
    >>> op(np.uint8([[[[1], [2], [4]]]])).ravel()
    array([2, 3], dtype=uint8)
    >>> op.shape_of((1, 224, 224, 3))
    (1, 224, 223, 3)
    """

    __slots__ = ("_pooled", "dtype", "kernel", "rule")

    rule: str
    kernel: tuple[int, int]
    dtype: np.dtype[Any]

    def __init__(
        self,
        rule: str,
        *,
        kernel: tuple[int, int],
        zero_point: int,
        x_scale: float = 1.0,
        y_scale: float | None = None,
        y_zero_point: int | None = None,
        dtype: DTypeLike = "uint8",
    ) -> None:
        name = rule.removeprefix("avgpool/").removeprefix("avgpool-rescale/") if isinstance(rule, str) else rule
        self.rule, codes = choice(name, "rule", AVERAGE_POOL), of_dtype(dtype)
        row = AVERAGE_POOL[self.rule]
        if codes.name not in ("u8", "s8"):
            raise TypeError(f"dtype: expected uint8 or int8, got {codes.dtype}")
        self.kernel, self.dtype = _kernel(kernel), codes.dtype
        zero = integer(zero_point, "zero_point", codes.lowest, codes.highest)
        scale = _above_0(x_scale, "x_scale")
        if not row.rescales and (y_scale is not None or y_zero_point is not None):
            raise ValueError(f"y_scale, y_zero_point: {name} keeps those of x")
        y = scale if y_scale is None else _above_0(y_scale, "y_scale")
        y_zero = zero if y_zero_point is None else integer(y_zero_point, "y_zero_point", codes.lowest, codes.highest)
        with np.errstate(all="ignore"):  # what is beyond float32 is refused
            self._pooled = row.made(Windows(self.kernel, scale, zero, y, y_zero, codes.lowest, codes.highest))
        kept = (None if y_scale is None else y), (None if y_zero_point is None else y_zero)
        self._keep(self.rule, self.kernel, zero, scale, *kept, self.dtype.name)

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for images of a shape.

        Parameters
        ----------
        shape : tuple of int
            (N, H, W, C).

        Returns
        -------
        tuple of int
            (N, H - KH + 1, W - KW + 1, C).

        Raises
        ------
        ValueError
            Another number of axes, images smaller than a window.
        """
        if len(shape) != 4:
            raise ValueError(f"x: expected 4 dimensions, NHWC, got shape {shape}")
        if shape[1] < self.kernel[0] or shape[2] < self.kernel[1]:
            raise ValueError(f"x, kernel: windows of {self.kernel} do not fit in images of shape {shape}")
        return shape[0], shape[1] - self.kernel[0] + 1, shape[2] - self.kernel[1] + 1, shape[3]

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the means of the windows of `x`, in `out` if it is given."""
        image = _codes(x)
        if image.dtype != self.dtype:
            raise TypeError(f"x: expected {self.dtype} data, got {image.dtype}")
        shape = self.shape_of(image.shape)
        if out is not None:
            check_out(out, image.dtype.num, shape, [image])
        return self._pooled(image, out)


def _codes(x: ArrayLike) -> Array:
    image = as_array(x, "x")
    if image.dtype not in (np.uint8, np.int8):
        raise TypeError(f"x: expected uint8 or int8 data, got {image.dtype}")
    return image


def _above_0(value: Any, name: str) -> float:
    found = number(value, name)
    if not found > 0:
        raise ValueError(f"{name}: expected a number above 0, got {found}")
    return found


def _kernel(kernel: Any) -> tuple[int, int]:
    if not isinstance(kernel, tuple | list) or len(kernel) != 2:
        raise TypeError(f"kernel: expected (height, width), got {kernel!r:.80}")
    taps = integer(kernel[0], "kernel", 1, _MOST_CODES), integer(kernel[1], "kernel", 1, _MOST_CODES)
    if taps[0] * taps[1] > _MOST_CODES:
        raise ValueError(f"kernel: expected windows of at most {_MOST_CODES} codes, got {taps[0]} by {taps[1]}")
    return taps
