"""What `explain` tells of a node of nnlib: its own arithmetic on each chip, and all rules on its exact sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import U8, operand, shown
from qops.nnlib.fused_node import FusedNode
from qops.nnlib.supernode import Supernode
from qops.qtensor import TensorLike
from qops.tools.explain.arguments import dump_of
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.explanation import Explanation
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.verdicts import explained, systems_of

__all__ = ["NODE_RULE", "explained_node", "node_of"]

NODE_RULE = "nnlib-supernode"
_ARCHES = ("v65", "v60")
_MOST = 8  # channels that are listed


def node_of(op: Any) -> FusedNode:
    """Check that an op is a node of nnlib whose sums are known.

    Parameters
    ----------
    op : object
        What the caller gave.

    Returns
    -------
    FusedNode

    Raises
    ------
    TypeError
        Another thing.
    """
    if not isinstance(op, FusedNode):
        raise bad_type("op", f"expected a prepared supernode of qops.nnlib, got {shown(op)}")
    return op


def explained_node(op: FusedNode, x: Any, y: Any, progress: Callable[[str], None] = lambda words: None) -> Explanation:
    """Find the rules that give the dump of a node: its codes and their range.

    Parameters
    ----------
    op : FusedNode
        A supernode; of one that has an arch, both are tried.
    x, y : uint8 tensor
        What the device read, and its result.
    progress : callable
        Called with words that say what is tried next.

    Returns
    -------
    Explanation
        The rule of the node is called ``nnlib-supernode (v65)`` where the chip matters. The notes say in which channels
        a chip gives other codes, and which channels a V65 rescales.

    Raises
    ------
    TypeError, ValueError
        Tensors that do not fit.
    """
    image, result = operand(x, "x", U8), operand(y, "y", U8)
    codes, lo, hi = result
    if codes.shape != (shape := op.shape_of(image[0].shape)):
        raise bad_value("y", f"expected shape {shape}, got {codes.shape}")
    if not (lo <= 0 <= hi and lo < hi):
        raise bad_value("y", f"expected a range with 0, got {lo} to {hi}")
    chips = {arch: _of_chip(op, arch) for arch in _ARCHES} if isinstance(op, Supernode) else {}
    nodes: dict[str, FusedNode] = {f"{NODE_RULE} ({arch})": node for arch, node in chips.items()} or {NODE_RULE: op}
    made = {name: node.within(image, lo, hi).data for name, node in nodes.items()}
    own = [Candidate(name, "", partial(_given, made=codes)) for name, codes in made.items()]
    found = explained(_dump(next(reversed(nodes.values())), image, result), progress=progress, own=own)
    systems = {name: systems_of("requantize", NODE_RULE) for name in made if name in found.exact}
    notes = [f"{name}: {_apart(made[name], codes)}" for name in made if name not in found.exact]
    if chips:
        notes.append(_said_of_weights(chips["v65"]))
    return replace(found, systems={**systems, **found.systems}, notes=notes)


def _of_chip(op: Supernode, arch: Any) -> Supernode:
    if op.arch == arch:
        return op
    return Supernode(op.w, op.bias, op.stride, op.padding, channel_scale=op.channel_scale, arch=arch)


def _given(dump: Dump, made: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return made


def _dump(node: Any, x: TensorLike, y: TensorLike) -> Dump:
    """Give the exact sums of a node, with the bias, its codes, and how many output steps a sum counts."""
    codes, lo, hi = operand(y, "y", U8)
    sums, step = node.sums(x)
    out_step = (hi - lo) / 255
    scale = np.asarray(step, np.float64) / out_step
    numbers = {"scale": scale if scale.ndim else float(scale), "zero_point": min(max(round(-lo / out_step), 0), 255)}
    return dump_of("requantize", sums, codes, None, numbers | ({"axis": -1} if scale.ndim else {}))


def _apart(made: NDArray[np.uint8], codes: NDArray[np.uint8]) -> str:
    off = np.abs(made.astype(np.int16) - codes)
    where = np.flatnonzero(off.reshape(-1, off.shape[-1]).any(0))
    differ = np.count_nonzero(off)
    return f"{differ:,} differ{'s' if differ == 1 else ''}, by {off.max()} at most, in {_channels(where)}"


def _said_of_weights(node: Supernode) -> str:
    rescaled = np.flatnonzero(node.rescaled)
    return f"a v65 rescales the weights of {_channels(rescaled) if rescaled.size else 'no channel'}"


def _channels(numbers: NDArray[np.intp]) -> str:
    """Write the first channels, and how many more."""
    more = numbers.size - _MOST
    listed = ", ".join(map(str, numbers[:_MOST].tolist())) + (f" and {more} more" if more > 0 else "")
    return f"channel{'s' if numbers.size > 1 else ''} {listed}"
