"""READ_VARIABLE and ASSIGN_VARIABLE, and what VAR_HANDLE and CALL_ONCE say of the variables of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import OperatorRunner, PlacedOperator

__all__ = ["KINDS", "PLACES", "started", "with_variables"]

PLACES = {
    "VAR_HANDLE": Kind(schema="VarHandleOptions", version=1),
    "CALL_ONCE": Kind(schema="CallOnceOptions", version=1),
}
"""Operators that compute nothing: they name a variable, and say which subgraph gives variables their first values."""

Started = dict[str, NDArray[Any]]


def started(once: Mapping[int, Sequence[Operator]]) -> tuple[Started, str]:
    """Give the values with which variables start.

    Parameters
    ----------
    once : dict of int to list of Operator
        The subgraphs that CALL_ONCE runs.

    Returns
    -------
    dict of str to ndarray
        By the names of variables.
    str
        What qops cannot run in these subgraphs, in words; "" if nothing.
    """
    found: Started = {}
    for number, operators in once.items():
        handles = _handles(operators)
        for op in operators:
            value = op.inputs[1] if op.kind == "ASSIGN_VARIABLE" and len(op.inputs) > 1 else None
            if value is not None and value.data is not None:
                found[_name(op, handles)] = value.data
            elif op.kind != "VAR_HANDLE":
                return found, f"subgraph {number}, which gives variables their first values, has {op.kind}"
    return found, ""


def with_variables(operators: Iterable[Operator], start: Started) -> list[Operator]:
    """Give operators in which each that reads or writes a variable has its name and its first value as options.

    Parameters
    ----------
    operators : iterable of Operator
    start : dict of str to ndarray
        The values with which variables start.

    Returns
    -------
    list of Operator
    """
    each = list(operators)
    handles, found = _handles(each), []
    for op in each:
        if op.kind in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            name = _name(op, handles)
            op = replace(op, options={"Variable": name, "Start": start.get(name)})
        found.append(op)
    return found


def _handles(operators: Iterable[Operator]) -> dict[str, str]:
    """Give the names of variables by the tensors that stand for them."""
    found: dict[str, str] = {}
    for op in operators:
        if op.kind == "VAR_HANDLE":
            parts = (op.options.get(key) or b"" for key in ("Container", "SharedName"))
            name = "/".join(part.decode("utf-8", "replace") for part in parts if part)
            found.update((t.name, name) for t in op.outputs)
    return found


def _name(op: Operator, handles: Mapping[str, str]) -> str:
    handle = op.inputs[0] if op.inputs else None
    return "" if handle is None else handles.get(handle.name, "")


def _variable(site: PlacedOperator) -> tuple[str, NDArray[Any]]:
    """Give the name of a variable and its first value."""
    variable, start = site.options["Variable"], site.options["Start"]
    if not variable:
        raise Missing("no VAR_HANDLE names its variable")
    if start is None:
        raise Missing(f"no CALL_ONCE gives its variable {variable!r} a first value")
    return variable, start


def _make_read(site: PlacedOperator) -> OperatorRunner:
    name, start = _variable(site)

    def run(state: NDArray[Any] | None = None) -> tuple[NDArray[Any], ...]:
        held = start if state is None else state
        return np.array(held), held

    return OperatorRunner((), run, states={name: start})


def _make_assign(site: PlacedOperator) -> OperatorRunner:
    name, start = _variable(site)

    def run(value: NDArray[Any], state: NDArray[Any] | None = None) -> tuple[NDArray[Any]]:
        if value.shape != start.shape or value.dtype != start.dtype:
            raise ValueError(f"{name!r} holds {start.dtype} of shape {start.shape}, not {value.dtype} of {value.shape}")
        return (np.array(value),)

    return OperatorRunner((1,), run, states={name: start})


def _c_of_read(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    code = function(made.name, "const int32_t *variable, int i", ["    return variable[i];"])
    return made._replace(constants=_starts(op), code=code, arguments=("variable", "i"))


def _c_of_assign(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    lines = ["    variable[i] = x;"]
    code = function(made.name, "int32_t x, int32_t *variable, int i", lines, "void", "step")
    return made._replace(constants=_starts(op), code=code, arguments=("x", "variable", "i"))


def _starts(op: Op) -> dict[str, Any]:
    (start,) = op.states.values()
    return {"start": start}


KINDS = {
    "READ_VARIABLE": Kind(make=_make_read, code=_c_of_read, is_of_variable=True, version=1),
    "ASSIGN_VARIABLE": Kind(make=_make_assign, code=_c_of_assign, is_of_variable=True, version=1),
}
