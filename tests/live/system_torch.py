"""What torch makes of quantized tensors, on the CPU of this process; no other module of this repository is needed."""

import numpy as np
import torch

__all__ = ["average_pool", "convolution", "elementwise", "facts", "linear", "quantize"]

torch.set_num_threads(1)
torch.set_grad_enabled(False)
KINDS = {"uint8": torch.quint8, "int8": torch.qint8}


def facts():
    """The version, the engines, what its own kernels use of the CPU, and whether oneDNN has AMX."""
    engines = [x for x in ("x86", "fbgemm", "onednn", "qnnpack") if x in torch.backends.quantized.supported_engines]
    return torch.__version__, engines, torch.backends.cpu.get_cpu_capability(), torch.cpu._is_amx_tile_supported()


def tensor(x, s, z):
    """Codes as a quantized tensor."""
    return torch._make_per_tensor_quantized_tensor(torch.from_numpy(np.ascontiguousarray(x)), s, z)


def use(engine):
    torch.backends.quantized.engine = engine


def quantize(engine, x, s, z, dtype):
    use(engine)
    return torch.quantize_per_tensor(torch.from_numpy(x), s, z, KINDS[np.dtype(dtype).name]).int_repr().numpy()


def elementwise(engine, op, a, b, sy, zy):
    """A sum or product of two tensors, (codes, scale, zero point) each."""
    use(engine)
    return getattr(torch.ops.quantized, op)(tensor(*a), tensor(*b), sy, zy).int_repr().numpy()


def linear(engine, x, w, sy, zy):
    use(engine)
    packed = torch.ops.quantized.linear_prepack(tensor(*w), None)
    return torch.ops.quantized.linear(tensor(*x), packed, sy, zy).int_repr().numpy()


def convolution(engine, x, w, moves, sy, zy):
    use(engine)
    packed = torch.ops.quantized.conv2d_prepack(tensor(*w), None, *moves)
    return torch.ops.quantized.conv2d(tensor(*x), packed, sy, zy).int_repr().numpy()


def average_pool(engine, x, is_nhwc, kernel, stride, pads, counts):
    """Of images NHWC, in this order of memory or in torch's."""
    use(engine)
    image = tensor(*x).permute(0, 3, 1, 2)
    image = image if is_nhwc else image.contiguous()
    pooled = torch.nn.functional.avg_pool2d(image, kernel, stride, pads, count_include_pad=counts)
    return pooled.permute(0, 2, 3, 1).int_repr().numpy()
