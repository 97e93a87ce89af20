"""A network on a Hexagon DSP, layer by layer.

nnlib's `fuse` gives the nodes that run: a first layer, a depthwise one, a convolution of pixels, and a fully connected
one, with a mean pool and a softmax. Each layer is compared with exact arithmetic on the codes that it reads. A V65
makes weights signed bytes. If their zero is on code 0, as that of positive weights, it drops a bit of each.
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from qops import QTensor, nnlib

CONV, DEPTHWISE = "QuantizedConv2d_8x8to32", "QuantizedDepthwiseConv2d_8x8to32"
LAYERS = [  # name, op, filters, stride, size of the images, the upper end of the results of weights around 0
    ("first layer", CONV, (3, 3, 3, 16), (4, 4), (1, 33, 33, 3), 4.0),
    ("depthwise", DEPTHWISE, (3, 3, 16, 1), (1, 1), (1, 8, 8, 16), 4.0),
    ("pixels", CONV, (1, 1, 16, 64), (1, 1), (1, 6, 6, 16), 8.0),
    ("mean pool", None, (6, 6), (1, 1), None, None),
    ("connected", CONV, (1, 1, 64, 16), (1, 1), (1, 1, 1, 64), 8.0),
]


def network(zero, arch):
    """Give the layers as ops that are called with a tensor, and the real weights of each."""
    random, ops = np.random.default_rng(3), []
    for _, op, shape, stride, size, top in LAYERS:
        if op is None:
            ops.append(
                (partial(nnlib.quantized_avg_pool_8, window=shape, stride=stride, padding="VALID"), None, stride)
            )
            continue
        codes, channels = random.integers(0, 256, shape).astype(np.uint8), shape[2 if op == DEPTHWISE else 3]
        step = 1 / 256 if zero else 1 / (128 * codes.size / channels)  # positive weights have a sum of about 1
        w, bias = (codes, -zero * step, (255 - zero) * step), (np.zeros(channels, np.int32), -1, 1)
        relu = "QuantizedReluX_8", top if zero else 1.0
        node = nnlib.fuse(op, w, bias, stride, shape=size, activation=relu, arch=arch)
        ops.append((node, (codes - float(zero)) * step, stride))
    return ops


def exact(x, w, stride, top):
    """Give the real results of a layer; without weights it is the mean."""
    if w is None:
        return x.mean((1, 2), keepdims=True)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], axis=(1, 2))[:, :: stride[0], :: stride[1]]
    if w.shape[3] == 1:
        return np.clip(np.einsum("nyxcij,ijc->nyxc", windows, w[..., 0]), 0, top)
    return np.clip(np.tensordot(windows, w, ((4, 5, 3), (0, 1, 2))), 0, top)


figure, panels = plt.subplots(1, 2, figsize=(8.8, 3.6), layout="constrained", sharex=True, sharey=True)
image = np.random.default_rng(1).integers(0, 256, (1, 33, 33, 3)).astype(np.uint8)
for panel, zero in zip(panels, (0, 128), strict=True):
    for offset, arch, color in ((-0.2, "v65", "#d1495b"), (0.2, "v60", "#30638e")):
        t, errors = QTensor(image, 0.0, 255 / 256), []
        for op, w, stride in network(zero, arch):
            before, t = t, op(t)
            real = exact(before.data * before.max / 255, w, stride, t.max)
            errors.append(np.abs(t.data - real / t.max * 255).max())
        x = np.exp(t.data * t.max / 255)
        t = nnlib.quantized_softmax_8(t)
        errors.append(np.abs(t.data - x / x.sum() * 255).max())
        panel.barh(np.arange(len(errors)) + offset, errors, 0.4, color=color, label=arch)
    panel.set(xlabel="largest error, LSB of the layer", title=f"weights with their zero on code {zero}")
    panel.axvline(0.5, color="#333", lw=1)
panels[0].set_yticks(range(6), [name for name, *_ in LAYERS] + ["softmax"])
panels[0].invert_yaxis()
panels[1].legend(title="arch")
figure.savefig("nnlib_network.svg")
