"""The rules of the sums of a layer: `ACCUMULATE`, what libraries on kinds of CPU lose of products of 8 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from qops._readable import shows_fields

__all__ = ["ACCUMULATE", "SumLayer", "SumRule"]


@shows_fields
class SumLayer(NamedTuple):
    """What the choice of a kernel depends on.

    Attributes
    ----------
    kernel, strides, dilations : tuple of int
        One number for each spatial axis; of a product of matrices empty.
    pads : tuple of int
        Begins, then ends.
    groups, inputs, outputs : int
        Groups; channels and filters of one group.
    w_zero_point : int
        Code of real 0 of the weights.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    groups: int
    inputs: int
    outputs: int
    w_zero_point: int

    @property
    def is_depthwise(self) -> bool:
        """Whether each channel has one filter of its own."""
        return bool(self.kernel) and self.groups > 1 and self.inputs == 1 and self.outputs == 1


@shows_fields
class SumRule(NamedTuple):
    """One row of `ACCUMULATE`.

    Attributes
    ----------
    formula : str
        What is added.
    systems : str
        Who computes so, on which CPU.
    data : tuple of str
        The types of data that the systems multiply by int8 weights.
    order : str
        How codes under a window form pairs: "taps, channels", all channels of a tap, then those of the next, so that
        pairs may reach from one tap into the next; "channels of a tap", where pairs begin anew at each tap.
    padding : str
        "inside": padding holds the zero point and takes part in pairs. "outside": it adds nothing.
    halves : bool
        Whether pairs begin anew at K blocks: sums of 257 to 767 products have two, each of ceil(K / 2) or the rest.
    is_exact : callable
        SumLayer -> whether all sums of this layer are exact.
    """

    formula: str
    systems: str
    data: tuple[str, ...]
    order: str
    padding: str
    halves: bool
    is_exact: Callable[[SumLayer], bool]

    def starts(self, length: int) -> tuple[int, ...]:
        """Give where pairs begin along the products of one sum.

        Parameters
        ----------
        length : int
            How many products a sum of a matrix product has.

        Returns
        -------
        tuple of int

        Examples
        --------
        >>> row = qops.rules.ACCUMULATE["onednn-avx2"]
        >>> row.starts(256), row.starts(257), row.starts(768)
        ((0,), (0, 129), (0,))
        """
        return (0, (length + 1) // 2) if self.halves and _K_SINGLE < length < 2 * _K_BLOCK else (0,)


_K_SINGLE, _K_BLOCK = 256, 384
"""oneDNN's GEMM on AVX2: sums up to the first number are one K block; from twice the second on blocks are even."""
_PAIRS = "sum of sat16(x[k] * w[k] + x[k+1] * w[k+1])"


def _never(layer: SumLayer) -> bool:
    return False


def _always(layer: SumLayer) -> bool:
    return True


def _is_depthwise(layer: SumLayer) -> bool:
    return layer.is_depthwise


def _has_odd_groups(layer: SumLayer) -> bool:
    return layer.groups > 1 and (layer.inputs % 4 != 0 or layer.outputs % 4 != 0)


def _is_fast_depthwise(layer: SumLayer) -> bool:
    """Whether fbgemm's own kernel takes a depthwise convolution: found by calls, as its row says."""
    kernel = layer.kernel
    if len(kernel) not in (2, 3):
        return False
    square, deep = kernel[-1] == kernel[-2] and kernel[-1] in (3, 5, 7), len(kernel) == 2 or kernel[0] in (3, 5)
    fits = layer.inputs == 1 and layer.outputs in (1, 2) and layer.groups % 8 == 0
    padded = layer.pads == tuple(k // 2 for k in kernel) * 2
    return square and deep and fits and padded and set(layer.strides) <= {1, 2} and set(layer.dilations) == {1}


def _not_fast_depthwise(layer: SumLayer) -> bool:
    return not _is_fast_depthwise(layer)


def _left_to_onednn(layer: SumLayer) -> bool:
    return not (_is_fast_depthwise(layer) and (layer.w_zero_point != 0 or layer.groups > 100))


_U8, _BOTH = ("uint8",), ("uint8", "int8")
ACCUMULATE = {
    "exact": SumRule(
        "sum of x[k] * w[k]",
        "x86 with VNNI and 64-bit ARM with dot products; LiteRT 2.3 and TFLM on every x86; torch qnnpack; onnxruntime "
        "but for uint8 by int8 on AVX2",
        ("int16", "int8", "uint8"),
        "taps, channels",
        "inside",
        False,
        _always,
    ),
    "fbgemm-avx2": SumRule(
        _PAIRS,
        "torch 2.13 linear, linear_dynamic and conv, engines fbgemm and x86 on x86 with AVX2, without VNNI",
        _U8,
        "taps, channels",
        "inside",
        False,
        _never,
    ),
    "fbgemm-vnni": SumRule(
        f"exact; depthwise with kernels of 3, 5 or 7, C % 8 = 0, pads (k - 1) / 2, strides of 1 or 2: {_PAIRS} of taps",
        "torch 2.13 conv, engine fbgemm on x86 with VNNI",
        _U8,
        "taps, channels",
        "inside",
        False,
        _not_fast_depthwise,
    ),
    "x86-vnni": SumRule(
        "as fbgemm-vnni, but such a layer is exact if w_zero_point is 0 and groups are 100 or less",
        "torch 2.13 conv, engine x86 on x86 with VNNI",
        _U8,
        "taps, channels",
        "inside",
        False,
        _left_to_onednn,
    ),
    "onednn-avx2": SumRule(
        f"{_PAIRS}; groups whose channels or filters are no multiple of 4 are exact",
        "torch 2.13 linear and conv, engine onednn on x86 with AVX2, without VNNI; there too TensorFlow 2.21 "
        "QuantizedMatMulWithBias and QuantizedConv2D of qint8 filters with TF_ENABLE_ONEDNN_OPTS=1",
        _U8,
        "channels of a tap",
        "outside",
        True,
        _has_odd_groups,
    ),
    "openvino-avx2": SumRule(
        f"{_PAIRS}; x of int8 is read as x + 128; depthwise is exact",
        "OpenVINO 2026.4.1 MatMul and Convolution, kernels jit_avx2_I8, jit_avx2_1x1_I8, x86 with AVX2, without VNNI",
        _BOTH,
        "channels of a tap",
        "inside",
        True,
        _is_depthwise,
    ),
    "openvino-gemm-avx2": SumRule(
        f"{_PAIRS}; x of int8 is read as x + 128",
        "OpenVINO 2026.4.1 Convolution, kernel jit_gemm_I8, x86 with AVX2, without VNNI",
        _BOTH,
        "taps, channels",
        "inside",
        False,
        _never,
    ),
}
"""Rules of the sums of a layer, by name; sat16 keeps a sum in [-32768, 32767]."""
