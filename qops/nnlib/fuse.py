"""How nnlib's prepare fuses the nodes of a graph: from convolution, bias, requantization and relu to what runs."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, TypeAlias, get_args

from numpy.typing import ArrayLike

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import S32, U8, both_ends, choice, integers, operand, real, shown
from qops.nnlib.chosen_node import convolution_node
from qops.nnlib.depthwise_supernode import DepthwiseSupernode
from qops.nnlib.fused_node import Node
from qops.nnlib.node_arguments import Arch
from qops.nnlib.node_range import Given
from qops.nnlib.super_fc import LEAST, UNIT, SuperFC
from qops.qtensor import TensorLike

__all__ = ["fuse"]

Fusable: TypeAlias = Literal["QuantizedConv2d_8x8to32", "QuantizedDepthwiseConv2d_8x8to32", "QuantizedMatMul_8x8to32"]
Activation: TypeAlias = (
    Literal["QuantizedRelu_8"]
    | tuple[Literal["QuantizedReluX_8"], float]
    | tuple[Literal["QuantizedClamp_8"], float, float]
)

CONV, DEPTHWISE, MATMUL = get_args(Fusable)


def fuse(
    op: Fusable,
    w: TensorLike,
    bias: TensorLike | None,
    stride: tuple[int, int] = (1, 1),
    padding: str = "VALID",
    *,
    shape: tuple[int, ...],
    requantize: tuple[float, float] | None = None,
    activation: Activation | None = None,
    channel_scale: ArrayLike | None = None,
    arch: Arch = "v65",
) -> Node:
    """Give the node that nnlib makes of a convolution or matmul, a bias, a requantization and an activation.

    When a graph is prepared, these nodes become one, which runs: the intermediate requantizations vanish, so **codes
    are not those of the nodes one by one**. The activation is what sets the range:

    ============================  ==================================================
    nodes of the graph            range of the node that runs
    ============================  ==================================================
    Requantize_32to8              the wanted one
    QuantizeDownAndShrinkRange    free: found from the data, remembered by the node
    then QuantizedRelu_8          from 0
    then QuantizedReluX_8         from 0 to its maximum
    then QuantizedClamp_8         its own
    ============================  ==================================================

    A convolution becomes an `InputSupernode` if its filters have up to four channels, the stride across is up to 4 and
    there are no scales of channels, which is a `Supernode3322` for filters (3, 3, 2, 2) with stride 1 and a given
    range; a `SuperFC` if one image is as large as the filters, with K from 32 on, and both depths are multiples of 16;
    and else a `Supernode`. A matmul becomes a `SuperFC`.

    Parameters
    ----------
    op : {"QuantizedConv2d_8x8to32", "QuantizedDepthwiseConv2d_8x8to32", "QuantizedMatMul_8x8to32"}
        The node that multiplies.
    w : uint8 tensor
        Its constant operand: (KH, KW, C, O), depthwise (KH, KW, C, 1), of a matmul (K, O).
    bias : uint8 or int32 tensor, or None
        That of QuantizedBiasAdd_32p32to32, or of a requantization and QuantizedBiasAdd_8p8to32, in front of the last
        requantization.
    stride, padding
        As `quantized_conv2d_8x8to32` takes them; a matmul has none.
    shape : tuple of int
        Shape of the images, (N, H, W, C), which a graph knows; that of a matmul is not read.
    requantize : (float, float), optional
        The range that Requantize_32to8 wants. Without it, it is QuantizeDownAndShrinkRange_32to8.
    activation : str or tuple, optional
        "QuantizedRelu_8", ("QuantizedReluX_8", max), or ("QuantizedClamp_8", min, max).
    channel_scale : array_like of float, (O,), optional
        The constant of a ChannelScale_32xf.
    arch : {"v65", "v60"}
        The chip, as `supernode` takes it.

    Returns
    -------
    Supernode, InputSupernode, Supernode3322, DepthwiseSupernode or SuperFC

    Raises
    ------
    TypeError, ValueError
        Nodes that nnlib leaves as they are: without a bias; depthwise filters 1 high, of other widths than 3, 5 and 7,
        more than one for a channel, or with a stride of more than 2 across; a matmul whose K and O are no multiples of
        16, or below 32. A range without 0. What the node refuses.

    Notes
    -----
    Source: ``prepare.c``. Not modelled: a multiplication and a bias, which become a batch norm.

    **Hazards.** The fused node rounds once, in the range that the relu sets. The nodes one by one give other codes, in
    another range:

    >>> x = np.array([[0, 64, 128, 192, 255, 32, 96, 160]], np.uint8).reshape(1, 1, 1, 8), -1.0, 1.0
    >>> w = np.array([[200, 50], [20, 30]] * 4, np.uint8).reshape(1, 1, 8, 2), -1.0, 1.0
    >>> bias = np.array([2**24, -(2**22)], np.int32), -64.0, 64.0
    >>> node = qops.nnlib.fuse(
    ...     "QuantizedConv2d_8x8to32",
    ...     w,
    ...     bias,
    ...     shape=(1, 1, 1, 8),
    ...     requantize=(-8.0, 8.0),
    ...     activation="QuantizedRelu_8",
    ... )
    >>> node(x)
    QTensor(np.uint8([[[[24, 12]]]]), 0.0, 8.0)
    >>> sums = qops.nnlib.quantized_bias_add_32p32to32(
    ...     qops.nnlib.quantized_conv2d_8x8to32(x, w, (1, 1), "VALID"), bias
    ... )
    >>> qops.nnlib.quantized_relu_8(qops.nnlib.requantize_32to8(sums, -8.0, 8.0))  # 24 and 14 in steps of 8 / 255
    QTensor(np.uint8([[[[139, 134]]]]), -8.0, 8.062992095947266)

    Examples
    --------
    >>> w, bias = (np.zeros((3, 3, 3, 8), np.uint8), -1.0, 1.0), (np.zeros(8, np.int32), -1.0, 1.0)
    >>> conv = "QuantizedConv2d_8x8to32"
    >>> node = qops.nnlib.fuse(conv, w, bias, shape=(1, 9, 9, 3), activation=("QuantizedReluX_8", 6.0))
    >>> type(node).__name__, node.shape_of((1, 9, 9, 3))
    ('InputSupernode', (1, 7, 7, 8))
    """
    choice(op, "op", (CONV, DEPTHWISE, MATMUL))
    if bias is None:
        raise bad_value("bias", "nnlib fuses no nodes without one")
    ends = _ends(requantize, activation)
    if op == MATMUL:
        return _matmul_node(w, bias, ends)
    size, stride = integers(shape, "shape", 4, 1), integers(stride, "stride", 2, 1)
    if op == DEPTHWISE:
        return DepthwiseSupernode(w, bias, stride, padding, *ends, channel_scale=channel_scale)
    codes, lo, hi = operand(w, "w", U8)
    if codes.ndim == 4 and _is_connected(codes.shape, size, bias, padding, channel_scale):
        return SuperFC((codes.reshape(1, 1, -1, codes.shape[3]), lo, hi), bias, *ends)
    return convolution_node(w, bias, stride, padding, ends, channel_scale, arch)


def _ends(requantize: Any, activation: Any) -> Given:
    """Give the ends of the range that a graph asks for; a free end is None."""
    wanted: Given = (None, None) if requantize is None else both_ends(requantize, "requantize")
    if activation is None:
        return wanted
    if not isinstance(activation, (str, tuple, list)) or not activation:
        raise bad_type("activation", f"expected a name, or a tuple of one and numbers, got {shown(activation)}")
    name, *numbers = (activation,) if isinstance(activation, str) else activation
    counts = {"QuantizedRelu_8": 0, "QuantizedReluX_8": 1, "QuantizedClamp_8": 2}
    choice(name, "activation", tuple(counts))
    if len(numbers) != counts[name]:
        raise bad_value("activation", f"expected {counts[name]} numbers after {name}, got {shown(activation)}")
    if not numbers:
        return 0.0, wanted[1]
    found = [real(number, "activation") for number in numbers]
    return (0.0, found[0]) if len(found) == 1 else (found[0], found[1])


def _matmul_node(w: TensorLike, bias: TensorLike, ends: Given) -> Node:
    codes, lo, hi = operand(w, "w", U8)
    if codes.ndim != 2 or codes.shape[0] % UNIT or codes.shape[1] % UNIT or min(codes.shape) < LEAST:
        raise bad_value("w", f"nnlib fuses a matmul of (K, O), multiples of {UNIT} from {LEAST} on, got {codes.shape}")
    return SuperFC((codes.reshape(1, 1, *codes.shape), lo, hi), bias, *ends)


def _is_connected(
    filters: tuple[int, ...], images: tuple[int, ...], bias: TensorLike, padding: str, channel_scale: Any
) -> bool:
    """Whether a convolution of one image, as large as the filters, runs as a fully connected layer."""
    depth, channels = prod(filters[:3]), filters[3]
    is_whole = images[0] == 1 and filters[:3] == images[1:] and (padding == "VALID" or filters[:2] == (1, 1))
    fits = depth >= LEAST and filters[2] % UNIT == 0 and channels % UNIT == 0
    return is_whole and fits and operand(bias, "bias", S32, U8)[0].dtype.itemsize == 4 and channel_scale is None
