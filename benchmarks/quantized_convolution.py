"""Convolutions of 8-bit codes into 8-bit codes, as frameworks have them: 3 x 3, 64 channels, without padding."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import products
from benchmarks.case import Candidate
from qops import onednn
from qops.affine import Affine

Array = NDArray[Any]
X, W_SCALE = Affine(2.0**-4, 128, "u8"), 2.0**-6
ONE_STEP = 1.01  # frameworks multiply the sums in float32, or in fixed point


def result(w: Array) -> Affine:
    """Give the steps of the result: sums of fewer products, as those of depthwise weights, need finer ones."""
    return Affine(2.0 if w.ndim == 4 else 2.0**-2, 128, "u8")


def plain(w: Array) -> Array:
    """Give weights (output channels, input channels of a group, taps), as frameworks take them."""
    return w.reshape(-1, *w.shape[-3:])


def groups(x: Array, w: Array) -> int:
    """Give how many groups the channels are divided into."""
    return int(x.shape[1] // w.shape[-3])


def real_codes(convolved: Callable[[Array, Array], Array], x: Array, w: Array) -> Array:
    """Give the real-valued codes of the exact sums, cut to the ends."""
    sums, y = convolved(x.astype(float) - X.zero_point, w), result(w)
    return np.clip(sums * (X.scale * W_SCALE / y.scale) + y.zero_point, 0, 255)


def qops_convolution(x: Array, w: Array) -> Candidate:
    """Call a prepared op of qops, into the result of an earlier call."""
    y = result(w)
    attr = onednn.Attr(
        src_scale=X.scale, wei_scale=W_SCALE, dst_scale=y.scale, src_zp=X.zero_point, dst_zp=y.zero_point
    )
    op = onednn.Convolution(w, dst_dt="u8", attr=attr)
    out = op(x)
    out[...] = 0
    return Candidate(lambda: op(x, out), lambda: out, 0.51)


DENSE = products.of_images(
    "convolution_3x3_u8", products.image, partial(real_codes, products.convolved), qops_convolution
)
DEPTHWISE = products.of_images(
    "convolution_depthwise_u8",
    products.depthwise_image,
    partial(real_codes, products.convolved_by_channel),
    qops_convolution,
    channels=1,
)
QUANTIZED_CONVOLUTIONS = [DENSE, DEPTHWISE]
