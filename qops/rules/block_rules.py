"""The rules of rows and blocks whose scale is made of their own values: `QUANTIZE_BLOCKS`.

Each operation of numpy on float32 arrays is one rounding, as in the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields
from qops.rules.roundings import ROUNDINGS
from qops.rules.scales import fma

__all__ = ["QUANTIZE_BLOCKS", "BlockCodes", "BlockQuantizeRule"]

Array = NDArray[Any]
F16, F32, F64 = np.float16, np.float32, np.float64


@shows_fields
class BlockCodes(NamedTuple):
    """Codes of rows or blocks: a value is ``scale * (code - zero_point)``, or ``scale * code + minimum``.

    Attributes
    ----------
    data : ndarray of int8, of the shape of the values
        Codes.
    scale : ndarray
        Real size of a code step of each block; float16, float32 or float64, as the rule keeps it.
    zero_point : int or ndarray of int32
        Code of real 0: one for all, or one for each block.
    minimum : ndarray of float16 or None
        Real value of code 0 of each block, for rules that keep it.
    sums : ndarray or None
        What the rule keeps of the codes of a block for later products: their sum times the scale in float16, or sums of
        16 neighbours in int16.
    """

    data: NDArray[np.int8]
    scale: Array
    zero_point: Any = 0
    minimum: Array | None = None
    sums: Array | None = None


@shows_fields
class BlockQuantizeRule(NamedTuple):
    """One row of `QUANTIZE_BLOCKS`.

    Attributes
    ----------
    formula : str
        What is computed in float32, one rounding an operation; m is the largest magnitude of a block.
    systems : str
        Who computes it.
    block : int or None
        Size of a block; None where the systems take whole rows, or blocks of several sizes.
    codes : callable
        float32 values of shape (..., blocks, size) -> `BlockCodes`, whose numbers have the shape (..., blocks).
    """

    formula: str
    systems: str
    block: int | None
    codes: Callable[[Array], BlockCodes]


def _unless_0(x: Array, values: Any, otherwise: float = 0) -> Array:
    """`values` where x is not 0."""
    return np.where(x == 0, F32(otherwise), values).astype(F32)


def _over_127(most: Array) -> tuple[Array, Array]:
    scale = most / F32(127)
    return scale, _unless_0(scale, F32(1) / scale)


def _under_127(most: Array) -> tuple[Array, Array]:
    return most / F32(127), _unless_0(most, F32(127) / most)


def _bitsandbytes(most: Array) -> tuple[Array, Array]:
    return most.astype(F64) / 127, _unless_0(most, F32(1) / most * F32(127))


def _ct2(most: Array) -> tuple[Array, Array]:
    per_unit = _unless_0(most, F32(127) / most, 1)
    return 1 / per_unit.astype(F64), per_unit


def _symmetric(
    x: Array, of: Callable[[Array], tuple[Array, Array]], rounding: str, kept: Any = F32, inside: str = ""
) -> BlockCodes:
    """Values times a reciprocal of the largest magnitude; with 128 inside of the rounding, added or fused."""
    scale, inverse = of(np.abs(x).max(-1))
    if inside == "fused":
        near = ROUNDINGS[rounding](fma(x, inverse[..., None], 128)) - F32(128)
    else:
        offset = F32(128) if inside else F32(0)
        near = ROUNDINGS[rounding](x * inverse[..., None] + offset) - offset
    return BlockCodes(np.clip(near, -127, 127).astype(np.int8), scale.astype(kept))


def _q8_1(x: Array, of: Callable[[Array], tuple[Array, Array]], rounding: str) -> BlockCodes:
    made, scale = _symmetric(x, of, rounding, F16), np.abs(x).max(-1) / F32(127)
    sums = made.data.sum(-1, dtype=np.int32).astype(F32) * scale
    return made._replace(sums=sums.astype(F16))


def _largest(x: Array) -> Array:
    """The value of the largest magnitude of each block, the first one of several."""
    at = np.abs(x).argmax(-1)[..., None]
    return np.take_along_axis(x, at, -1)[..., 0]


def _unsigned(x: Array, half: int) -> BlockCodes:
    scale = _largest(x) / F32(-half)
    inverse = _unless_0(scale, F32(1) / scale)[..., None]
    codes = np.minimum(np.trunc(x * inverse + F32(half + 0.5)), 2 * half - 1)
    return BlockCodes(codes.astype(np.int8), scale.astype(F16), half)


def _q4_1(x: Array) -> BlockCodes:
    low = x.min(-1)
    scale = (x.max(-1) - low) / F32(15)
    inverse = _unless_0(scale, F32(1) / scale)[..., None]
    codes = np.minimum(np.trunc((x - low[..., None]) * inverse + F32(0.5)), 15)
    return BlockCodes(codes.astype(np.int8), scale.astype(F16), 0, low.astype(F16))


def _q8_k(x: Array) -> BlockCodes:
    largest = _largest(x)
    inverse = _unless_0(largest, F32(-127) / largest)
    codes = np.minimum(np.rint(x * inverse[..., None]), 127).astype(np.int8)
    *rows, size = codes.shape
    groups = codes.reshape(*rows, size // 16, 16) if size % 16 == 0 else codes[..., None, :]
    return BlockCodes(codes, _unless_0(largest, F32(1) / inverse), 0, None, groups.sum(-1, dtype=np.int16))


_LEAST = F32(2.0**-23)


def _torchao(x: Array, scale_of: Callable[[Array, Array], Array]) -> BlockCodes:
    scale = np.maximum(scale_of(np.minimum(x.min(-1), 0), np.maximum(x.max(-1), 0)), _LEAST)
    return _by_scale(x, scale, np.zeros(scale.shape, np.int32))


def _torchao_asymmetric(x: Array) -> BlockCodes:
    low, high = np.minimum(x.min(-1), F32(0)), np.maximum(x.max(-1), F32(0))
    scale = np.maximum((high - low) / F32(255), _LEAST)
    zero = np.clip(-128 - np.rint(low / scale), -128, 127).astype(np.int32)
    return _by_scale(x, scale, zero)


def _by_scale(x: Array, scale: Array, zero: Array) -> BlockCodes:
    near = np.rint(x * (F32(1) / scale)[..., None]) + zero[..., None]
    return BlockCodes(np.clip(near, -128, 127).astype(np.int8), scale, zero)


def _divided(x: Array, rounding: str) -> BlockCodes:
    scale = np.abs(x).max(-1) / F32(127)
    near = ROUNDINGS[rounding](x / np.where(scale == 0, F32(1), scale)[..., None])
    return BlockCodes(np.clip(near, -127, 127).astype(np.int8), scale)


_GGML_X86 = "ggml 0.15.3 on x86, for activations at run time"
_GGML_FILES = "ggml 0.15.3 reference, which writes files"
QUANTIZE_BLOCKS = {
    "ggml-q8_0": BlockQuantizeRule(
        "half_away(x * (1 / d)), d = m / 127, kept in float16",
        _GGML_FILES,
        32,
        partial(_symmetric, of=_over_127, rounding="half_away", kept=F16),
    ),
    "ggml-q8_0-x86": BlockQuantizeRule(
        "rint(x * (127 / m)), d = m / 127, kept in float16",
        _GGML_X86,
        32,
        partial(_symmetric, of=_under_127, rounding="half_even", kept=F16),
    ),
    "ggml-q8_1": BlockQuantizeRule(
        "as ggml-q8_0; sums: d * sum(codes) in float16, of d before float16",
        _GGML_FILES,
        32,
        partial(_q8_1, of=_over_127, rounding="half_away"),
    ),
    "ggml-q8_1-x86": BlockQuantizeRule(
        "as ggml-q8_0-x86; sums as ggml-q8_1", _GGML_X86, 32, partial(_q8_1, of=_under_127, rounding="half_even")
    ),
    "ggml-q4_0": BlockQuantizeRule(
        "min(15, truncate(x * (1 / d) + 8.5)), d = the value of the largest magnitude / -8",
        _GGML_FILES,
        32,
        partial(_unsigned, half=8),
    ),
    "ggml-q5_0": BlockQuantizeRule(
        "min(31, truncate(x * (1 / d) + 16.5)), d = the value of the largest magnitude / -16",
        _GGML_FILES,
        32,
        partial(_unsigned, half=16),
    ),
    "ggml-q4_1": BlockQuantizeRule(
        "min(15, truncate((x - min) * (1 / d) + 0.5)), d = (max - min) / 15", _GGML_FILES, 32, _q4_1
    ),
    "ggml-q8_K": BlockQuantizeRule(
        "min(127, rint(x * s)), s = -127 / the value of the largest magnitude, d = 1 / s; sums of 16 codes",
        _GGML_X86,
        256,
        _q8_k,
    ),
    "127-over-max": BlockQuantizeRule(
        "rint(x * (127 / m))",
        "onnxruntime 1.32.0 MatMulNBits with accuracy_level 4 on x86, blocks of 16, 32, 64; CTranslate2 4.8.5 weights",
        None,
        partial(_symmetric, of=_under_127, rounding="half_even"),
    ),
    "ct2": BlockQuantizeRule(
        "rint(x * (127 / m) + 128) - 128; a row of zeros has a scale of 1",
        "CTranslate2 4.8.5, CT2_FORCE_CPU_ISA=GENERIC, and AVX",
        None,
        partial(_symmetric, of=_ct2, rounding="half_even", kept=F64, inside="added"),
    ),
    "ct2-fma": BlockQuantizeRule(
        "rint(fma(x, 127 / m, 128)) - 128; a row of zeros has a scale of 1",
        "CTranslate2 4.8.5 on x86 with AVX2 and AVX-512",
        None,
        partial(_symmetric, of=_ct2, rounding="half_even", kept=F64, inside="fused"),
    ),
    "bitsandbytes": BlockQuantizeRule(
        "rint(x * (1 / m * 127)); the scale is m / 127 in double, for dequantize",
        "bitsandbytes 0.50.2 int8_vectorwise_quant on x86",
        None,
        partial(_symmetric, of=_bitsandbytes, rounding="half_even", kept=F64),
    ),
    "torchao-symmetric": BlockQuantizeRule(
        "rint(x * (1 / s)), s = max(m / 127.5, 2**-23); codes from -128 on",
        "torchao 0.18.0 SYMMETRIC",
        None,
        partial(_torchao, scale_of=lambda low, high: np.maximum(-low, high) / F32(127.5)),
    ),
    "torchao-symmetric-no-clipping": BlockQuantizeRule(
        "rint(x * (1 / s)), s = max(-min / 128, max / 127, 2**-23)",
        "torchao 0.18.0 SYMMETRIC_NO_CLIPPING_ERR",
        None,
        partial(_torchao, scale_of=lambda low, high: np.maximum(-low / F32(128), high / F32(127))),
    ),
    "torchao-asymmetric": BlockQuantizeRule(
        "rint(x * (1 / s)) + z, s = max((max - min) / 255, 2**-23), z = -128 - rint(min / s), of a range that holds 0",
        "torchao 0.18.0 ASYMMETRIC",
        None,
        _torchao_asymmetric,
    ),
    "div-even": BlockQuantizeRule("rint(x / (m / 127))", "code by hand", None, partial(_divided, rounding="half_even")),
    "div-away": BlockQuantizeRule(
        "half_away(x / (m / 127))", "code by hand", None, partial(_divided, rounding="half_away")
    ),
    "div-truncate": BlockQuantizeRule(
        "truncate(x / (m / 127))", "code by hand", None, partial(_divided, rounding="truncate")
    ),
    "inv-even": BlockQuantizeRule(
        "rint(x * (1 / (m / 127)))", "code by hand", None, partial(_symmetric, of=_over_127, rounding="half_even")
    ),
}
"""Rules of rows and blocks whose scale is made of their own values, by name."""
