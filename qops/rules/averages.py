"""Rules of average pooling, by name: the table, and what prepares each of its rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, isfinite
from typing import Any, NamedTuple

from numpy.typing import NDArray

from qops._kernels.arrays.numbers import float32
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.pool.pooling import coded
from qops._kernels.stage import prepared as stages
from qops._readable import shows_fields
from qops.checks import put
from qops.codes import CodeType
from qops.rules.numbers import WORDS, Numbers

__all__ = ["AVERAGE_POOL", "PoolRule", "Pooled", "Windows", "reciprocal"]

Array = NDArray[Any]


class Windows(NamedTuple):
    """Windows without padding: size and stride, scale and zero point of x and of y, code type, what y is clamped to."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    x_scale: float
    x_zero_point: int
    y_scale: float
    y_zero_point: int
    codes: CodeType
    qmin: int
    qmax: int

    @property
    def size(self) -> int:
        """Codes of a window."""
        return self.kernel[0] * self.kernel[1]


Pooled = Callable[[Array, Array | None], Array]


@shows_fields
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
    whole : str
        Name of the rule that computes a window as large as the image; "" if the rule itself does.
    counts : str
        Which taps may be counted in the n of a window that lies partly on padding: "image", those on the image;
        "all"; or "image, all", as the caller says.
    takes_int16 : bool
        Whether the rule is also one of int16 codes.
    """

    formula: str
    systems: str
    rescales: bool
    made: Callable[[Windows], Pooled]
    whole: str = ""
    counts: str = "image, all"
    takes_int16: bool = False


def _by_stage(w: Windows, stage: Any, zero: int = 0, scale: float = 0.0) -> Pooled:
    if scale and w.stride[1] > 1:  # the sums of real values are made at every pixel across
        every = _by_stage(w._replace(stride=(w.stride[0], 1)), stage, zero, scale)
        return lambda image, out: put(every(image, None)[:, :, :: w.stride[1]], out)
    moves = Window(w.stride)
    return lambda image, out: coded(image, w.kernel, moves, stage, zero, scale, out)


def reciprocal(size: int) -> tuple[int, int]:
    """Give 1 / size as a multiplier, rounded up, and a right shift.

    The excess changes no mean of up to 2**21 codes of 8 bits, or of 2**14 codes of 16.
    """
    right_shift = 30 + (size - 1).bit_length()
    return -(-(2**right_shift) // size), right_shift


def _away_stored(w: Windows) -> Pooled:
    return _by_stage(w, Numbers(WORDS["rndna"], reciprocal(w.size), 0, w.qmin, w.qmax).stage())


def _by_integers(w: Windows, rule: str, zero: int) -> Pooled:
    """The sum of all codes less `zero`, over n, rounded by a rule of `TABLE`; then `zero` is added."""
    return _by_stage(w, Numbers(WORDS[rule], reciprocal(w.size), zero, w.qmin, w.qmax).stage(), w.size * zero)


def _even(w: Windows) -> Pooled:
    stage = stages.FloatStage(float(w.size), "half_even", w.qmin, w.qmax, shift=w.x_zero_point, form="over")
    return _by_stage(w, stage, w.size * w.x_zero_point)


def _torch(w: Windows, where: str, form: str = "times") -> Pooled:
    """The zero point is a "shift" after the rounding, or "plus" before it."""
    size, zero = w.size, {where: w.x_zero_point}
    stage = stages.FloatStage(float32(1 / size), "half_even", w.qmin, w.qmax, form=form, **zero)
    return _by_stage(w, stage, size * w.x_zero_point)


def _torch_nhwc(w: Windows, together: int = 1) -> Pooled:
    """Blocks of channels add the zero point to the rounded mean; the channels that do not fill one add it before."""
    of_blocks, of_rest = _torch(w, "shift"), _torch(w, "plus")

    def pooled(image: Array, out: Array | None) -> Array:
        rest = image.shape[3] % together
        if rest == image.shape[3]:
            return of_rest(image, out)
        made = of_blocks(image, out)
        if rest:
            made[..., -rest:] = of_rest(image[..., -rest:], None)
        return made

    return pooled


def _ort(w: Windows, beyond: str = "lowest") -> Pooled:
    x_step, y_step = float32(w.x_scale), float32(w.y_scale)
    largest = float32(x_step * float32((w.codes.highest - w.codes.lowest) * w.size))
    if not (x_step > 0 and y_step > 0 and isfinite(largest) and isfinite(y_step)):
        raise bad_value("x_scale, y_scale", f"{w.x_scale}, {w.y_scale} are beyond what ort computes in float32")
    plus = w.y_zero_point
    stage = stages.FloatStage(y_step, "half_even", w.qmin, w.qmax, plus, form="over", beyond=beyond)
    return _by_stage(w, stage, w.x_zero_point, x_step)


def _ort_global(w: Windows) -> Pooled:
    divisor = float32(float32(w.y_scale) * w.size)
    scale = float32(float32(w.x_scale) / divisor) if divisor else inf
    if not isfinite(scale):
        raise bad_value("x_scale, y_scale", f"{w.x_scale}, {w.y_scale} are beyond what is computed of them in float32")
    stage = Numbers(WORDS["fp32-even"], scale, w.y_zero_point, w.qmin, w.qmax).stage()
    return _by_stage(w, stage, w.size * w.x_zero_point)


AVERAGE_POOL = {
    "away-stored": PoolRule(
        "t > 0 ? (t + n/2) / n : (t - n/2) / n, t the sum of the stored codes, C's division",
        "LiteRT 2.3 reference, optimised and default; CMSIS-NN 99f736a",
        False,
        _away_stored,
        counts="image",
        takes_int16=True,
    ),
    "torch-nchw": PoolRule(
        "rint(sum(x - z) * (1 / n) + z) in float32",
        "torch 2.13 and 2.14, NCHW, engines fbgemm, x86 and onednn, of int8 qnnpack, too",
        False,
        partial(_torch, where="plus"),
    ),
    "torch-nhwc": PoolRule(
        "rint(sum(x - z) * (1 / n)) + z for 16 channels at a time, the last C % 16 as torch-nchw",
        "torch 2.13, channels_last, on AVX-512, engines as torch-nchw",
        False,
        partial(_torch_nhwc, together=16),
    ),
    "torch-nhwc-avx2": PoolRule(
        "as torch-nhwc, with 8 channels at a time",
        "torch 2.13, channels_last, on AVX2, engines as torch-nchw",
        False,
        partial(_torch_nhwc, together=8),
    ),
    "torch-2.14-nhwc": PoolRule(
        "rint(sum(x - z) * (1 / n)) + z",
        "torch 2.12 and 2.14, channels_last, and so one channel of NCHW, engines as torch-nchw; torch 2.10 on 64-bit "
        "ARM, channels_last",
        False,
        _torch_nhwc,
    ),
    "torch-arm-nchw": PoolRule(
        "rint(fma(sum(x - z), 1 / n, z)) in float32",
        "torch 2.10 on 64-bit ARM, NCHW, engine onednn, of int8 qnnpack, too",
        False,
        partial(_torch, where="plus", form="fused"),
    ),
    "torch-qnnpack": PoolRule(
        "fp32-even of sum(x - z), scale s / (s * n), s the scale of x and of the result",
        "torch 2.13 and 2.14, engine qnnpack, uint8, NCHW and channels_last",
        False,
        _ort_global,
        counts="all",
    ),
    "ort": PoolRule(
        "rint(sum((x - zx) * sx) / n / sy + zy), in float32, tap after tap; beyond int32 the lowest code; a window as "
        "large as the image, without padding: ort-global",
        "onnxruntime 1.31 and 1.32 QLinearAveragePool on x86",
        True,
        _ort,
        "ort-global",
    ),
    "ort-arm": PoolRule(
        "as ort; beyond int32 it saturates",
        "onnxruntime 1.32 QLinearAveragePool on 64-bit ARM",
        True,
        partial(_ort, beyond="saturates"),
        "ort-global",
    ),
    "ort-global": PoolRule(
        "fp32-even of sum(x - zx), scale sx / (sy * n)",
        "onnxruntime 1.31 and 1.32 QLinearGlobalAveragePool, QLinearAveragePool of the whole image",
        True,
        _ort_global,
    ),
    "even": PoolRule(
        "rint(sum(x - z) / n) + z in float32", "ExecuTorch 1.5.1 Cortex-M eager ops, avg_pool2d", False, _even
    ),
    "away": PoolRule(
        "half_away(sum(x - z) / n) + z",
        "code by hand",
        False,
        lambda w: _by_integers(w, "rndna", w.x_zero_point),
    ),
    "half-up": PoolRule(
        "floor((2 * t + n) / (2 * n)), t the sum of the stored codes, for every zero point",
        "code by hand",
        False,
        lambda w: _by_integers(w, "rndna", w.codes.lowest),  # these sums are not negative
    ),
    "floor": PoolRule(
        "floor(t / n), t the sum of the stored codes, for every zero point",
        "code by hand",
        False,
        lambda w: _by_integers(w, "shift-toward-zero", w.codes.lowest),
        takes_int16=True,
    ),
    "truncate": PoolRule(
        "truncate(sum(x - z) / n) + z",
        "code by hand",
        False,
        lambda w: _by_integers(w, "shift-toward-zero", w.x_zero_point),
        takes_int16=True,
    ),
    "truncate-stored": PoolRule(
        "t / n, t the sum of the stored codes, C's division",
        "code by hand",
        False,
        lambda w: _by_integers(w, "shift-toward-zero", 0),
        takes_int16=True,
    ),
}
"""Rules of average pooling, by name."""
