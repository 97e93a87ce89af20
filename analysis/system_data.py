"""Real data as codes for ops of two systems, and what the systems make of them, in one form for both."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.network import digits, features, learned, run_float
from analysis.pictures import scenes
from qops import QTensor, nnlib, quantize, tensorflow, values

Reals = NDArray[np.float64]


class Result(NamedTuple):
    """What an op gave: codes, what they stand for and their range; no range where it gave real numbers."""

    codes: NDArray
    reals: Reals
    ends: tuple[float, float] | None


class Step(NamedTuple):
    """The results of both systems, once the differences named in `alike` and before have been taken away."""

    alike: str
    nnlib: Result
    tensorflow: Result


class Pair(NamedTuple):
    """An op that both systems have, and its results: as they are, then with one difference less each time."""

    nnlib: str
    tensorflow: str
    data: str
    steps: Sequence[Step]

    @property
    def name(self) -> str:
        """What the op is called, by one system or by both."""
        return self.nnlib if self.nnlib == self.tensorflow else f"{self.nnlib} / {self.tensorflow}"


class Data(NamedTuple):
    """A photograph and the layers of a network, as codes."""

    picture: QTensor  # less its mean
    blur: QTensor
    images: QTensor  # what the second convolution reads, (N, H, W, C)
    filters: QTensor  # (KH, KW, C, OC)
    sums: QTensor  # what that convolution makes of them
    bias: QTensor
    features: QTensor  # what the inner product reads
    weights: QTensor
    logits: QTensor


def kept(x: ArrayLike) -> QTensor:
    """Quantize over the range of the data: 0 lies between two codes."""
    x = np.ascontiguousarray(x, np.float32)
    return tensorflow.quantize_v2(x, x.min(), x.max())


def moved(x: ArrayLike) -> QTensor:
    """Quantize with 0 on a code."""
    return quantize(np.ascontiguousarray(x, np.float32))


@cache
def data(zero_on_code: bool = False) -> Data:
    """Give the picture and its blur, and what the network with contrast filters reads of the test images."""
    code = moved if zero_on_code else kept
    _, blur, _ = scenes()
    layers = learned(True)
    _, second, last, logits = run_float(layers, digits()[1].images)
    images, filters = code(second.transpose(0, 2, 3, 1)), code(layers[1].weights.transpose(2, 3, 1, 0))
    sums = nnlib.quantized_conv2d_8x8to32(images, filters, (1, 1), "SAME")
    return Data(
        code(blur.a),
        code(blur.b),
        images,
        filters,
        code(values(sums)),
        code(layers[1].bias),
        code(features(last)),
        code(layers[2].weights.T),
        code(logits),
    )


def of(t: QTensor) -> Result:
    """Give a triple as a Result."""
    return Result(t.data, values(t), (t.min, t.max))


def plain(x: NDArray) -> Result:
    """Give real numbers as a Result, in which they are their own codes."""
    return Result(x, x.astype(np.float64), None)


def nearest(x: Reals, like: QTensor) -> Result:
    """The codes that stand for real numbers best, in the range of a tensor."""
    lowest = np.iinfo(like.data.dtype).min
    codes = (np.rint((x - like.min) / like.scale) + lowest).clip(lowest, np.iinfo(like.data.dtype).max)
    return Result(codes, like.min + (codes - lowest) * like.scale, (like.min, like.max))


def uniform(t: QTensor) -> tuple[NDArray[np.int8], float, int]:
    """The codes as int8, with scale and zero point."""
    return (t.data ^ 128).view(np.int8), t.scale, round(-t.min / t.scale) - 128


def from_int8(codes: NDArray[np.int8], like: QTensor) -> Result:
    """Codes as int8, in the range of a tensor."""
    return of(QTensor(codes.view(np.uint8) ^ 128, like.min, like.max))
