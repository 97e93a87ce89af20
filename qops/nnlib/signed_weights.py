"""How nnlib makes weights of uint8 the signed bytes that a V65 multiplies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SignedWeights", "signed_weights"]

LOWEST, HIGHEST = -128, 127
NEAR_MIDDLE = (127, 128, 129)


class SignedWeights(NamedTuple):
    """Weights less their zero, and what each channel was multiplied by."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]


def signed_weights(w: NDArray[np.uint8], zero: int) -> SignedWeights:
    """Subtract the zero from weights (KH, KW, C, O); a channel that int8 does not hold is rescaled.

    With a zero of 127, 128 or 129, codes saturate instead.
    """
    centred = w.astype(np.int32) - zero
    scales = np.full(w.shape[3], 256, np.int32)
    if zero not in NEAR_MIDDLE:
        scales = _scales(w.reshape(-1, w.shape[3]).astype(np.int32), zero)
        rescaled = (((scales * w + 32768 + 128 - scales * zero) >> 8) - 128).astype(np.int32)
        centred = np.where(scales < 256, rescaled, centred)
    return SignedWeights(
        np.clip(centred, LOWEST, HIGHEST).astype(np.int8), (scales / np.float32(256)).astype(np.float32)
    )


def _scales(w: NDArray[np.int32], zero: int) -> Any:
    """Give 256 times the factor of each channel: below 256 where a weight is two below -128, or one above 127."""
    if zero > LOWEST + 256:
        beyond = np.maximum(0, zero + LOWEST - w.min(0))
        return np.where(beyond >= 2, 32895 // (beyond + 128), 256)
    beyond = np.maximum(0, w.max(0) - (zero - LOWEST))
    return np.where(beyond >= 1, 32639 // (beyond + 128), 256)
