"""onnxruntime's convolutions: filters are constants, packed beforehand; images are planes, but for Microsoft's op."""

import numpy as np

from benchmarks import nnlib, onnx, products
from benchmarks import quantized_convolution as conv
from benchmarks.case import Candidate, shared
from benchmarks.peers.onnxruntime_session import bound, parameters

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)  # where the channels of an image are moved


def convolution(x, w, zeros=None, group=1, pad=0):
    """ConvInteger of planes, with zero points of x and w if there are any."""
    image, size = np.ascontiguousarray(x), x.shape[2] + 2 * pad - w.shape[2] + 1
    out = shared(len(w) * size * size, np.int32).reshape(1, len(w), size, size)
    constants = {"w": np.ascontiguousarray(w), **(zeros or {})}
    node = ("ConvInteger", ["x", *constants], ["y"], {"group": group, "pads": [pad] * 4})
    return Candidate(bound([node], constants, {"x": image}, {"y": out}), lambda: out, 0)


def depthwise(x, w):
    """ConvInteger of a group a channel."""
    return convolution(x, conv.plain(w), group=conv.groups(x, w))


def of_system(x, w):
    """ConvInteger of planes of an image NHWC and filters HWIO."""
    zeros = {name: np.array(codes.zero_point, np.uint8) for name, codes in (("x_zero", nnlib.A), ("w_zero", nnlib.B))}
    made = convolution(x.transpose(FIRST), w.transpose(3, 2, 0, 1), zeros, pad=1)
    return Candidate(made.run, lambda: made.result().transpose(LAST), 0)


def of_onnx(x, w, bias):
    """ConvInteger."""
    return convolution(x, w, {"x_zero": np.array(onnx.X_ZERO, np.uint8)}, onnx.groups(x, w), pad=1)


NAMES = ["x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"]


def quantized(x, w):
    """QLinearConv of planes."""
    filters, size = conv.plain(w), x.shape[2] - w.shape[-1] + 1
    out = shared(len(filters) * size * size, np.uint8).reshape(1, len(filters), size, size)
    node = ("QLinearConv", ["x", *NAMES], ["y"], {"group": conv.groups(x, w)})
    run = bound([node], quantized_constants(filters, w), {"x": np.ascontiguousarray(x)}, {"y": out})
    return Candidate(run, lambda: out, conv.ONE_STEP)


def quantized_last(x, w):
    """Microsoft's QLinearConv, with the channels of a pixel side by side."""
    filters, size = conv.plain(w), x.shape[2] - w.shape[-1] + 1
    out = shared(len(filters) * size * size, np.uint8).reshape(1, size, size, len(filters))
    node = ("QLinearConv", ["x", *NAMES], ["y"], {"group": conv.groups(x, w), "channels_last": 1})
    image = np.ascontiguousarray(x.transpose(LAST))
    run = bound([node], quantized_constants(filters, w), {"x": image}, {"y": out})
    return Candidate(run, lambda: out.transpose(FIRST), conv.ONE_STEP)


def quantized_constants(filters, w):
    """Give the filters, scales and zero points."""
    constants = {"w": filters, "w_scale": np.array(conv.W_SCALE, np.float32), "w_zero": np.array(0, np.int8)}
    return constants | parameters("x", *conv.X) | parameters("y", *conv.result(w))


def quantized_of_onnx(x, w, bias):
    """QLinearConv."""
    out, terms = shared(x.size, np.uint8).reshape(x.shape), w[0].size
    constants = {"w": w, "w_scale": onnx.w_scales(len(w)), "w_zero": np.zeros(len(w), np.int8), "bias": bias}
    constants |= parameters("x", onnx.X_SCALE, onnx.X_ZERO) | parameters("y", onnx.y_scale(terms), onnx.Y_ZERO)
    node = ("QLinearConv", ["x", *NAMES, "bias"], ["y"], {"group": onnx.groups(x, w), "pads": onnx.PADS})
    return Candidate(bound([node], constants, {"x": x}, {"y": out}), lambda: out, 0)


FORMS = {
    **{case.name: {"ConvInteger": convolution} for case in products.CONVOLUTIONS},
    products.DEPTHWISE.name: {"ConvInteger": depthwise},
    **{name: {"ConvInteger": of_system} for name in ("nnlib_conv2d_8x8to32", "tensorflow_conv2d", "conv2d")},
    **{
        case.name: {"QLinearConv": quantized, "QLinearConv, channels last": quantized_last}
        for case in conv.QUANTIZED_CONVOLUTIONS
    },
    **{f"onnx_{name}": {"ConvInteger": of_onnx} for name in ("conv_integer", "conv_integer_depthwise")},
    **{f"onnx_{name}": {"QLinearConv": quantized_of_onnx} for name in ("qlinear_conv", "qlinear_conv_depthwise")},
}
