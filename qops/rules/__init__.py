"""The integer arithmetic of many systems as named rules, bit for bit.

Functions that prepare something have a form in CamelCase, such as `Requantize`: a prepared op, made once of a rule and
its numbers, then called with data as often as one likes.

* `requantize` turns accumulators into codes by a rule of ``TABLE``, or of ``BLOCKS``, where two rules share an array,
  or of ``REAL_BIAS``, whose rules add a real bias after scaling; `integers` gives the multiplier and the shift that
  the rule makes of a scale. `dequantize` turns accumulators into real values by a rule of ``DEQUANTIZE``.
* `accumulate` gives the accumulators of a layer, sums of products of 8 bits, or of 16 by 8, and `accumulate_conv` those
  of a convolution: exact ones, or by a rule of ``ACCUMULATE`` what a library loses of them on a kind of CPU.
* `add` and `mul` take two tensors of codes and a rule of ``ADD`` or ``MUL``, `average_pool` windows and one of
  ``AVERAGE_POOL``.
* `quantize` turns float32 into codes by a rule of ``QUANTIZE``; `choose_range` gives scale and zero point of a range by
  one of ``RANGE_RULES``.
* `quantize_blocks` makes the scale of each row or block of its own values, by a rule of ``QUANTIZE_BLOCKS``, as
  language models are quantized; `block_dot` multiplies such blocks, `block_sums` gives their exact sums.
* `real_scale`, `tflite_multiplier` and `reduced_multiplier` form a real scale, and integers of it, as systems do.
* `FittedRule` says a rule by its parts, for hardware that no table has; `qops.explain` fits one to integers.
* `emit` writes a rule in C; `fewest_bits` finds the smallest multiplier and shift that are exact over a range.

The tables map the name of a rule to its row: ``row.formula`` is what it computes, ``row.systems`` who does.
``print(TABLE)`` explains the columns of the first.

What these systems do, too, and no row does:

* Where all three scales of an int16 add are powers of two, LiteRT shifts the input with the smaller scale right to the
  scale of the result, with ties away from 0, and the sum saturates. TFLM takes the row ``tflite-double`` there as well.
* QUANTIZE of LiteRT and TFLM, other than by XNNPACK, casts to int32 before it clamps, so +inf and values of 2**31 steps
  or more become the lowest code; `quantize` gives the highest.
* Where torch computes 64 elements or some channels together, the rows are those of x86 with AVX2 or AVX-512; on 64-bit
  ARM it takes the rows that name it. In the last n % 64 products of its `mul`, what reaches 2**63 steps becomes the
  lowest code, or with a negative zero point the highest; `mul` saturates.
* onnxruntime's QLinearAdd without AVX2 has no fused steps: read, not run. On 64-bit ARM it is the row ``qnnpack``
  within its ratios of scales, else ``ort-arm-float``; its QLinearMul there is ``ort-arm``.
* ncnn's depthwise convolutions with a multiple of 8 channels take a reciprocal of 12 bits from the CPU, which differs
  between Intel and AMD: no row can say it.
* Runtimes that were only read, not run, stand in a table of their own, ``READ_RULES``: NVDLA, Gemmini, XuanTie's SHL
  and Sophgo's tpu-mlir, most of them as a `FittedRule`. tpu-mlir's float form for CV18xx has rows for two of its modes,
  half_even and half_away, which are ``tosa-inexact`` and ``fp32-away`` with the multiplier and the shift as `integers`.
* TOSA's RESCALE with 16-bit multipliers is the row ``tosa-single``, with the multiplier and the shift as `integers`.

Not modelled: sums of fbgemm in 16 bits (``acc16``), ``cmsis-mve``, ``openvino-sse41``; of ggml's K types all but q8_K;
shared exponents (MX, E8M0).
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
from qops.rules.accumulate import Accumulate, accumulate
from qops.rules.accumulate_conv import AccumulateConv, accumulate_conv
from qops.rules.add import Add, add
from qops.rules.averages import AVERAGE_POOL, PoolRule
from qops.rules.bias_rules import REAL_BIAS, BiasRule
from qops.rules.binary import ADD, MUL
from qops.rules.block_dot import BLOCK_ORDERS, block_dot, block_sums
from qops.rules.block_rules import QUANTIZE_BLOCKS, BlockCodes, BlockQuantizeRule
from qops.rules.c_source import emit
from qops.rules.dequantize import DEQUANTIZE, DequantizeRule, dequantize
from qops.rules.fewest import FewestBits, Tradeoff, fewest_bits
from qops.rules.fitted import FittedRule
from qops.rules.mul import Mul, mul
from qops.rules.operands import AddIntegers, BinaryRule
from qops.rules.pooling import AveragePool, average_pool
from qops.rules.quantize import Quantize, quantize
from qops.rules.quantize_blocks import quantize_blocks
from qops.rules.quantize_rules import QUANTIZE, QuantizeRule
from qops.rules.range_rules import RANGE_RULES, RangeRule
from qops.rules.ranges import choose_range
from qops.rules.read_rules import READ_RULES, ReadRule
from qops.rules.requantize import Requantize, requantize
from qops.rules.scales import integers, real_scale, reduced_multiplier, tflite_multiplier
from qops.rules.sum_rules import ACCUMULATE, SumLayer, SumRule
from qops.rules.table import BLOCKS, TABLE, BlockRule, Rule

__all__ = [
    "ACCUMULATE",
    "ADD",
    "AVERAGE_POOL",
    "BLOCKS",
    "BLOCK_ORDERS",
    "DEQUANTIZE",
    "MUL",
    "QUANTIZE",
    "QUANTIZE_BLOCKS",
    "RANGE_RULES",
    "READ_RULES",
    "REAL_BIAS",
    "TABLE",
    "Accumulate",
    "AccumulateConv",
    "Add",
    "AddIntegers",
    "AveragePool",
    "BiasRule",
    "BinaryRule",
    "BlockCodes",
    "BlockQuantizeRule",
    "BlockRule",
    "DequantizeRule",
    "FewestBits",
    "FittedRule",
    "Mul",
    "PoolRule",
    "Quantize",
    "QuantizeRule",
    "RangeRule",
    "ReadRule",
    "Requantize",
    "Rule",
    "SumLayer",
    "SumRule",
    "Tradeoff",
    "accumulate",
    "accumulate_conv",
    "add",
    "average_pool",
    "block_dot",
    "block_sums",
    "choose_range",
    "dequantize",
    "emit",
    "fewest_bits",
    "integers",
    "mul",
    "quantize",
    "quantize_blocks",
    "real_scale",
    "reduced_multiplier",
    "requantize",
    "tflite_multiplier",
]
__dir__ = __all__.copy
name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
