"""Which chip gave the codes of a dump of nnlib's Supernode, and which channels a V65 rescales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import U8, operand
from qops.qtensor import TensorLike

if TYPE_CHECKING:
    from qops.nnlib.supernode import Supernode

__all__ = ["explained"]

MOST = 8  # channels that are listed


def explained(op: Supernode, x: TensorLike, y: TensorLike) -> str:
    """Give what `Supernode.explain` says, a line for each chip, and one for the weights."""
    (image, _, _), (codes, lo, hi) = operand(x, "x", U8), operand(y, "y", U8)
    shape = op.shape_of(image.shape)
    if codes.shape != shape:
        raise bad_value("y", f"expected shape {shape}, got {codes.shape}")
    if not (lo <= 0 <= hi and lo < hi):
        raise bad_value("y", f"expected a range with 0, got {lo} to {hi}")
    given, lines = (op.w, op.bias, op.stride, op.padding, lo, hi), []
    for arch in ("v65", "v60"):
        made = type(op)(*given, channel_scale=op.channel_scale, arch=arch)
        lines.append(f"{arch}: {_apart(made(x).data, codes)}")
        if arch == "v65":
            rescaled = np.flatnonzero(made.rescaled)
    said = f"channels {_listed(rescaled)} are rescaled" if rescaled.size else "no channel is rescaled"
    return "\n".join([*lines, f"on a v65, {said}"])


def _apart(made: NDArray[np.uint8], codes: NDArray[np.uint8]) -> str:
    off = np.abs(made.astype(np.int16) - codes)
    if not off.any():
        return f"all {codes.size:,} integers" if codes.size != 1 else "the only integer"
    channels = np.flatnonzero(off.reshape(-1, off.shape[-1]).any(0))
    return f"{np.count_nonzero(off):,} differ, by {off.max()} at most, in channels {_listed(channels)}"


def _listed(channels: NDArray[np.intp]) -> str:
    """Write the first channels, and how many more."""
    more = channels.size - MOST
    return ", ".join(map(str, channels[:MOST].tolist())) + (f" and {more} more" if more > 0 else "")
