"""torch: the ATen ops themselves, their out= forms where they have them."""

import numpy as np
import torch

from benchmarks import layers, nnlib, products
from benchmarks import quantized_convolution as conv
from benchmarks.case import Candidate, shared
from benchmarks.cases import FACTOR, LEVEL, MULTIPLIER, RIGHT_SHIFT, STEP, A, B, C

torch.set_num_threads(1)
torch.set_grad_enabled(False)
as_quantized = torch._make_per_tensor_quantized_tensor
HALF_STEP = 0.51  # rounded once, in float32


def add_8(a, b):
    """quantized.add, with the engine that is torch's default."""
    qa = as_quantized(torch.from_numpy(a), A.scale, A.zero_point)
    qb = as_quantized(torch.from_numpy(b), B.scale, B.zero_point)
    call, scale, zero, found = torch.ops.quantized.add.default, C.scale, C.zero_point, []

    def run():
        found[:] = (call(qa, qb, scale, zero),)

    return Candidate(run, lambda: found[0].int_repr().numpy(), 1.01)


def add_8_out(a, b):
    """quantized.add.out."""
    qa = as_quantized(torch.from_numpy(a), A.scale, A.zero_point)
    qb = as_quantized(torch.from_numpy(b), B.scale, B.zero_point)
    qc = as_quantized(torch.zeros(a.size, dtype=torch.uint8), C.scale, C.zero_point)
    call = torch.ops.quantized.add.out
    return Candidate(lambda: call(qa, qb, qc), lambda: qc.int_repr().numpy(), 1.01)


def add_32(a, b):
    """Add in float32, by two products, two sums and round."""
    ta, tb, out = torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(shared(a.size, np.int32))
    x, y, ma, mb = torch.empty(a.size), torch.empty(a.size), A.scale / LEVEL, B.scale / LEVEL
    offset = -A.zero_point * ma - B.zero_point * mb

    def run():
        torch.mul(ta, ma, out=x)
        torch.mul(tb, mb, out=y)
        out.copy_(x.add_(y).add_(offset).round_())

    return Candidate(run, out.numpy, HALF_STEP)


def quantize(x):
    """quantize_per_tensor; it allocates, its out= form takes longer."""
    values, found = torch.from_numpy(x), []
    call, dtype, scale, zero = torch.quantize_per_tensor, torch.quint8, A.scale, A.zero_point

    def run():
        found[:] = (call(values, scale, zero, dtype),)

    return Candidate(run, lambda: found[0].int_repr().numpy(), HALF_STEP)


def dequantize(a):
    """Tensor.dequantize."""
    codes, found = as_quantized(torch.from_numpy(a), A.scale, A.zero_point), []
    call = codes.dequantize

    def run():
        found[:] = (call(),)

    return Candidate(run, lambda: found[0].numpy(), 2**-20)


def requantize(x):
    """Dequantize from qint32, quantize to quint8."""
    codes, found = as_quantized(torch.from_numpy(x), STEP, 0), []
    call, dtype, scale, zero = torch.quantize_per_tensor, torch.quint8, A.scale, A.zero_point

    def run():
        found[:] = (call(codes.dequantize(), scale, zero, dtype),)

    return Candidate(run, lambda: found[0].int_repr().numpy(), HALF_STEP)


def min_max(x):
    """aminmax; it allocates its two numbers."""
    codes, found, call = torch.from_numpy(x), [], torch.aminmax

    def run():
        found[:] = call(codes)

    return Candidate(run, lambda: np.array([int(end) for end in found]), 0)


def shifter(multiplier, shift, term):
    """Give a maker for x * multiplier + term >> shift, in int64."""

    def make(x):
        codes, wide = torch.from_numpy(x), torch.empty(x.size, dtype=torch.int64)
        out = torch.from_numpy(shared(x.size, np.int32))

        def run():
            wide.copy_(codes).mul_(multiplier)
            if term:
                wide.add_(term)
            out.copy_(wide.bitwise_right_shift_(shift))

        return Candidate(run, out.numpy, 0)

    return make


def gemmlowp(x):
    """Make both roundings in int64."""
    codes, wide, sign = torch.from_numpy(x), *(torch.empty(x.size, dtype=torch.int64) for _ in "ws")
    out, right = torch.from_numpy(shared(x.size, np.int32)), RIGHT_SHIFT - 31

    def run():
        wide.copy_(codes).mul_(MULTIPLIER).add_(1 << 30).bitwise_right_shift_(31)
        torch.bitwise_right_shift(wide, 63, out=sign)
        out.copy_(wide.add_(sign).add_(1 << right >> 1).bitwise_right_shift_(right))

    return Candidate(run, out.numpy, 0)


def product(a, b):
    """_int_mm on the same memory; it has no packed form."""
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    out = torch.from_numpy(shared(len(a) * b.shape[1], np.int32).reshape(len(a), -1))
    call = torch._int_mm
    return Candidate(lambda: call(x, y, out=out), out.numpy, 0)


def quantized_convolution(engine):
    """Give a maker for quantized.conv2d of one of torch's engines, weights packed beforehand, channels side by side."""

    def make(x, w):
        if engine not in torch.backends.quantized.supported_engines:
            raise RuntimeError(f"torch has no engine {engine}")
        torch.backends.quantized.engine = engine
        image = as_quantized(torch.from_numpy(x), conv.X.scale, conv.X.zero_point)
        weights = as_quantized(torch.from_numpy(conv.plain(w)), conv.W_SCALE, 0)
        packed = torch.ops.quantized.conv2d_prepack(weights, None, [1, 1], [0, 0], [1, 1], conv.groups(x, w))
        call, y, found = torch.ops.quantized.conv2d.new, conv.result(w), []

        def run():
            found[:] = (call(image, packed, y.scale, y.zero_point),)

        return Candidate(run, lambda: found[0].int_repr().numpy(), conv.ONE_STEP)

    return make


def quantized_linear(engine):
    """Give a maker for quantized.linear of one of torch's engines, weights packed beforehand."""

    def make(x, w):
        if engine not in torch.backends.quantized.supported_engines:
            raise RuntimeError(f"torch has no engine {engine}")
        torch.backends.quantized.engine = engine
        rows = as_quantized(torch.from_numpy(x), layers.X.scale, layers.X.zero_point)
        weights = as_quantized(torch.from_numpy(np.ascontiguousarray(w.T)), layers.W.scale, 0)
        packed = torch.ops.quantized.linear_prepack(weights, None)
        call, y, found = torch.ops.quantized.linear.default, layers.result(w), []

        def run():
            found[:] = (call(rows, packed, y.scale, y.zero_point),)

        return Candidate(run, lambda: found[0].int_repr().numpy(), conv.ONE_STEP)

    return make


def convolution(x, w):
    """conv2d of float32, which holds these sums, with filters made beforehand; it has no kernel from codes to int32."""
    codes = torch.from_numpy(x).permute(0, 3, 1, 2)
    filters = torch.from_numpy(nnlib.centred(w, nnlib.B, np.float32).transpose(3, 2, 0, 1))
    filters = filters.contiguous(memory_format=torch.channels_last)
    out = torch.from_numpy(shared(x.size, np.int32).reshape(x.shape))
    call = torch.nn.functional.conv2d

    def run():
        out.copy_(call(codes.float().sub_(nnlib.A.zero_point), filters, padding=1).permute(0, 2, 3, 1))

    return Candidate(run, out.numpy, 0)


FORMS = {
    **{
        case.name: {f"conv2d, {name}": quantized_convolution(name) for name in ("onednn", "x86")}
        for case in conv.QUANTIZED_CONVOLUTIONS
    },
    layers.PRODUCT.name: {f"linear, {name}": quantized_linear(name) for name in ("onednn", "x86")},
    **{name: {"float32": convolution} for name in ("nnlib_conv2d_8x8to32", "tensorflow_conv2d", "conv2d")},
    "quantized_add_8p8to8": {"add": add_8, "add.out": add_8_out},
    "quantized_add_8p8to32": {"float32": add_32},
    "quantize": {"quantize_per_tensor": quantize},
    "dequantize": {"dequantize": dequantize},
    "requantize_32to8": {"dequantize, quantize_per_tensor": requantize},
    "requantization_range": {"aminmax": min_max},
    "multiply_shift": {"int64": shifter(round(FACTOR * 2**7), 7, 0)},
    "multiply_shift_half_up": {"int64": shifter(MULTIPLIER, RIGHT_SHIFT, 1 << (RIGHT_SHIFT - 1))},
    "multiply_shift_gemmlowp": {"int64": gemmlowp},
    **{key: {"_int_mm": product} for key in products.UNPACKED + products.PACKED},
}
