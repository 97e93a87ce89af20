"""A supernode in the life of a graph: it remembers its output range from call to call."""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type
from qops.nnlib.batch_norm import quantized_batch_norm_8x8p8to8, quantized_batch_norm_8x8p32to8
from qops.nnlib.fused_node import Node
from qops.qtensor import QTensor, TensorLike

__all__ = ["Session"]

BATCH_NORMS: tuple[Any, ...] = (quantized_batch_norm_8x8p8to8, quantized_batch_norm_8x8p32to8)


class Session:
    """A node of a graph, which remembers its output range from call to call.

    In the original a supernode keeps its range: the first pass of a call has the range of the last call, and ends only
    move away from 0. So results depend on what was computed before, unless both ends are given.

    Parameters
    ----------
    op : Supernode, DepthwiseSupernode, InputSupernode, SuperFC or QuantizedTransposeConv2d8x8p32to8
        What the node computes.

    Attributes
    ----------
    op
        As it was given.
    range : (float, float)
        The range with which the next call begins.
    passes : int
        How many times the original passed over the data in the last call.

    Raises
    ------
    TypeError
        Another op; also a batch norm, which in the original remembers a range too: no second call of one was recorded.

    Notes
    -----
    Source: ``supernode_utils.h``. A session is not for two threads at once.

    Examples
    --------
    >>> w, bias = (np.full((1, 1, 8, 1), 255, np.uint8), 0.0, 1.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> session = qops.nnlib.Session(qops.nnlib.Supernode(w, bias, (1, 1), "VALID", 0.0))
    >>> dark, bright = ((np.full((1, 1, 1, 8), code, np.uint8), 0.0, 1.0) for code in (10, 255))
    >>> [(round(session(t).max, 3), session.passes) for t in (dark, bright, dark)]
    [(0.5, 1), (11.314, 2), (11.314, 1)]
    """

    def __init__(self, op: Node) -> None:
        called: Any = op
        if any(unwrap(called) is other for other in BATCH_NORMS):
            raise bad_type("op", f"{op.__name__} keeps a range in the original, too, but no second call was recorded")
        if not isinstance(op, Node):
            raise bad_type("op", f"expected a prepared op of nnlib that finds its range, got {op!r}")
        self.op, self._ends, self.passes = op, op._fresh(), 0

    @property
    def range(self) -> tuple[float, float]:
        """The range with which the next call begins."""
        return self._ends.ends

    def __call__(self, x: TensorLike, out: NDArray[np.uint8] | None = None, num_threads: int = 1) -> QTensor:
        """Run the node on images `x`. A call that raises leaves the remembered range as it was."""
        run = self.op._run(self._ends, x, out, num_threads)
        self._ends, self.passes = run.ends, run.passes
        return run.result

    def __repr__(self) -> str:
        return f"Session({self.op!r})"
