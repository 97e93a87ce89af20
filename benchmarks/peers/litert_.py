"""LiteRT (TensorFlow Lite): one-op models, invoked on tensors set beforehand, int8 as its kernels prefer."""

from functools import partial

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from benchmarks import layers, mlperf_networks, pools
from benchmarks import quantized_convolution as conv
from benchmarks.case import Candidate
from benchmarks.cases import STEP, A, B, C
from benchmarks.frontdoor import PRODUCT, SUM
from benchmarks.peers import tflite_layers

S8, S32, F32 = schema.TensorType.INT8, schema.TensorType.INT32, schema.TensorType.FLOAT32
TO_S8 = 128  # an int8 code is the uint8 code less this
ONE_STEP = 1.01  # its kernels work in fixed point, or round in float32 elsewhere


def tensor(n, dtype, scale=None, zero_point=0):
    """Declare a tensor of n elements, quantized if it has a scale."""
    made = schema.TensorT()
    made.shape, made.type, made.buffer = [n], dtype, 0
    if scale is not None:
        made.quantization = schema.QuantizationParametersT()
        made.quantization.scale, made.quantization.zeroPoint = [scale], [zero_point]
    return made


def s8(n, quantized):
    """Declare an int8 tensor of the steps of `quantized`."""
    return tensor(n, S8, quantized.scale, quantized.zero_point - TO_S8)


def model(op, tensors, options=None, constants=()):
    """Write a model of one op; the last of the tensors is its output, those before it the constants, if there are."""
    last, given = len(tensors) - 1, len(tensors) - 1 - len(constants)
    code, one, graph, whole = schema.OperatorCodeT(), schema.OperatorT(), schema.SubGraphT(), schema.ModelT()
    code.builtinCode, code.deprecatedBuiltinCode, code.version = op, op, 2
    one.opcodeIndex, one.inputs, one.outputs = 0, list(range(last)), [last]
    if options is not None:
        one.builtinOptionsType, one.builtinOptions = options
    graph.tensors, graph.inputs, graph.outputs, graph.operators = tensors, one.inputs[:given], one.outputs, [one]
    whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, [code], [graph], [schema.BufferT()]
    for declared, x in zip(tensors[given:], constants, strict=False):
        declared.buffer, buffer = len(whole.buffers), schema.BufferT()
        buffer.data = np.frombuffer(x.tobytes(), np.uint8)
        whole.buffers.append(buffer)
    builder = flatbuffers.Builder(1024)
    builder.Finish(whole.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def invoked(content, inputs, result, within):
    """Make a candidate that invokes the model on `inputs`; `result` of what it wrote."""
    interpreter = Interpreter(model_content=content, num_threads=1)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    output = interpreter.get_output_details()[0]["index"]
    return Candidate(interpreter.invoke, lambda: result(interpreter.get_tensor(output)), within)


def codes_s8(x):
    """Make int8 codes of uint8 ones."""
    return (x.astype(np.int16) - TO_S8).astype(np.int8)


def codes_u8(x):
    """Make uint8 codes of int8 ones."""
    return x.astype(np.int16) + TO_S8


def elementwise(op, options, output):
    """Give a maker for an op of two tensors with the steps of A and B; the steps of its output are `output`."""

    def make(a, b):
        declared = [s8(a.size, A), s8(a.size, B), s8(a.size, output)]
        return invoked(model(op, declared, options), [codes_s8(a), codes_s8(b)], codes_u8, ONE_STEP)

    return make


def quantize(x):
    """QUANTIZE."""
    content = model(schema.BuiltinOperator.QUANTIZE, [tensor(x.size, F32), s8(x.size, A)])
    return invoked(content, [x], codes_u8, 0.51)


def dequantize(a):
    """DEQUANTIZE."""
    content = model(schema.BuiltinOperator.DEQUANTIZE, [s8(a.size, A), tensor(a.size, F32)])
    return invoked(content, [codes_s8(a)], np.asarray, 2**-20)


def requantize(x):
    """QUANTIZE of int32."""
    content = model(schema.BuiltinOperator.QUANTIZE, [tensor(x.size, S32, STEP), s8(x.size, A)])
    return invoked(content, [x], codes_u8, ONE_STEP)


def pool(op, shape):
    """Give a maker for one of the pools."""

    def make(x):
        options, image, result = schema.Pool2DOptionsT(), s8(x.size, A), s8(x.size, A)
        options.padding, options.strideH, options.strideW = schema.Padding.SAME, shape.step, shape.step
        options.filterHeight = options.filterWidth = shape.taps
        image.shape, result.shape = list(x.shape), list(shape.shape(x))
        content = model(op, [image, result], (schema.BuiltinOptions.Pool2DOptions, options))
        return invoked(content, [codes_s8(x)], codes_u8, ONE_STEP)

    return make


def convolution(x, w):
    """CONV_2D or DEPTHWISE_CONV_2D, the channels of a pixel side by side."""
    filters, channels, size = conv.plain(w), len(w), x.shape[2] - w.shape[-1] + 1
    if conv.groups(x, w) == 1:
        op, options, order = "CONV_2D", schema.Conv2DOptionsT(), (0, 2, 3, 1)
    else:
        op, options, order = "DEPTHWISE_CONV_2D", schema.DepthwiseConv2DOptionsT(), (1, 2, 3, 0)
        options.depthMultiplier = 1
    options.padding, options.strideH, options.strideW = schema.Padding.VALID, 1, 1
    constants = [filters.transpose(order), np.zeros(channels, np.int32)]
    image, result = s8(1, conv.X), s8(1, conv.result(w))
    weights, bias = tensor(1, S8, conv.W_SCALE), tensor(1, S32, conv.X.scale * conv.W_SCALE)
    image.shape, result.shape = [1, *x.shape[2:], x.shape[1]], [1, size, size, channels]
    weights.shape, bias.shape = list(constants[0].shape), [channels]
    kind = getattr(schema.BuiltinOptions, type(options).__name__[:-1])
    operator = getattr(schema.BuiltinOperator, op)
    content = model(operator, [image, weights, bias, result], (kind, options), constants)
    codes = codes_s8(np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
    return invoked(content, [codes], lambda y: codes_u8(y).transpose(0, 3, 1, 2), conv.ONE_STEP)


def fully_connected(x, w):
    """FULLY_CONNECTED, a batch of rows."""
    constants = [np.ascontiguousarray(w.T), np.zeros(w.shape[1], np.int32)]
    rows, result, weights = s8(1, layers.X), s8(1, layers.result(w)), s8(1, layers.W)
    weights.quantization.zeroPoint, bias = [0], tensor(1, S32, layers.X.scale * layers.W.scale)
    rows.shape, result.shape, weights.shape = list(x.shape), list(x.shape), list(constants[0].shape)
    bias.shape = [w.shape[1]]
    options = (schema.BuiltinOptions.FullyConnectedOptions, schema.FullyConnectedOptionsT())
    content = model(schema.BuiltinOperator.FULLY_CONNECTED, [rows, weights, bias, result], options, constants)
    return invoked(content, [codes_s8(x)], codes_u8, conv.ONE_STEP)


def layer(content, arrays):
    """A layer of MLPerf Tiny, by XNNPACK, whose bits are those of qops."""
    return invoked(content, arrays, np.asarray, 0)


def network(name, x):
    """A whole network by XNNPACK, on a file of this batch."""
    return invoked(mlperf_networks.content(name, len(x)), [x], np.asarray, 0)


def image_by_image(name, x):
    """A whole network by XNNPACK, which is called for one image after the other."""
    interpreter = Interpreter(model_content=mlperf_networks.content(name, 1), num_threads=1)
    interpreter.allocate_tensors()
    fed, output = (part()[0]["index"] for part in (interpreter.get_input_details, interpreter.get_output_details))

    def run():
        for _ in range(len(x)):
            interpreter.invoke()

    def result():
        found = []
        for image in x:
            interpreter.set_tensor(fed, image[np.newaxis])
            interpreter.invoke()
            found.append(interpreter.get_tensor(output))
        return np.concatenate(found)

    return Candidate(run, result, 0)


ADD = elementwise(schema.BuiltinOperator.ADD, (schema.BuiltinOptions.AddOptions, schema.AddOptionsT()), C)
SUB = elementwise(schema.BuiltinOperator.SUB, (schema.BuiltinOptions.SubOptions, schema.SubOptionsT()), SUM)
MUL = elementwise(schema.BuiltinOperator.MUL, (schema.BuiltinOptions.MulOptions, schema.MulOptionsT()), PRODUCT)
FORMS = {
    conv.DENSE.name: {"CONV_2D": convolution},
    conv.DEPTHWISE.name: {"DEPTHWISE_CONV_2D": convolution},
    layers.PRODUCT.name: {"FULLY_CONNECTED": fully_connected},
    **{name: {"MAX_POOL_2D": pool(schema.BuiltinOperator.MAX_POOL_2D, p)} for name, p in pools.MAX_POOLS.items()},
    **{
        name: {"AVERAGE_POOL_2D": pool(schema.BuiltinOperator.AVERAGE_POOL_2D, p)}
        for name, p in pools.AVG_POOLS.items()
    },
    "quantized_add_8p8to8": {"ADD": ADD},
    "quantized_sub_8p8to8": {"SUB": SUB},
    "quantized_mul_8x8to8": {"MUL": MUL},
    **tflite_layers.forms(layer),
    **{
        f"mlperf_{name}_network": {"batch": partial(network, name), "image by image": partial(image_by_image, name)}
        for name in mlperf_networks.NETWORKS
    },
    "quantize": {"QUANTIZE": quantize},
    "dequantize": {"DEQUANTIZE": dequantize},
    "requantize_32to8": {"QUANTIZE": requantize},
}
