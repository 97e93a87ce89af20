"""Makes prepared ops of `qops.onnx` of ONNX's quantized nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import onnx
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import constant
from qops.models.op import Missing
from qops.models.tensor import Tensor

__all__ = ["OWN_DOMAIN", "QUANTIZED", "Site", "run_of"]

Given = Sequence[Any]
Run = Callable[[Given], Any]
OWN_DOMAIN = "com.microsoft"
"""The domain of onnxruntime's own operators."""
_CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
_POOL = ("auto_pad", "ceil_mode", "kernel_shape", "pads", "strides")
_MOST_STEPS = 2**20  # of padding, strides and dilations


class Site(NamedTuple):
    """One node in its place: the tensors that it reads, and whose bits it should give."""

    node: Node
    tensors: dict[str, Tensor]
    runtime: str

    def constant(self, place: int) -> NDArray[Any] | None:
        """Give the constant that an input is; None if it is none, or is left out."""
        return constant(self.tensors, self.node, place)

    def is_given(self, place: int) -> bool:
        """Whether an input is not left out."""
        return place < len(self.node.inputs) and bool(self.node.inputs[place])

    def is_fixed(self, place: int) -> bool:
        """Whether an input is a constant, or left out."""
        return not self.is_given(place) or self.constant(place) is not None


class Quantized(NamedTuple):
    """How a node becomes a call: the function, the prepared op, the places of data, the names of attributes."""

    function: Callable[..., Any]
    prepared: Callable[..., Any] | None
    places: int
    """How many inputs the function takes."""
    data: tuple[int, ...] = (0,)
    attributes: tuple[str, ...] = ()
    has_runtime: bool = False


QUANTIZED = {
    "QuantizeLinear": Quantized(
        onnx.quantize_linear,
        onnx.QuantizeLinear,
        3,
        attributes=("axis", "block_size", "output_dtype", "precision", "saturate"),
        has_runtime=True,
    ),
    "DequantizeLinear": Quantized(onnx.dequantize_linear, None, 3, attributes=("axis", "block_size", "output_dtype")),
    "DynamicQuantizeLinear": Quantized(onnx.dynamic_quantize_linear, None, 1, has_runtime=True),
    "MatMulInteger": Quantized(onnx.matmul_integer, onnx.MatMulInteger, 4, has_runtime=True),
    "ConvInteger": Quantized(onnx.conv_integer, onnx.ConvInteger, 4, attributes=_CONV, has_runtime=True),
    "QLinearMatMul": Quantized(onnx.qlinear_matmul, onnx.QLinearMatMul, 8, has_runtime=True),
    "QLinearConv": Quantized(onnx.qlinear_conv, onnx.QLinearConv, 9, attributes=_CONV, has_runtime=True),
    "QLinearAdd": Quantized(onnx.qlinear_add, onnx.QLinearAdd, 8, data=(0, 3)),
    "QLinearMul": Quantized(onnx.qlinear_mul, onnx.QLinearMul, 8, data=(0, 3)),
    "QLinearSigmoid": Quantized(onnx.qlinear_sigmoid, onnx.QLinearSigmoid, 5),
    "QLinearLeakyRelu": Quantized(onnx.qlinear_leaky_relu, onnx.QLinearLeakyRelu, 5, attributes=("alpha",)),
    "QLinearSoftmax": Quantized(onnx.qlinear_softmax, onnx.QLinearSoftmax, 5, attributes=("axis", "opset")),
    "QLinearAveragePool": Quantized(
        onnx.qlinear_average_pool,
        onnx.QLinearAveragePool,
        5,
        attributes=(*_POOL, "count_include_pad", "channels_last"),
    ),
    "QLinearGlobalAveragePool": Quantized(
        onnx.qlinear_global_average_pool, onnx.QLinearGlobalAveragePool, 5, attributes=("channels_last",)
    ),
    "QGemm": Quantized(onnx.qgemm, onnx.QGemm, 9, attributes=("alpha", "transA", "transB")),
    "DynamicQuantizeMatMul": Quantized(onnx.dynamic_quantize_matmul, onnx.DynamicQuantizeMatMul, 5),
    "MatMulIntegerToFloat": Quantized(onnx.matmul_integer_to_float, onnx.MatMulIntegerToFloat, 7),
    "MaxPool": Quantized(onnx.max_pool, onnx.MaxPool, 1, attributes=(*_POOL, "dilations")),
}
"""The nodes whose inputs are those of a function of `qops.onnx`, in its order. MaxPool is one where it reads codes."""


def run_of(site: Site) -> tuple[Run, Any]:
    """Make what runs a quantized node.

    Parameters
    ----------
    site : Site

    Returns
    -------
    run : callable
        Takes all inputs, None for one that is left out.
    prepared : object or None
        The prepared op that does the work, where all but the data are constants.

    Raises
    ------
    Missing, ValueError, TypeError
        What qops does not have, or refuses.
    """
    node = site.node
    if node.kind == "QLinearConcat":
        return _concat(site)
    row = QUANTIZED[node.kind]
    if len(node.inputs) > row.places:
        raise Missing(f"it has {len(node.inputs)} inputs, where {row.places} are known")
    if node.kind == "QuantizeLinear" and site.is_given(2) and site.tensors[node.inputs[2]].dtype in ("int4", "uint4"):
        raise Missing("it makes codes of 4 bits")
    attributes = _attributes(node, row.attributes) | ({"runtime": site.runtime} if row.has_runtime else {})
    if node.kind == "QuantizeLinear" and site.is_given(2):
        attributes.pop("output_dtype", None)
    if row.prepared is not None and all(site.is_fixed(i) for i in range(row.places) if i not in row.data):
        fixed = [site.constant(i) for i in range(row.places) if i not in row.data]
        op = row.prepared(*_without_last_nones(fixed), **attributes)
        if node.kind == "QGemm":
            return (lambda given: _rows(op, given[0])), op
        return (lambda given: op(*(given[i] for i in row.data))), op
    return (lambda given: row.function(*_without_last_nones(given), **attributes)), None


def _rows(op: Callable[..., Any], a: NDArray[Any]) -> NDArray[Any]:
    """Multiply a matrix, or more of them, as those of a MatMul that onnxruntime makes a QGemm of."""
    if a.ndim <= 2:
        return op(a)
    made = op(a.reshape(-1, a.shape[-1]))
    return made.reshape(*a.shape[:-1], made.shape[-1])


def _without_last_nones(values: Given) -> list[Any]:
    """Leave out inputs at the end that are left out: their defaults are those of the function."""
    found = list(values)
    while found and found[-1] is None:
        found.pop()
    return found


def _attributes(node: Node, names: Sequence[str]) -> dict[str, Any]:
    """Give the attributes as the functions of `qops.onnx` take them."""
    found = {name: node.get(name) for name in names if node.get(name) is not None}
    if found.get("auto_pad", "NOTSET") != "NOTSET":
        found.pop("pads", None)
    for name in ("strides", "dilations", "pads"):
        if any(n > _MOST_STEPS for n in found.get(name, ())):
            raise Missing(f"its {name} are too large: {found[name]!s:.80}")
    if "saturate" in found:
        found["saturate"] = bool(found["saturate"])
    for name in ("output_dtype", "precision"):
        if not found.pop(name, 0):
            continue
        raise Missing(f"it has the attribute {name!r}")
    return found


def _concat(site: Site) -> tuple[Run, Any]:
    node = site.node
    if len(node.inputs) < 5 or (len(node.inputs) - 2) % 3:
        raise Missing(f"it has {len(node.inputs)} inputs")
    axis = node.get("axis")
    if axis is None:
        raise Missing("it has no axis")
    if all(site.is_fixed(i) for i in range(len(node.inputs)) if i % 3 != 2):
        fixed: list[Any] = [site.constant(i) for i in range(len(node.inputs)) if i % 3 != 2]
        op = onnx.QLinearConcat(fixed[0], fixed[1], fixed[2::2], fixed[3::2], axis=axis)
        return (lambda given: op(list(given[2::3]))), op
    return (lambda given: onnx.qlinear_concat(*given[:2], *(list(given[i::3]) for i in (2, 3, 4)), axis=axis)), None


def as_uint8(run: Run, zero_points: Sequence[int], data: Sequence[int], is_signed: bool) -> Run:
    """Run codes of int8 as uint8, which are 128 larger, and so are the zero points: as onnxruntime does on x86.

    Parameters
    ----------
    run : callable
        What runs the node on uint8.
    zero_points, data : sequence of int
        Places of the inputs that may be such.
    is_signed : bool
        Whether the result is such.

    Returns
    -------
    callable
    """
    places = {*zero_points, *data}

    def moved(x: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(x).view(np.uint8) ^ np.uint8(128) if x.dtype == np.int8 else x

    def on_uint8(given: Given) -> NDArray[Any]:
        made = run([moved(x) if i in places and x is not None else x for i, x in enumerate(given)])
        return (made ^ np.uint8(128)).view(np.int8) if is_signed else made

    return on_uint8
