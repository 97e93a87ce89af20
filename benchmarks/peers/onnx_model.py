"""Just enough of the ONNX file format to write a model of a few ops without the package onnx.

The field numbers are those of ``onnx.proto``.
"""

import numpy as np

TYPES = {np.dtype(t): code for code, t in ((1, np.float32), (2, np.uint8), (3, np.int8), (6, np.int32))}
OPSET, MICROSOFT_OPSET, IR_VERSION = 18, 1, 8
MICROSOFT = (
    *("QLinearAdd", "QLinearMul", "QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearConcat", "QLinearSigmoid"),
    *("QLinearLeakyRelu", "QLinearSoftmax", "QGemm", "DynamicQuantizeMatMul", "MatMulIntegerToFloat"),
)
"""Operators of onnxruntime's own domain."""


def varint(value: int) -> bytes:
    """Write seven bits a byte, the low ones first."""
    head = b""
    value &= 2**64 - 1  # a negative number stands as its two's complement
    while value > 127:
        head += bytes([value & 127 | 128])
        value >>= 7
    return head + bytes([value])


def number(field: int, value: int) -> bytes:
    """Write an integer field."""
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes | str) -> bytes:
    """Write a field of bytes, text, or a message already written."""
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def constant(name, x):
    """Write a TensorProto."""
    dims = b"".join(number(1, size) for size in x.shape)
    return dims + number(2, TYPES[x.dtype]) + data(8, name) + data(9, x.tobytes())


def declared(name, x):
    """Write the ValueInfoProto of an array like x; a length of None may be any."""
    shape = b"".join(data(1, b"" if size is None else number(1, size)) for size in x.shape)
    return data(1, name) + data(2, data(1, number(1, TYPES[x.dtype]) + data(2, shape)))


def attribute(name, value):
    """Write the AttributeProto of an integer, a float, a word, or of several integers."""
    if isinstance(value, float):
        return data(1, name) + varint(2 << 3 | 5) + np.float32(value).tobytes() + number(20, 1)
    if isinstance(value, str):
        return data(1, name) + data(4, value) + number(20, 3)
    if isinstance(value, int):
        return data(1, name) + number(3, value) + number(20, 2)
    return data(1, name) + b"".join(number(8, one) for one in value) + number(20, 7)


def node(op, inputs, outputs, attributes=()):
    """Write a NodeProto; what takes its channels last is Microsoft's."""
    names = b"".join(data(1, name) for name in inputs) + b"".join(data(2, name) for name in outputs)
    given = b"".join(data(5, attribute(*one)) for one in dict(attributes).items())
    is_microsofts = op in MICROSOFT or "channels_last" in dict(attributes)
    return names + data(4, op) + given + (data(7, "com.microsoft") if is_microsofts else b"")


def model(nodes, constants, inputs, outputs) -> bytes:
    """Write a ModelProto of `nodes`, (op, names of inputs, names of outputs, attributes) each, for arrays by name."""
    graph = b"".join(data(1, node(*one)) for one in nodes) + data(2, "op")
    graph += b"".join(data(5, constant(*one)) for one in constants.items())
    graph += b"".join(data(11, declared(*one)) for one in inputs.items())
    graph += b"".join(data(12, declared(*one)) for one in outputs.items())
    opsets = data(8, data(1, "") + number(2, OPSET)) + data(8, data(1, "com.microsoft") + number(2, MICROSOFT_OPSET))
    return number(1, IR_VERSION) + data(7, graph) + opsets
