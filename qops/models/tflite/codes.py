"""Operators of single codes: activations, functions, QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import erf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import tflite
from qops.models.code.tables import c_of_table, is_by_code, with_ends
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.real_functions import sigmoid
from qops.models.target import PortedLayer, Target, call, function
from qops.models.tensor import Tensor, Values, zero_of
from qops.models.tflite.elementwise import cut_elementwise, make_of_codes, make_one, real_one
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator

__all__ = ["KINDS"]


Given = Sequence[Any]
F32 = np.float32


def _make_gelu(site: PlacedOperator) -> OperatorRunner:
    approximate = bool(site.options.get("Approximate", False))
    return OperatorRunner((0,), tflite.Gelu(**site.x(), **site.y, **site.own(), approximate=approximate))


def _make_quantize(site: PlacedOperator) -> OperatorRunner:
    given = {} if site.tensor(0).dtype == "float32" else site.x()
    return OperatorRunner((0,), tflite.Quantize(**site.y, dtype=site.outputs[0].dtype, kernel=site.kernel, **given))


def _make_dequantize(site: PlacedOperator) -> OperatorRunner:
    x, y = site.tensor(0), site.outputs[0]
    if y.dtype != "float32":
        raise Missing(f"its result {y.name!r} is {y.dtype}")
    if x.dtype == "float16":
        return OperatorRunner((0,), lambda data: data.astype(F32))
    if x.scale is not None and x.scale.ndim:
        return OperatorRunner((0,), partial(_dequantized_by_channel, x))
    return OperatorRunner((0,), tflite.Dequantize(**site.x(), dtype=x.dtype, kernel=site.kernel))


def _dequantized_by_channel(x: Tensor, codes: NDArray[Any]) -> NDArray[np.float32]:
    """Give ``scale[c] * float32(code - zero_point[c])``, a product of float32, as all kernels of LiteRT do."""
    assert x.scale is not None
    assert x.zero_point is not None
    each = [-1 if axis == x.axis else 1 for axis in range(codes.ndim)]
    made: NDArray[np.float32] = x.scale.reshape(each) * (codes - x.zero_point.reshape(each)).astype(F32)
    return made


def _real_log(operator: Operator, given: Given) -> Values:
    """Give logarithms; where codes have none, the value of the lowest code."""
    x, y = given[0], operator.outputs[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.log(x)
    return made if y.scale is None else np.where(x > 0, made, y.values(np.array(np.iinfo(y.dtype).min)))


def _real_gelu(op: Operator, given: Given) -> Values:
    x = given[0]
    if op.options.get("Approximate"):
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2))))


def _real_leaky_relu(operator: Operator, given: Given) -> Values:
    return np.where(given[0] >= 0, given[0], given[0] * operator.options["Alpha"])


def _c_of_quantize(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """QUANTIZE of floats, or of codes to others."""
    n, x, y = made.name, graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    integers = op.prepared.integers
    last = tuple(f"{n}_{part}" for part in (target.offsets[2], *target.ends))
    if x.dtype == "float32":
        if target.runtime == "xnnpack" and y.dtype == "int16":
            return None  # in blocks, with another tail
        near = "roundf(value / scale), near = whole < -0x1p31f || whole >= 0x1p31f ? -0x1p31f : whole"
        by = "near = rintf(value * scale)" if target.runtime == "xnnpack" else f"whole = {near}"
        scale = F32(y.scale) if target.runtime != "xnnpack" else F32(1) / F32(y.scale)
        constants = {"scale": F32(scale), **with_ends(y, target)}
        lines = [
            f"    const float scale = {n}_scale, {by};",
            f"    const double code = (double)near + {last[0]};",
            f"    return code < {last[1]} ? {last[1]} : code > {last[2]} ? {last[2]} : (int32_t)code;",
        ]
        code = function(n, "float value", lines)
        return made._replace(constants=constants, code=code, arguments=("value",))
    if not integers or y.dtype == "int32":
        return c_of_table(made, op, graph, target) if is_by_code(op, x) else None
    constants = {target.offsets[0]: target.sign * zero_of(x), **integers, **with_ends(y, target)}
    value = f"x {'+' if target.sign < 0 else '-'} {n}_{target.offsets[0]}"
    line = f"    return {call(n, 'tflite-double', value, '', (target.offsets[2], *target.ends))};"
    code = function(n, "int32_t x", [line])
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("x",))


def _c_of_dequantize(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    n, x = made.name, graph.tensors[op.reads[0]]
    if np.dtype(x.dtype).kind not in "iu" or x.scale is None or x.scale.ndim:
        return None
    constants = {"scale": F32(x.scale), "input_zero_point": zero_of(x)}
    line = f"    return (float)((double){n}_scale * (x - {n}_input_zero_point));"
    code = function(n, "int32_t x", [line], "float")
    return made._replace(constants=constants, code=code, arguments=("x",))


def _of_a_table(make: Maker, real: Callable[[Values], Any], schema: str = "", version: int = 2) -> Kind:
    """An operator of one code, whose C is a table of all codes."""
    return Kind(make=make, real=real_one(real), cut=cut_elementwise, code=c_of_table, schema=schema, version=version)


KINDS = {
    "LOGISTIC": _of_a_table(make_one(tflite.Logistic), sigmoid),
    "TANH": _of_a_table(make_one(tflite.Tanh), np.tanh),
    "HARD_SWISH": _of_a_table(make_one(tflite.HardSwish), lambda x: x * np.clip(x + 3, 0, 6) / 6, version=1),
    "LEAKY_RELU": Kind(
        make=make_one(tflite.LeakyRelu, alpha="Alpha"),
        real=_real_leaky_relu,
        cut=cut_elementwise,
        code=c_of_table,
        schema="LeakyReluOptions",
    ),
    "RELU": _of_a_table(make_one(tflite.Relu), lambda x: np.maximum(x, 0)),
    "RELU6": _of_a_table(make_one(tflite.Relu6), lambda x: np.clip(x, 0, 6)),
    "RELU_N1_TO_1": _of_a_table(make_one(tflite.ReluN1To1), lambda x: np.clip(x, -1, 1), version=1),
    "RELU_0_TO_1": _of_a_table(make_one(tflite.Relu0To1), lambda x: np.clip(x, 0, 1), version=1),
    "ELU": _of_a_table(make_one(tflite.Elu), lambda x: np.where(x >= 0, x, np.expm1(np.minimum(x, 0))), version=1),
    "GELU": Kind(make=_make_gelu, real=_real_gelu, cut=cut_elementwise, code=c_of_table, schema="GeluOptions"),
    "EXP": _of_a_table(make_one(tflite.Exp), np.exp),
    "SQRT": _of_a_table(make_one(tflite.Sqrt), lambda x: np.sqrt(np.maximum(x, 0))),
    "RSQRT": _of_a_table(make_one(tflite.Rsqrt), lambda x: 1 / np.sqrt(np.maximum(x, np.finfo(np.float64).tiny))),
    "LOG": Kind(make=make_one(tflite.Log), real=_real_log, cut=cut_elementwise, code=c_of_table),
    "ABS": _of_a_table(make_one(tflite.Abs), np.abs),
    "NEG": _of_a_table(make_of_codes(tflite.Neg, (0,)), np.negative, version=1),
    "QUANTIZE": Kind(
        make=_make_quantize, real=real_one(np.asarray), cut=cut_elementwise, code=_c_of_quantize, recodes=True
    ),
    "DEQUANTIZE": Kind(
        make=_make_dequantize, real=real_one(np.asarray), cut=cut_elementwise, code=_c_of_dequantize, recodes=True
    ),
}
