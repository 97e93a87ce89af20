"""Requantization rules by name: one table of rows, from an accumulator and a real scale to a code.

``code = clamp(round(acc * scale) + zero_point)``: a row says how the real scale becomes integers, how and in how many
steps the product is rounded, on which side of that the zero point is added, and what wraps.
"""

from typing import NamedTuple, NoReturn

from qops._kernels.arrays.nearest import did_you_mean
from qops._pages.html import in_notebook, table
from qops._readable import fitted, shows_fields
from qops.checks import shown
from qops.rules import formulas

__all__ = ["BLOCKS", "TABLE", "BlockRule", "Rule"]


@shows_fields
class Rule(NamedTuple):
    """One row of `TABLE`.

    Attributes
    ----------
    name : str
        Its name.
    multiplier : str
        How many bits the integer multiplier has; "float32" or "float64" where the scale stays real.
    first : str
        How the product is rounded: in its shift by 31 where there are two steps, else in the whole shift.
    second : str
        How the rest of the shift is rounded; "" where there is one step.
    split : str
        What the first of two steps shifts by: "at 31", "past 31", "last bit", "16 bits"; "once" where there is one.
    zero_point : str
        "outside": added after the rounding; "inside": before. "in the accumulator": the accumulator plus
        ``half_even(zero_point / scale)``, in float32, is multiplied; in 32 bits, which wrap.
    wraps : str
        What wraps modulo 2**32, where others saturate; "" if nothing does.
    beyond : str
        What a rounded float that int32 does not hold becomes: "saturates", the end of its sign; "lowest", the lowest
        code, whatever its sign; "" for rules in integers.
    scales : str
        How its systems form the real scale, as `real_scale` names it: one word, or two. Or "stepwise", if they multiply
        by the three scales one after another; with "conv" w_scale is not rounded twice, with "amx" the product of
        in_scale and w_scale is one factor.
    systems : str
        Who computes so.
    """

    name: str
    multiplier: str
    first: str
    second: str
    split: str
    zero_point: str
    wraps: str
    beyond: str
    scales: str
    systems: str

    @property
    def is_stepwise(self) -> bool:
        """Whether its systems multiply by the scales one after another."""
        return self.scales.startswith("stepwise")

    @property
    def formula(self) -> str:
        """What it computes, a line a step, where nothing wraps; of a stepwise rule, where it is given one scale."""
        return formulas.of_row(self)


@shows_fields
class BlockRule(NamedTuple):
    """One row of `BLOCKS`: whole blocks go by a rule of `TABLE`, and what is left at the end by another one.

    Attributes
    ----------
    whole, tail : str
        Names of the two rules.
    size : int
        Size of a block.
    of : str
        What a block is of: "elements" of the array in row-major order; "channels", along their axis.
    systems : str
        Who computes so.
    """

    whole: str
    tail: str
    size: int
    of: str
    systems: str

    @property
    def formula(self) -> str:
        """Which rule makes which codes; the rows of `TABLE` have the formulas of the two."""
        return f"{self.whole} for whole blocks of {self.size} {self.of}, {self.tail} for those left at the end"


_LEGEND = """\
A scale becomes an integer multiplier and a right shift. The product with it is rounded in one step or in two.

name        the name that requantize takes as its rule
multiplier  the bits of the multiplier, or the float type that the scale keeps; 16 of them: how many the rule uses
first       how the product is rounded in the whole shift; if second is not empty, in the first part, mostly 31 bits
second      how the result is rounded again in the rest of the shift; empty: there is no second step
split       what the first of two steps shifts by, or into; once: there is no second step
zero_point  outside: added after the rounding; inside: before it; in the accumulator: half_even(zero_point / scale)
wraps       what wraps modulo 2**32 where other rules saturate; empty: nothing
beyond      what a rounded float that int32 does not hold becomes: it saturates, or is the lowest; empty: no floats
scales      how the systems form the real scale, in the words of real_scale; stepwise: not at all; given: they have none
systems     the systems that use the rule

half_up, half_away and half_even go to the nearest integer: they send ties up, away from 0, and to the even one.
floor goes down, truncate goes toward 0.
at 31 and past 31 shift by 31 first, but past 31 rounds a shift up to 31 once. last bit leaves 1 to the second step.
stepwise-amx: the first of two steps is by in_scale * w_scale.
31 bits, below 1: a scale of 1 or more has the multiplier 0, so every result is the zero point.
16 bits: the accumulator is shifted into 16 bits, saturating, and the second step is the shift of its product by 15.
"""


class Rules(dict[str, Rule]):
    """Requantization rules by name; printed, what the columns mean and a table."""

    def __missing__(self, name: object) -> NoReturn:
        raise KeyError(f"{shown(name)} is no rule of requantization{did_you_mean(name, self)}")

    def __repr__(self) -> str:
        return fitted(f"<{len(self)} requantization rules: {', '.join(self)}; print explains them>")

    def _repr_html_(self) -> str:
        """Show a row for each rule in a notebook, with its formula."""
        rows = [(row.name, row.formula.replace("\n", "; "), row.systems) for row in self.values()]
        return in_notebook(table(("rule", "formula, where nothing wraps", "systems"), rows))

    def __str__(self) -> str:
        rows = [Rule._fields, *self.values()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join([_LEGEND, *lines])


# fmt: off
_ROWS = [
    ("tflite-double", "31 bits", "half_up", "half_away", "at 31", "outside", "left shift", "", "double, f32-product",
     "LiteRT 2.3 reference conv, depthwise, mul, add, quantize; TFLM 90b983c; CMSIS-NN 99f736a; gemmlowp 16e8662; "
     "ExecuTorch 1.5.1 Cortex-M eager ops"),
    ("tflite-single", "31 bits, below 2**30", "half_up", "", "once", "outside", "result", "", "double, f32-product",
     "TFLM 90b983c and CMSIS-NN 99f736a built with single rounding; reference code of ruy, in LiteRT 2.3; "
     "LiteRT 2.3 optimised conv and fully connected of several columns on 64-bit ARM"),
    ("half-up-double", "31 bits", "half_up", "half_up", "at 31", "outside", "left shift", "", "double, f32-product",
     "LiteRT 2.3 optimised conv, fully connected, blocks of its depthwise s8 and quantize; ARMv8.1 SQRDMULH, SRSHL"),
    ("double-away", "float64", "half_away", "", "once", "outside", "", "saturates", "double",
     "LiteRT 2.3 reference fully connected"),
    ("fp32-even", "float32", "half_even", "", "once", "outside", "", "saturates", "f32",
     "XNNPACK 75db3c0, so LiteRT 2.3 by default; QNNPACK 7d2a4e9 fp32; onnxruntime 1.31, 1.32 QLinearConv and MatMul; "
     "LiteRT 2.3 XNNPACK int8 on 64-bit ARM; onnxruntime 1.32 QLinearConv and MatMul on 64-bit ARM; "
     "rknn-toolkit2 2.5.0 simulator conv; ExecuTorch 1.5.1 XNNPACK delegate"),
    ("torch-fbgemm", "float32", "half_even", "", "once", "outside", "", "lowest", "f32",
     "torch 2.13 and 2.14 linear on fbgemm, x86"),
    ("torch-qnnpack", "float32", "half_even", "", "once", "outside", "", "lowest", "f32-reciprocal",
     "torch 2.13 and 2.14 linear on qnnpack, x86"),
    ("torch-qnnpack-arm", "float32", "half_even", "", "once", "outside", "", "saturates", "f32-reciprocal",
     "torch 2.10 linear and conv2d on qnnpack, 64-bit ARM"),
    ("torch-onednn", "float32", "half_even", "", "once", "inside", "", "saturates", "stepwise",
     "torch 2.13 and 2.14 linear on oneDNN: acc * in_scale * w_scale * (1 / out_scale), each product a float32"),
    ("torch-onednn-conv", "float32", "half_even", "", "once", "inside", "", "saturates", "stepwise-conv",
     "torch 2.13 and 2.14 conv2d on oneDNN, x86: as torch-onednn, with w_scale itself and not 1 / (1 / w_scale); "
     "torch 2.10 conv2d on onednn, 64-bit ARM"),
    ("torch-onednn-amx", "float32", "half_even", "", "once", "inside", "", "saturates", "stepwise-amx",
     "torch 2.13 and 2.14 linear on oneDNN with AMX, and on AVX2: acc * (in_scale * w_scale) * (1 / out_scale); "
     "torch 2.10 linear per channel on onednn, 64-bit ARM"),
    ("torch-onednn-conv-amx", "float32", "half_even", "", "once", "inside", "", "saturates", "stepwise-conv-amx",
     "torch 2.13 and 2.14 conv on oneDNN, x86 with AMX, and with AVX2: as torch-onednn-amx, with w_scale itself"),
    ("torch-acl", "31 bits, below 1", "floor", "half_up", "at 31", "outside", "", "", "f32-inverse-w",
     "torch 2.10 linear per tensor on onednn, 64-bit ARM"),
    ("fp32-even-zp-inside", "float32", "half_even", "", "once", "inside", "", "lowest", "f32",
     "onnxruntime 1.31 and 1.32 QLinearMul"),
    ("fp32-away", "float32", "half_away", "", "once", "outside", "", "saturates", "double", "ports by hand"),
    ("double-even-zp-inside", "float64 of a float32", "half_even", "", "once", "inside", "", "saturates", "f32",
     "onnx 1.23 ReferenceEvaluator QLinearConv, QLinearMatMul"),
    ("rndnu", "mantissa of 24 bits", "half_up", "", "once", "outside", "result", "", "f32",
     "XNNPACK 75db3c0 rndnu: NEON gemm, dwconv, vmul; "
     "LiteRT 2.3 XNNPACK uint8 conv, fully connected and depthwise on 64-bit ARM"),
    ("rndna", "mantissa of 24 bits", "half_away", "", "once", "outside", "", "", "f32",
     "QNNPACK 7d2a4e9 precise"),
    ("q31", "mantissa, 31 bits", "half_up", "half_away", "at 31", "outside", "", "", "f32", "QNNPACK 7d2a4e9 q31"),
    ("q31-wrap", "mantissa, 31 bits", "half_up", "half_away", "at 31", "outside", "sum with the zero point", "", "f32",
     "QNNPACK 7d2a4e9 gemmlowp"),
    ("rndnu16", "mantissa, 15 bits", "half_up", "half_up", "16 bits", "outside", "", "", "f32",
     "XNNPACK 75db3c0 qu8 rndnu16: the accumulator is shifted into 16 bits first"),
    ("xnnpack-cvt", "8 bits", "half_up", "", "once", "outside", "", "", "f32",
     "XNNPACK 75db3c0 convert, 8 bits to 8 bits of the same type"),
    ("tosa-single", "31 bits", "half_up", "", "once", "outside", "", "", "double", "TOSA 1.2 RESCALE, SINGLE_ROUND"),
    ("tosa-double", "31 bits", "half_up", "half_away", "past 31", "outside", "", "", "double",
     "TOSA 1.2 RESCALE, DOUBLE_ROUND: two steps above a shift of 31"),
    ("tosa-inexact", "31 bits as a float32", "half_even", "", "once", "outside", "", "saturates", "double",
     "TOSA 1.2 reference model 2026.8, INEXACT_ROUND"),
    ("tflite-int64acc", "31 bits, 16 of them", "half_up", "", "once", "outside", "result", "", "double",
     "LiteRT 2.3 and TFLM 90b983c int16x8, accumulators of 48 bits"),
    ("cmsis-s64", "16 bits of 31", "floor", "half_up", "last bit", "outside", "result", "", "double",
     "CMSIS-NN 99f736a s16, all but the last bit of the shift floored"),
    ("gemmlowp-legacy", "given", "half_up", "", "once", "offset added to the accumulator", "every step", "", "given",
     "gemmlowp QuantizeDownInt32ToUint8Scale, 2015 to 2017"),
    ("nnlib-supernode", "fraction of 31 bits", "half_up", "half_up", "at 31", "in the accumulator",
     "left shift", "", "f32", "Hexagon nnlib 0x00021401 Supernode, DepthwiseSupernode, InputSupernode, SuperFC"),
    ("textbook7-floor", "7 bits", "floor", "", "once", "outside", "", "", "double", "textbooks, code by hand"),
    ("textbook7-half-up", "7 bits", "half_up", "", "once", "outside", "", "", "double", "textbooks, code by hand"),
    ("shift-floor", "31 bits", "floor", "", "once", "outside", "", "", "double", "a bare >>"),
    ("shift-half-up", "31 bits", "half_up", "", "once", "outside", "", "", "double", "half added, then >>"),
    ("shift-toward-zero", "31 bits", "truncate", "", "once", "outside", "", "", "double", "a division in C"),
]
# fmt: on
TABLE = Rules((row[0], Rule(*row)) for row in _ROWS)
"""Requantization rules by name."""
BLOCKS = {
    "tflite-opt-depthwise": BlockRule(
        "half-up-double", "tflite-double", 8, "channels", "LiteRT 2.3 optimised depthwise conv, s8"
    ),
    "tflite-opt-quantize": BlockRule(
        "half-up-double",
        "tflite-double",
        16,
        "elements",
        "LiteRT 2.3 optimised quantize, 8 bits to 8 bits, and its default where the two types differ",
    ),
}
"""Rules of whole arrays by name, for vector code that leaves the last elements to other code."""
