"""The C of an op of one code: a table of all codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Tensor, zero_of

__all__ = ["c_of_table", "ends_of_type", "is_by_code", "with_ends"]


def ends_of_type(tensor: Tensor) -> tuple[int, int]:
    """Give the lowest and the highest code of a tensor's type."""
    info = np.iinfo(tensor.dtype)
    return int(info.min), int(info.max)


def with_ends(y: Tensor, target: Target) -> dict[str, Any]:
    """Give the zero point of a result and the ends of its type, by the names of a target."""
    return {target.offsets[2]: zero_of(y), **dict(zip(target.ends, ends_of_type(y), strict=True))}


def c_of_table(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Give an op of one code as a table of all codes.

    Returns
    -------
    PortedLayer or None
        None if the op reads no codes.
    """
    x = graph.tensors[op.reads[0]]
    if np.dtype(x.dtype).kind not in "iu" or np.dtype(x.dtype).itemsize > 2:
        return None
    lowest, highest = ends_of_type(x)
    table = (getattr(op.prepared, "integers", None) or {}).get("table")
    if table is None:
        (table,) = op.call(np.arange(lowest, highest + 1).astype(x.dtype))
    constants = {"input_min": lowest, "table": table}
    code = function(made.name, "int32_t x", [f"    return {made.name}_table[x - {made.name}_input_min];"])
    return made._replace(constants=constants, code=code, arguments=("x",))


def is_by_code(op: Op, x: Tensor) -> bool:
    """Whether a code becomes the same wherever it stands in the array.

    Parameters
    ----------
    op : Op
        One that reads one tensor.
    x : Tensor
        That one.

    Returns
    -------
    bool
    """
    if x.dtype == "int32" or np.dtype(x.dtype).itemsize > 1:
        return False
    every = np.arange(*ends_of_type(x)).astype(x.dtype)
    (made,), (again,) = op.call(every), op.call(np.append(every[7:], every[:7]))
    return bool((np.append(again[-7:], again[:-7]) == made).all())
