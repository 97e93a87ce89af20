"""What onnxruntime makes of nodes between DequantizeLinear and QuantizeLinear: one op on codes, with other bits.

These are the fusions of onnxruntime 1.32 on x86 that change bits. Where an op only moves codes, the bits are the same
with and without them, so such nodes are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qops.models.onnx.before import folded, with_gemms, with_transposes_taken
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import Spec
from qops.models.onnx.kind import Fusion
from qops.models.onnx.kinds import KINDS, ON_CODES, OWN_DOMAIN, kind_of
from qops.models.onnx.left_out import without_empty_pairs, without_identities
from qops.models.onnx.net import Net, Sink, Source
from qops.models.onnx.qdq import merged, refuse_around_moves
from qops.models.onnx.repeated import quantized_outputs, repeated
from qops.models.onnx.to_blocks import to_blocks
from qops.models.onnx.weights import quantized
from qops.models.tensor import Tensor
from qops.onnx.qlinear_softmax import ONE_AXIS
from qops.onnx.runtimes import Column

__all__ = ["fused"]


def fused(
    nodes: Sequence[Node],
    tensors: dict[str, Tensor],
    outputs: Sequence[str],
    has: Callable[[int], bool],
    column: Column,
) -> tuple[list[Node], tuple[str, ...]]:
    """Replace nodes by what onnxruntime runs instead of them.

    Parameters
    ----------
    nodes : sequence of Node
    tensors : dict of str to Tensor
        Constants that onnxruntime makes are added to it.
    outputs : sequence of str
        Names of the graph's outputs, which stay.
    has : callable
        Whether so many bytes of constants may be kept.
    column : Column
        The runtime: whether layers of int8 codes become one op as they are, as on ARM, else only those that become
        uint8; and whether the sums of MatMulNBits are known.

    Returns
    -------
    nodes : list of Node
    words : tuple of str
        A sentence for each group of nodes that became one.

    Raises
    ------
    ValueError
        A fusion of onnxruntime that qops does not have.
    """
    nodes = without_identities(nodes, tensors, outputs)
    nodes = with_transposes_taken(nodes, Net(nodes, tensors, outputs))
    nodes, words = merged(nodes, tensors, outputs)
    nodes = folded(nodes, tensors, has)
    nodes = with_gemms(nodes, Net(nodes, tensors, outputs))
    nodes, more = quantized(nodes, tensors, outputs)  # with the scales of a first round of pairs
    words += more
    nodes = quantized_outputs(nodes, Net(nodes, tensors, outputs))
    nodes, more = repeated(nodes, tensors, outputs)
    words += more
    while True:
        count, nodes = len(nodes), without_identities(nodes, tensors, outputs)
        nodes = without_empty_pairs(nodes, tensors, outputs)
        nodes, more = merged(nodes, tensors, outputs, is_first=False)
        words += more
        if len(nodes) == count:
            break
    is_plain = column.sums_blocks and not any(node.kind == "QuantizeLinear" for node in nodes)
    fuser = _Fuser(Net(nodes, tensors, outputs, column.allows_int8), has if is_plain else None)
    made: list[Node] = []
    for node in nodes:
        made += fuser.replaced(node)
    return _used(made, outputs), (*words, *fuser.words)


_BLOCKS = (
    "onnxruntime makes MatMulNBits of it, or may, which quantizes its data again by blocks of 32; that is not modelled "
    "but for ort_avx2, in files without a QuantizeLinear; runtime='onnx' reads the node as it is"
)
"""Why a product is a gap."""


class _Fuser:
    """Replaces one node after the other, and says so in words."""

    def __init__(self, net: Net, has: Callable[[int], bool] | None) -> None:
        self._net, self._has = net, has
        self.words: list[str] = []
        self._dropped: set[str] = set()
        self._moved: dict[str, str] = {}

    def replaced(self, node: Node) -> list[Node]:
        """Give the nodes that replace a node."""
        if node.name in self._dropped:
            return []
        kind = "" if node.domain else ON_CODES.get(node.kind, "")
        if kind:
            return (self._product if _spec(kind).has_weights else self._elementwise)(node, kind)
        if node.kind == "QuantizeLinear":
            refuse_around_moves(self._net, node)
        return [node]

    def _ends(self, node: Node, count: int) -> tuple[list[Source], Sink] | None:
        """Give the operands and the result of a node as codes, if all have the type that onnxruntime asks for."""
        sources, sink = [self._net.source(name) for name in node.inputs[:count]], self._net.sink(node)
        found = [source for source in sources if source is not None]
        if sink is None or len(found) != count or {s.effective for s in found} != {sink.effective}:
            return None
        if any(self._scale(source).size != 1 for source in found):
            return None
        return found, sink

    def _scale(self, source: Source) -> Any:
        scale = self._net.tensors[source.scale].data
        assert scale is not None
        return scale

    def _elementwise(self, node: Node, kind: str) -> list[Node]:
        """Activations, pools, and operators of two tensors: codes to codes."""
        ends = self._ends(node, len(_spec(kind).of))
        return [node] if ends is None else self._put(node, kind, *ends)

    def _product(self, node: Node, kind: str) -> list[Node]:
        """Conv, MatMul and Gemm: data and weights of codes, to codes, or but for Conv to float32."""
        data, weights, sink = self._net.source(node.inputs[0]), self._net.source(node.inputs[1]), self._net.sink(node)
        bias = None
        if data is not None and weights is not None and self._is_taken(node, data, weights, sink):
            bias = self._bias(node, data, weights)
        if data is None or weights is None or bias is None:
            return [self._blocks(node, weights) if weights and self._makes_blocks(node, data, weights) else node]
        if sink is not None:
            return self._put(node, kind, [data, weights], sink, bias)
        return self._to_float(node, [data, weights], bias)

    def _is_taken(self, node: Node, data: Source, weights: Source, sink: Sink | None) -> bool:
        """Whether onnxruntime has a kernel for these types, and takes scales that lie so."""
        if self._scale(data).size != 1:
            return False
        asks = _fusion(node)
        if asks.asks_zero_points and not ((data.zero_point or data.as_uint8) and weights.zero_point):
            return False
        takes_int8 = asks.takes_int8 or self._net.allows_int8
        if data.effective == "int8" and not (takes_int8 and weights.effective == "int8"):
            return False
        kind = asks.to_float if sink is None else ON_CODES[node.kind]
        is_taken = bool(kind) and self._stays_float(node) if sink is None else sink.effective == data.effective
        if is_taken and kind == asks.fails_as and self._has_scales_of_others(node, weights):
            what = "are not one for each channel of the result; onnxruntime 1.32 fuses it, and then fails"
            raise ValueError(f"{node.kind} ({node.name}): the scales of its weights {what}; runtime='onnx' takes it")
        if sink is not None and asks.asks_axis and self._scale(weights).size > 1:
            return is_taken and self._net.writer[node.inputs[1]].get("axis", 1) in (1, -1) and self._fits(node, weights)
        return is_taken and self._fits(node, weights)

    def _has_scales_of_others(self, node: Node, weights: Source) -> bool:
        """Whether constant weights have more scales than one, but not as many as the result has channels."""
        tensor = self._net.tensors.get(weights.codes)
        rank = 0 if tensor is None or tensor.data is None or weights.moves else tensor.data.ndim
        is_known = rank == 2 or (_fusion(node).has_filters and rank > 2)
        return is_known and self._scale(weights).size > 1 and not self._fits(node, weights)

    def _stays_float(self, node: Node) -> bool:
        """Whether no QuantizeLinear reads the result, after moves or not, and no single Relu or Clip does."""
        name = node.outputs[0]
        readers = self._net.readers[name]
        if len(readers) == 1 and kind_of(readers[0]).clamps:
            return self._net.only_reader(readers[0]) is None
        while len(readers) == 1 and kind_of(readers[0]).crosses_pairs and name not in self._net.outputs:
            name = readers[0].outputs[0]
            readers = [] if name in self._net.outputs else self._net.readers[name]
        return not any(reader.kind == "QuantizeLinear" for reader in readers)

    def _makes_blocks(self, node: Node, data: Source | None, weights: Source | None) -> bool:
        """Whether onnxruntime makes MatMulNBits of a node, whose data are then not of 8 bits."""
        is_known = weights is not None and not weights.moves and self._fits(node, weights)
        if _fusion(node).has_filters or weights is None or not is_known or data is not None:
            return False
        tensor = self._net.tensors.get(weights.codes)
        if tensor is None or tensor.data is None or tensor.data.ndim != 2 or node.get("transB", 0):
            return False
        quantizers = [reader for reader in self._net.readers[node.outputs[0]] if reader.kind == "QuantizeLinear"]
        return not any(self._net.type_of(reader.outputs[0]) in ("uint8", "int8") for reader in quantizers)

    def _blocks(self, node: Node, weights: Source) -> Node:
        """Give the MatMulNBits that onnxruntime makes of a node; a gap where that or its sums are not known.

        Beside a QuantizeLinear, and before a Relu or a Reshape in the middle, onnxruntime makes it of some products and
        not of others.
        """
        readers = self._net.readers[node.outputs[0]]
        is_certain = self._stays_float(node) and not any(kind_of(reader).crosses_pairs for reader in readers)
        made = to_blocks(self._net, node, weights, self._has) if self._has and is_certain else None
        if made is None:
            return replace(node, attributes={**node.attributes, "gap": _BLOCKS})
        self.words.append(f"{node.kind} ({node.name}) with its DequantizeLinear became MatMulNBits.")
        return made

    def _fits(self, node: Node, weights: Source) -> bool:
        """Whether there is one scale, or one for each channel of the result; few ask along which axis they lie."""
        if self._scale(weights).size == 1:
            return True
        tensor, has_filters = self._net.tensors[weights.codes], _fusion(node).has_filters
        if tensor.data is None or weights.moves or (not has_filters and tensor.data.ndim != 2):
            return False
        axis = 0 if has_filters or node.get("transB", 0) else -1
        return bool(tensor.data.ndim > 0 and self._scale(weights).size == tensor.data.shape[axis])

    def _bias(self, node: Node, data: Source, weights: Source) -> str | None:
        """Give the name of an int32 bias, "" if there is none, None if onnxruntime does not take it."""
        if len(node.inputs) < 3 or not node.inputs[2]:
            return ""
        if node.get("beta", 1.0) != 1.0 or node.get("alpha", 1.0) != 1.0:
            return None
        scale = self._scale(data).reshape(()) * np.ravel(self._scale(weights))
        writer = self._net.writer.get(node.inputs[2])
        is_codes = writer is not None and writer.kind == "DequantizeLinear"
        return self._codes_of_bias(node, writer, scale) if is_codes and writer is not None else None

    def _codes_of_bias(self, node: Node, writer: Node, scale: Any) -> str | None:
        given, own = self._net.constant(writer, 0), self._net.constant(writer, 1)
        if given is None or own is None or given.dtype != np.int32:
            return None
        if _fusion(node).checks_bias_scale and not np.allclose(np.ravel(own), scale, rtol=1e-2, atol=1e-6):
            return None
        return writer.inputs[0]

    def _put(self, node: Node, kind: str, sources: list[Source], sink: Sink, bias: str = "") -> list[Node]:
        """Give the op on codes, with the moves before it and after it."""
        before, operands = self._before(sources)
        q = sink.quantize
        own, after = self._after(node, sink)
        numbers = q.inputs[1], q.inputs[2] if len(q.inputs) > 2 else self._zero()
        row, spec = KINDS[kind], _spec(kind)
        inputs = spec.placed(operands, numbers, bias)
        attributes = {key: value for key, value in node.attributes.items() if key != "beta"}
        if "opset" in row.attributes:
            attributes["opset"] = min(node.opset, ONE_AXIS)
        ends = {sink.dtype, *(source.dtype for source in (sources[:1] if spec.has_weights else sources))}
        has_other_weights = spec.has_weights and sources[1].dtype != "int8"
        if (sink.as_uint8 and (row.rounds_zero_point or has_other_weights)) or len(ends) > 1:
            attributes["as_uint8"] = 1
        elif spec.has_weights and sources[0].as_uint8:
            attributes["kernel_as_uint8"] = 1
        self._dropped |= {q.name, *(n.name for n in (*sink.moves, *sink.clamps))}
        clamps = "".join(f" and {clamp.kind} ({clamp.name})" for clamp in sink.clamps)
        self.words.append(
            f"{node.kind} ({node.name}){clamps} with its DequantizeLinear and QuantizeLinear became {kind}."
        )
        domain = OWN_DOMAIN if row.is_own else ""
        return [*before, Node(kind, domain, node.name, inputs, (own,), attributes, 1), *after]

    def _to_float(self, node: Node, sources: list[Source], bias: str) -> list[Node]:
        before, operands = self._before(sources)
        attributes = {key: value for key, value in node.attributes.items() if key != "beta"}
        if sources[0].as_uint8:
            attributes["as_uint8" if sources[1].dtype != "int8" else "kernel_as_uint8"] = 1
        kind = _fusion(node).to_float
        inputs = _spec(kind).placed(operands, (), bias)
        self.words.append(f"{node.kind} ({node.name}) with its DequantizeLinear became {kind}, which gives float32.")
        return [*before, Node(kind, OWN_DOMAIN, node.name, inputs, node.outputs, attributes, 1)]

    def _before(self, sources: list[Source]) -> tuple[list[Node], list[str]]:
        """Give nodes that move codes instead of values, once for all readers, and what the op reads of each source."""
        made, operands = [], []
        for source in sources:
            name = source.codes
            for move in source.moves:
                known = self._moved.get(move.outputs[0])
                if known is None:
                    known = self._moved[move.outputs[0]] = self._net.free(f"{move.outputs[0]}:codes")
                    made.append(
                        replace(move, name=f"{move.name}:codes", inputs=(name, *move.inputs[1:]), outputs=(known,))
                    )
                name = known
            operands += [name, source.scale, source.zero_point or self._zero(source.dtype)]
        return made, operands

    def _after(self, node: Node, sink: Sink) -> tuple[str, list[Node]]:
        """Give the name of the codes that a node writes, and the moves after it."""
        last = sink.quantize.outputs[0]
        if not sink.moves:
            return last, []
        own = name = self._net.free(f"{node.outputs[0]}:codes")
        made = []
        for i, move in enumerate(sink.moves):
            made_name = last if i == len(sink.moves) - 1 else self._net.free(f"{move.outputs[0]}:codes")
            made.append(replace(move, inputs=(name, *move.inputs[1:]), outputs=(made_name,)))
            name = made_name
        return own, made

    def _zero(self, dtype: str = "uint8") -> str:
        """Give the name of a zero point of 0, for a node that has none."""
        name = f"{dtype}:0"
        self._net.tensors.setdefault(name, Tensor(name, (), dtype, data=np.zeros((), dtype)))
        return name


def _spec(kind: str) -> Spec:
    """Give where the numbers of an operator on codes stand."""
    found = KINDS[kind].inputs
    assert found is not None
    return found


def _fusion(node: Node) -> Fusion:
    """Give what onnxruntime asks of a layer."""
    found = kind_of(node).fusion
    assert found is not None
    return found


def _used(nodes: list[Node], outputs: Sequence[str]) -> list[Node]:
    """Leave out nodes whose results nobody reads."""
    wanted, kept = {*outputs}, []
    for node in reversed(nodes):
        if wanted & {*node.outputs}:
            wanted |= {name for name in node.inputs if name}
            kept.append(node)
    return kept[::-1]
