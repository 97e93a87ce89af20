"""`Kind`: what an operator of ONNX is, said once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import unwrap
from typing import Any, NamedTuple

from qops.models.onnx.inputs import Spec
from qops.models.operator import OperatorKind

__all__ = ["Fusion", "Kind"]

_OF_A_CALL = ("num_threads", "out", "runtime")


class Fusion(NamedTuple):
    """What onnxruntime asks of a layer between pairs, to run it on codes.

    Attributes
    ----------
    to_float : str
        The operator on codes whose result is float32; "" if it has none.
    has_filters : bool
        Whether the weights are filters, of any number of axes, whose first axis has the output channels.
    asks_zero_points : bool
        Whether data of int8 and weights must say zero points.
    takes_int8 : bool
        Whether it takes data of int8 on every CPU.
    asks_axis : bool
        Whether scales of channels must lie along the last axis of the weights, if the result are codes.
    checks_bias_scale : bool
        Whether the scale of the bias must be that of the sums.
    fails_as : str
        The operator that is made of weights with scales of others than its output channels, and then fails.
    """

    to_float: str = ""
    has_filters: bool = False
    asks_zero_points: bool = False
    takes_int8: bool = False
    asks_axis: bool = False
    checks_bias_scale: bool = False
    fails_as: str = ""


@dataclass(frozen=True, kw_only=True)
class Kind(OperatorKind):
    """One operator of ONNX, in the file of its family. `make` is for those whose call is not that of `function`.

    Attributes
    ----------
    function, prepared : callable or None
        The function of `qops.onnx` that runs a node on codes, and its prepared op.
    data : tuple of int
        Which inputs are data of a call; all others are arguments of the prepared op.
    is_own : bool
        Whether it is an operator of onnxruntime's own domain.
    rule : str
        Whose bits a node gives; "" for those of the runtime. Where its products share words, they are the runtime's.
    inputs : Spec or None
        Where scales, zero points and a bias stand.
    inputs_of : callable or None
        ``inputs_of(node)`` gives that where it depends on the node.
    implied : callable or None
        ``implied(site, attributes)`` gives the attributes with what the types of the inputs say of them.
    takes_matrices : bool
        Whether the data may have more axes than a matrix in files of onnxruntime: they are matrices in one column.
    sums : callable or None
        ``sums(node, x, w)`` gives the exact sums of products of a layer, before they become codes.
    explained : str
        What `qops.explain` calls an operator of two tensors.
    result : str or callable
        The type of the result; "" if it is that of the data. Where it depends on the node, ``result(node, type_of)``
        gives the types of all results, and ``type_of(i, otherwise)`` the type of an input.
    operands : tuple of int or None
        The slice of the inputs that hold the elements that a node moves: the result has their scale, if they have one.
    least : int
        How many inputs a node has at least, for kinds that onnxruntime's fusions look at.
    folds : bool
        Whether a node is computed when the file is read, if it depends on constants alone: its result is no larger.
    shape : callable or None
        ``shape(node, *shapes)`` gives the shape of the first result, of the shapes of all inputs. None where `moves`
        tells it, or onnxruntime is not thought to know it when it rewrites a graph.
    crosses_pairs : bool
        Whether onnxruntime moves it to the other side of a DequantizeLinear or a QuantizeLinear.
    fusion : Fusion or None
        What onnxruntime asks of a layer, to run it on codes.
    quantizes_weights : bool
        Whether onnxruntime quantizes its constant weights and bias of float32, if its data and its result are codes.
    results : int
        How many results it gives at most; 0 if that depends on the node.
    check : callable or None
        ``check(site)`` raises `Missing` for a form of the operator that qops does not have.
    rounds_zero_point : bool
        Whether value and zero point are rounded together, so that with another zero point the bits may differ.
    """

    function: Callable[..., Any] | None = None
    prepared: Callable[..., Any] | None = None
    data: tuple[int, ...] = (0,)
    is_own: bool = False
    rule: str = ""
    inputs: Spec | None = None
    inputs_of: Callable[..., Spec] | None = None
    implied: Callable[..., dict[str, Any]] | None = None
    takes_matrices: bool = False
    sums: Callable[..., Any] | None = None
    explained: str = ""
    result: str | Callable[..., list[str]] = ""
    operands: tuple[int | None, ...] = (1,)
    least: int = 0
    folds: bool = False
    shape: Callable[..., tuple[int, ...]] | None = None
    crosses_pairs: bool = False
    fusion: Fusion | None = None
    quantizes_weights: bool = False
    results: int = 1
    check: Callable[..., None] | None = None
    rounds_zero_point: bool = False

    @property
    def count(self) -> int:
        """How many inputs the function takes, in the order of the node: its arguments by position."""
        return 0 if self.function is None else unwrap(self.function).__code__.co_argcount

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the node that the function takes: its arguments by name, but for those of each call."""
        return tuple(name for name in self._by_name if name not in _OF_A_CALL)

    @property
    def has_runtime(self) -> bool:
        """Whether the function takes a runtime."""
        return "runtime" in self._by_name

    @property
    def _by_name(self) -> tuple[str, ...]:
        if self.function is None:
            return ()
        code = unwrap(self.function).__code__  # `name_keywords` may have put a function around it
        return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
