"""Makes an op of a graph of each operator of a .tflite file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.op import FAILED, Missing, Op, takes_threads
from qops.models.tflite.alone import alone
from qops.models.tflite.file import Operator, has_arrays
from qops.models.tflite.hybrid import is_hybrid, made_hybrid
from qops.models.tflite.kind import Kind
from qops.models.tflite.kinds import KINDS
from qops.models.tflite.site import OperatorRunner, PlacedOperator
from qops.prepared import Prepared

__all__ = ["op_of"]

Arrays = tuple[NDArray[Any], ...]


def op_of(operator: Operator, name: str, kernel: str) -> Op:
    """Make the op of one operator.

    Parameters
    ----------
    operator : Operator
        An operator of the file.
    name : str
        The name that the op gets.
    kernel : str
        The kernel library whose bits the op gives, as `qops.tflite` names it.

    Returns
    -------
    Op

    Raises
    ------
    Missing
        An operator, or a form of it, that qops does not have.
    """
    kind, row = operator.kind, KINDS.get(operator.kind, Kind())
    inputs = tuple(t.name for t in operator.inputs if t is not None)
    outputs = tuple(t.name for t in operator.outputs)
    if not row.is_of_variable:
        _check_types(operator)
    try:
        made, rule = _run_and_rule(operator, kernel)
    except FAILED as why:
        raise Missing(str(why)) from why
    if not outputs and not made.states:
        raise Missing("it has no result")
    site = PlacedOperator(operator, kernel)
    taken = [site.tensor(i) for i in made.takes]
    data = [t.data for t in taken]
    reads = tuple(t.name for t in taken if t.data is None)
    try:
        direct = _direct(operator, made, data)
    except FAILED as why:
        raise Missing(str(why)) from why

    layer = made.layer
    return Op(
        name,
        kind,
        inputs,
        outputs,
        reads,
        _call(made, data, len(outputs)),
        real=_in_real_numbers(operator, reads) if row.real or row.moves else None,
        rule=rule if layer is None or layer.requantize is None else layer.requantize.rule,
        layer=layer,
        remade=partial(op_of, operator, name),
        prepared=made.run if isinstance(made.run, Prepared) else made.prepared,
        alone=None if row.is_of_variable else partial(alone, operator, reads),
        runtime=kernel,
        states=dict(made.states),
        direct=direct,
        is_view=row.fixed is not None,
        is_threaded=isinstance(made.run, Prepared) and takes_threads(made.run) and all(one is None for one in data),
        by_image=row.by_image(operator) and not getattr(made.run, "depends_on_place", False),
    )


def _check_types(operator: Operator) -> None:
    for tensor in (*operator.inputs, *operator.outputs):
        if tensor is not None and not has_arrays(tensor.dtype):
            raise Missing(f"its tensor {tensor.name!r} is of type {tensor.dtype}, of which qops has no arrays")


def _call(made: OperatorRunner, data: list[NDArray[Any] | None], results: int) -> Callable[..., Arrays]:
    """Give what takes codes, and fills in the constants among `data`, to so many results and the states behind them."""

    def call(*arrays: NDArray[Any]) -> Arrays:
        given = iter(arrays)
        found = made.run(*(next(given) if constant is None else constant for constant in data), *given)
        each = found if type(found) is tuple else (found,)
        if len(each) != results + len(made.states):
            raise ValueError(f"it has {results} results, where the operator gives {len(each) - len(made.states)}")
        return each

    return call


def _direct(operator: Operator, made: OperatorRunner, data: list[NDArray[Any] | None]) -> Callable[..., Any] | None:
    """Give what takes codes to the only result; None for operators of floats, and those that move codes or have states.

    Of a prepared op without constants among its inputs that is its kernel.
    """
    row = KINDS.get(operator.kind, Kind())
    if row.fixed is not None and len(data) > 1 and all(one is not None for one in data[1:]):
        fixed: Callable[..., Any] | None = row.fixed(operator)
        return fixed
    if made.states or len(operator.outputs) != 1 or not isinstance(made.run, Prepared):
        return None
    if all(one is None for one in data):
        call: Callable[..., Any] = made.run.__call__
        return call
    return partial(_with_constants, made.run, data)


def _with_constants(run: Callable[..., Any], data: list[NDArray[Any] | None], *arrays: NDArray[Any]) -> Any:
    given = iter(arrays)
    return run(*[next(given) if constant is None else constant for constant in data])


def _run_and_rule(operator: Operator, kernel: str) -> tuple[OperatorRunner, str]:
    """Give the op and whose bits it gives: what moves codes, an operator of floats, or one of `qops.tflite`."""
    kind = KINDS.get(operator.kind, Kind())
    if kind.moves is not None:
        moves = kind.moves
        takes = tuple(i for i, t in enumerate(operator.inputs) if t is not None)
        return OperatorRunner(takes, lambda *arrays: moves(operator, arrays)), "moves codes"
    ends = [t for t in (*operator.inputs[:1], *operator.outputs[:1]) if t is not None]
    if all(t.dtype == "float32" and t.scale is None for t in ends) and kind.real is not None:
        site = PlacedOperator(operator, kernel)
        for i in range(1 + max(kind.sums or (0,))):
            site.tensor(i)
        if is_hybrid(operator):
            return made_hybrid(site, kind), f"hybrid, {kernel}"
        fed = [(i, t.name) for i, t in enumerate(operator.inputs) if t is not None and t.data is None]
        real = _in_real_numbers(operator, [name for _, name in fed])
        takes = tuple(i for i, _ in fed)
        return OperatorRunner(takes, lambda *arrays: tuple(y.astype(np.float32) for y in real(*arrays))), "float32"
    if kind.make is None:
        raise Missing("qops has no such operator")
    made: OperatorRunner = kind.make(PlacedOperator(operator, kernel))
    return made, kernel


def _in_real_numbers(operator: Operator, reads: Sequence[str]) -> Callable[..., Arrays]:
    """Give the op in real numbers: values of `reads` to values of the outputs."""
    kind = KINDS[operator.kind]

    def real(*values: NDArray[Any]) -> Arrays:
        by_name = dict(zip(reads, values, strict=True))
        given = [
            None if t is None else by_name.get(t.name, _constant(operator, i)) for i, t in enumerate(operator.inputs)
        ]
        if kind.moves is not None:
            moved: Arrays = kind.moves(operator, given)
            return moved
        assert kind.real is not None
        return (np.asarray(kind.real(operator, given)),)

    return real


def _constant(operator: Operator, i: int) -> NDArray[Any] | None:
    """Give the values of a constant. A bias whose scale the file leaves out has that of its sums, x_scale * w_scale."""
    tensor = operator.inputs[i]
    if tensor is None or tensor.data is None:
        return None
    sums = KINDS.get(operator.kind, Kind()).sums
    if tensor.scale is None and sums is not None and i == max(sums) + 1:
        x, w = (operator.inputs[at] for at in sums)
        scales = [t.scale.astype(np.float64) for t in (x, w) if t is not None and t.scale is not None]
        return np.asarray(tensor.data * prod(scales, start=np.float64(1)))
    return tensor.values(tensor.data)
