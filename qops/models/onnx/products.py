"""Products of matrices, of codes and of floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from qops import onnx
from qops.models.code.sums import c_of_sums
from qops.models.cut import Index, needed, sized
from qops.models.graph import Graph
from qops.models.onnx.code import c_of_codes
from qops.models.onnx.cut import CutNode, given_at, of_channel, zero_at
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Fusion, Kind
from qops.models.onnx.shapes import bounded
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values

__all__ = ["INTEGERS", "KINDS", "OF_WEIGHTS", "OF_X", "c_of_integers"]


Given = Sequence[Any]
F32 = np.float32


def matmul(a: Values, b: Values) -> Values:
    """Give a product of matrices, if the size of the result is `bounded`.

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    bounded([*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *a.shape[-2:-1], *b.shape[-1:]])
    return np.asarray(np.matmul(a, b))


def gemm(node: Node, a: Values, b: Values) -> Values:
    """Give the product of Gemm without its bias.

    Parameters
    ----------
    node : Node
        Gemm, or a node with its attributes.
    a, b : ndarray of float64
        Matrices.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    return matmul(a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b)


def _real_gemm(node: Node, given: Given) -> Values:
    a, b, bias = (*given, None)[:3]
    made = gemm(node, a, b) * node.get("alpha", 1.0)
    return made if bias is None else made + bias * node.get("beta", 1.0)


def _real_matmul(node: Node, given: Given) -> Values:
    return matmul(given[0], given[1])


def _matmul_sums(node: Node, a: Values, b: Values) -> Values:
    return matmul(a, b)


def _cut_product(spec: Spec, node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """One row on one column."""
    of_a, of_b = spec.of
    a, b, o = data[of_a.tensor], data[of_b.tensor], index[-1]
    attributes, transposed = dict(node.attributes), bool(node.get("transB", 0))
    a_zero = given_at(data, of_a.zero_point)
    if b is None or b.ndim != 2 or a.ndim < 2 or (a_zero is not None and a_zero.size > 1):
        return None
    row = a[:, index[0]] if node.get("transA", 0) else a[index[:-1]]
    column = b[o] if transposed else b[:, o]
    (kept,) = needed(row, zero_at(a_zero), column, zero_at(given_at(data, of_b.zero_point), o))
    some, few = column[kept], row[kept]
    inputs = {
        of_a.tensor: few[:, None] if node.get("transA", 0) else few[None],
        of_b.tensor: some[None] if transposed else some[:, None],
    } | of_channel(data, spec.channels, o)
    bias = None if spec.bias is None else given_at(data, spec.bias)
    if spec.bias is not None and bias is not None:
        if bias.size > 1 and bias.size != b.shape[0 if transposed else 1]:
            return None  # a bias for each element
        inputs[spec.bias] = bias.reshape(-1)[min(o, bias.size - 1)].reshape(1)
    return CutNode(attributes, inputs, (1, 1), sized("output of one row", row.shape, few.shape))


def c_of_integers(
    made: PortedLayer, op: Op, graph: Graph, target: Target, operands: tuple[str, str] = ("a", "b")
) -> PortedLayer | None:
    """Sums of products that stay int32; `operands` are the names of data and weights."""
    own = op.prepared
    if own is None:
        return None
    x_zero, w_zero = (_flat(getattr(own, f"{name}_zero_point")) for name in operands)
    constants = {"kernel_zero_point": w_zero, "weights": own.weights, "input_zero_point": x_zero}
    code = function(made.name, "int64_t sum", ["    return (int32_t)sum;"])
    return made._replace(constants=constants, code=code, arguments=("sum",))


def _c_of_scaled(
    made: PortedLayer, op: Op, graph: Graph, target: Target, is_dynamic: bool = False
) -> PortedLayer | None:
    """Sums of products that become float32; where the data are floats, they tell their scale first."""
    own, n = op.prepared, made.name
    if own is None:
        return None
    constants = {"kernel_zero_point": _flat(own.b_zero_point), "weights": own.weights}
    rules, arguments, more = [], ["sum", "channel"], ""
    if is_dynamic:
        rules, arguments, more = ["dynamic"], ["sum", "channel", "scale"], ", float scale"
    else:
        constants["input_zero_point"] = _flat(own.a_zero_point)
    constants["scale"] = _flat(own.factor)
    by = f"{n}_scale{'[channel]' if np.ndim(constants['scale']) else ''}"
    by = f"(scale * {by})" if more else by
    lines = [
        "    (void)channel;",
        f"    const volatile float value = (float)(int32_t)sum * {by}; /* volatile: no fma */",
    ]
    bias = own.bias
    if bias is not None:
        constants["bias"] = bias
    last = f"value + {n}_bias[channel]" if bias is not None and bias.dtype == F32 else "value"
    code = function(n, f"int64_t sum, int channel{more}", [*lines, f"    return {last};"], "float")
    return made._replace(rules=rules, constants=constants, code=code, arguments=tuple(arguments))


def _c_of_layer_or_scaled(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    return c_of_sums(made, op, graph, target) or _c_of_scaled(made, op, graph, target)


def _flat(values: Any) -> Any:
    """Give one number as it is, and more of them flat."""
    found = np.asarray(values)
    return found.reshape(-1)[0] if found.size == 1 else found.reshape(-1)


def _shape_of_product(node: Node, a: Index, b: Index, *more: Any) -> Index:
    if len(b) == 1:
        return a[:-1]
    rows = a[-2:-1] if len(a) > 1 else ()
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *rows, b[-1])


def _shape_of_gemm(node: Node, a: Index, b: Index, *more: Any) -> Index:
    return a[1 if node.get("transA", 0) else 0], b[0 if node.get("transB", 0) else 1]


def _types_of_gemm(node: Node, type_of: Callable[[int, str], str]) -> list[str]:
    """Without a scale and a zero point of the result, that is float32."""
    return [type_of(_GEMM_Y[1], type_of(0, "float32")) if len(node.inputs) > _GEMM_Y[1] else "float32"]


OF_X, OF_WEIGHTS = QuantizedInput(0, 1, 2), (3, 4, 5)
_MATMUL = Spec((OF_X, QuantizedInput(*OF_WEIGHTS, -1)), (6, 7), "MatMul")
_GEMM_Y = 7, 8
_GEMM = Spec((OF_X, QuantizedInput(*OF_WEIGHTS, -1)), _GEMM_Y, "Gemm", 6)
INTEGERS = Spec((QuantizedInput(0, None, 2), QuantizedInput(1, None, 3)))


def _inputs_of_gemm(node: Node) -> Spec:
    x, weights = _GEMM.of
    return _GEMM._replace(of=(x, weights._replace(axis=0))) if node.get("transB", 0) else _GEMM


_TO_FLOAT = Spec((QuantizedInput(0, 2, 4), QuantizedInput(1, 3, 5, -1)), None, "MatMul", addend=6)
KINDS = {
    "QLinearMatMul": Kind(
        function=onnx.qlinear_matmul,
        prepared=onnx.QLinearMatMul,
        inputs=_MATMUL,
        sums=_matmul_sums,
        cut=partial(_cut_product, _MATMUL),
        code=c_of_sums,
    ),
    "MatMulInteger": Kind(
        function=onnx.matmul_integer,
        prepared=onnx.MatMulInteger,
        rule="exact",
        inputs=INTEGERS,
        cut=partial(_cut_product, INTEGERS),
        code=c_of_integers,
        result="int32",
    ),
    "QGemm": Kind(
        function=onnx.qgemm,
        prepared=onnx.QGemm,
        is_own=True,
        inputs=_GEMM,
        inputs_of=_inputs_of_gemm,
        takes_matrices=True,
        sums=gemm,
        cut=partial(_cut_product, _GEMM),
        code=_c_of_layer_or_scaled,
        result=_types_of_gemm,
    ),
    "MatMulIntegerToFloat": Kind(
        function=onnx.matmul_integer_to_float,
        prepared=onnx.MatMulIntegerToFloat,
        is_own=True,
        inputs=_TO_FLOAT,
        cut=partial(_cut_product, _TO_FLOAT),
        code=_c_of_scaled,
        result="float32",
    ),
    "DynamicQuantizeMatMul": Kind(
        function=onnx.dynamic_quantize_matmul,
        prepared=onnx.DynamicQuantizeMatMul,
        is_own=True,
        inputs=Spec((QuantizedInput(1, 2, 3, -1),)),
        code=partial(_c_of_scaled, is_dynamic=True),
        result="float32",
    ),
    "MatMul": Kind(
        real=_real_matmul,
        code=c_of_codes,
        least=2,
        shape=_shape_of_product,
        fusion=Fusion(to_float="MatMulIntegerToFloat", asks_axis=True, fails_as="MatMulIntegerToFloat"),
    ),
    "Gemm": Kind(
        real=_real_gemm,
        code=c_of_codes,
        least=2,
        shape=_shape_of_gemm,
        fusion=Fusion(to_float="QGemm", asks_zero_points=True, takes_int8=True),
        quantizes_weights=True,
    ),
}
