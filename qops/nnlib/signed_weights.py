"""How nnlib makes weights of uint8 the signed bytes that a V65 multiplies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ONE", "SignedWeights", "signed_weights"]

LOWEST, HIGHEST = -128, 127
NEAR_MIDDLE = (127, 128, 129)
ONE = 256  # the scale of a channel that is not rescaled


class SignedWeights(NamedTuple):
    """Weights less their zero, and 256 times what each channel was multiplied by."""

    codes: NDArray[np.int8]
    scales: NDArray[np.int32]


def signed_weights(w: NDArray[np.uint8], zero: int) -> SignedWeights:
    """Subtract the zero from weights (KH, KW, C, O); a channel that int8 does not hold is rescaled.

    With a zero of 127, 128 or 129, codes saturate instead.
    """
    scales = np.full(w.shape[3], ONE, np.int32)
    if zero not in NEAR_MIDDLE:
        scales = _scales(w, zero)
    if (scales < ONE).any():
        return SignedWeights(_rescaled(w, zero, scales), scales)
    near = np.clip(w, max(zero + LOWEST, 0), min(zero + HIGHEST, 255)) if zero != -LOWEST else w
    return SignedWeights((near - np.uint8(zero)).view(np.int8), scales)


def _scales(w: NDArray[np.uint8], zero: int) -> NDArray[np.int32]:
    """Give 256 times the factor of each channel: below 256 where a weight is two below -128, or one above 127."""
    rows = w.reshape(-1, w.shape[3])
    if zero > LOWEST + 256:
        beyond = np.maximum(0, zero + LOWEST - rows.min(0).astype(np.int32))
        return np.where(beyond >= 2, 32895 // (beyond + 128), ONE)
    beyond = np.maximum(0, rows.max(0).astype(np.int32) - (zero - LOWEST))
    return np.where(beyond >= 1, 32639 // (beyond + 128), ONE)


def _rescaled(w: NDArray[np.uint8], zero: int, scales: NDArray[np.int32]) -> NDArray[np.int8]:
    """Give ``((scale * w + 32768 + 128 - scale * zero) >> 8) - 128``, whose sums uint16 holds.

    With the scale ONE that is ``w - zero``, where one code, -129 or 128, saturates.
    """
    if zero > HIGHEST:
        near = np.maximum(w, np.where(scales == ONE, zero + LOWEST, 0).astype(np.uint8))
    else:
        near = np.minimum(w, np.where(scales == ONE, zero + HIGHEST, 255).astype(np.uint8))
    made = near.astype(np.uint16)
    made *= scales.astype(np.uint16)
    made += ((32768 + 128 - scales * zero) % 65536).astype(np.uint16)
    made >>= 8
    codes: NDArray[np.int8] = (made.astype(np.uint8) ^ np.uint8(128)).view(np.int8)
    return codes
