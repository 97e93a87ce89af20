"""Convolution of 8-bit codes into 8-bit codes, as frameworks have it: 3 x 3, 64 channels to 64, without padding."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import products
from benchmarks.case import Candidate
from qops import onednn
from qops.affine import Affine

Array = NDArray[Any]
X, Y = Affine(2.0**-4, 128), Affine(2.0, 128)
W_SCALE = 2.0**-6
ONE_STEP = 1.01  # frameworks multiply the sums in float32, or in fixed point


def real_codes(x: Array, w: Array) -> Array:
    """Give the real-valued codes of the exact sums, cut to the ends."""
    sums = products.convolved(x.astype(float) - X.zero_point, w)
    return np.clip(sums * (X.scale * W_SCALE / Y.scale) + Y.zero_point, 0, 255)


def qops_convolution(x: Array, w: Array) -> Candidate:
    """Call qops with packed weights, into the result of an earlier call."""
    attr = onednn.Attr(
        src_scale=X.scale, wei_scale=W_SCALE, dst_scale=Y.scale, src_zp=X.zero_point, dst_zp=Y.zero_point
    )
    weights = onednn.pack_convolution_weights(w)
    out = onednn.convolution(x, weights, dst_dt="u8", attr=attr)
    out[...] = 0
    return Candidate(lambda: onednn.convolution(x, weights, dst_dt="u8", attr=attr, out=out), lambda: out, 0.51)


QUANTIZED_CONVOLUTION = products.of_images("convolution_3x3_u8", products.image, real_codes, qops_convolution)
