"""The checks of what nnlib's supernodes are made of: filters, a bias, scales of channels."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.nnlib.ranges import level, quantized, step_32
from qops.checks import S32, U8, as_array, choice, integers, operand, shown
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["Arch", "Bias", "Moves", "bias_of", "filters_of", "kept", "moves_of", "scales_of"]

Arch: TypeAlias = Literal["v65", "v60"]
Moves: TypeAlias = tuple[tuple[int, int], str]


def moves_of(stride: Any, padding: Any) -> Moves:
    """Check how windows move: the stride, down and across, and the padding."""
    down, across = integers(stride, "stride", 2, 1)
    return (down, across), str(choice(padding, "padding", ("SAME", "VALID", "SAME_CAFFE")))


class Bias(NamedTuple):
    """Steps from 0, in float32, and the step."""

    steps: NDArray[np.float32]
    step: float


def bias_of(bias: TensorLike, channels: int, *also: int) -> tuple[QTensor, Bias]:
    """Check a bias of int32 or of a type in `also`; give a copy, and what it stands for."""
    codes, lo, hi = operand(bias, "bias", S32, *also)
    if codes.shape != (channels,):
        raise bad_value("bias", f"expected shape {(channels,)}, one for each output channel, got {codes.shape}")
    wide = codes.dtype.itemsize == 4
    zero, step = (0, step_32(lo, hi)) if wide else (max(quantized(0.0, lo, hi), 0), level(lo, hi)[1])
    return kept(codes, lo, hi), Bias((codes.astype(np.int64) - zero).astype(np.float32), step)


def filters_of(w: TensorLike, axes: str) -> tuple[NDArray[np.uint8], float, float]:
    """Check filters of four axes, which `axes` names; give the codes and the range."""
    codes, lo, hi = operand(w, "w", U8)
    if codes.ndim != 4 or codes.size == 0:
        raise bad_value("w", f"expected {axes}, each at least 1, got shape {codes.shape}")
    return codes, lo, hi


def scales_of(scales: Any, channels: int) -> NDArray[np.float32] | None:
    """Check the scales of channels; a single 1.0 is none."""
    if scales is None:
        return None
    found = as_array(scales, "channel_scale")
    if found.dtype.kind not in "fiu" or found.ndim > 1:
        raise bad_type("channel_scale", f"expected floats, one for each output channel, got {shown(scales)}")
    with np.errstate(over="ignore"):  # what float32 does not hold is refused below
        found = found.astype(np.float32).reshape(-1)
    if found.size == 1 and found[0] == 1:
        return None
    if found.size != channels:
        raise bad_value("channel_scale", f"expected {channels} numbers, one for each output channel, got {found.size}")
    if not ((found >= 2.0**-11) & (found <= 1)).all():
        raise bad_value("channel_scale", f"expected numbers from 1/2048 to 1, got {found.min()} to {found.max()}")
    found.flags.writeable = False
    return found


def kept(codes: NDArray[Any], lo: float, hi: float) -> QTensor:
    """Give a tensor of a copy of the codes, which nobody else changes."""
    copy = np.array(codes)
    copy.flags.writeable = False
    return tensor(copy, lo, hi)
