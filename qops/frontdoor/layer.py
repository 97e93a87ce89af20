"""A layer, as `matmul` and `conv2d` are: products of codes with weights, a bias, a clip, and one rounding to codes."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.channels import read
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.frontdoor.epilogue import Epilogue
from qops.checks import U8, as_array, both_ends, dtype_among, operand, real, shown, two_ends
from qops.frontdoor.targets import OpenRange
from qops.prepared import Prepared
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["BOUND_LAYER", "BOUND_LAYER_8", "LayerOp", "LayerWeights", "check_length", "epilogue", "row_ranges"]

BOUND_LAYER = 0.5 + 2**-16
"""Largest error of int32 codes of `matmul` and `conv2d` against the exact results, in output LSB.

0.5 for the rounding. The rest is that of float64: a result has five terms. Of these, the product of codes and the three
of zero points are at most about 2**31 LSB each. Their relative errors are at most 10 * 2**-53, those of four additions
2**-53 of what is added.
"""
BOUND_LAYER_8 = 0.5 + 2**-13
"""Largest error of 8-bit codes of `matmul` and `conv2d`, for results within the range, in output LSB.

A range is at least 2**-25 of the sums that the ranges of the operands allow, so float64's error is below 2**-14 LSB.
The ends of a range that is found are float32, which cuts at most 2**-16 LSB off the farthest result.

Where weights count from their middle code, and a column adds at most 192 LSB to its sums, they are multiplied in
float32: for codes that do not saturate a product is below 447 LSB. The sum, its factor and the product are
rounded by at most 2**-24 of these 447 LSB each, what is added and the result by 2**-17 LSB each: 2**-13.35 LSB in all.
"""
S8 = np.dtype(np.int8).num
_MOST = 2**17 - 1


class LayerWeights(NamedTuple):
    """The second operand of a layer: one range, or one for each output channel."""

    given: NDArray[Any]
    """The codes as they were given."""
    codes: NDArray[np.int8]
    """uint8 codes less 128, int8 codes as they are."""
    min: Any
    max: Any

    @property
    def ends(self) -> tuple[Any, Any]:
        """The range: two floats, or two arrays of one float32 for each channel."""
        if isinstance(self.min, float):
            return self.min, self.max
        return self.min.reshape(-1), self.max.reshape(-1)

    def kept(self) -> QTensor:
        """Copy the operand for a prepared op. The copied arrays are read-only."""
        return tensor(_own(self.given), *(end if isinstance(end, float) else _own(end) for end in (self.min, self.max)))


def weights(t: TensorLike, name: str) -> LayerWeights:
    """Check the weights `t`, whose last axis has the output channels; `name` is the caller's word for them."""
    given, lo, hi = read(t, name)
    if isinstance(lo, float):
        given, lo, hi = operand(t, name, U8, S8)
    else:
        _check_code_type(t, given, name)
        channels = given.shape[-1] if given.ndim else 0
        if lo.shape[-1] != channels or lo.size != channels:
            wanted = (1,) * (given.ndim - 1) + (channels,)
            raise bad_value(name, f"expected one range or ends of shape {wanted}, got ends of shape {lo.shape}")
    signed = given if given.dtype == np.int8 else (given ^ np.uint8(128)).view(np.int8)
    return LayerWeights(given, signed, lo, hi)


def _check_code_type(t: TensorLike, codes: NDArray[Any], name: str) -> None:
    """Refuse codes of a tensor with a range for each channel that are not plain uint8 or int8 codes."""
    operand((codes, -1.0, 1.0), name, U8, S8)
    declared = t.code_type if isinstance(t, QTensor) else _codes.of(codes)
    if declared != _codes.of(codes):
        raise bad_type(name, f"code type {declared.name} is not supported here; dequantize first")


def row_ranges(t: TensorLike, name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Check a first operand with a range for each row: give its codes, and an end of each row."""
    codes, lo, hi = read(t, name)
    _check_code_type(t, codes, name)
    wanted = (*codes.shape[:-1], 1)
    if not codes.ndim == lo.ndim == hi.ndim or lo.shape[-1] != 1 or hi.shape[-1] != 1:
        shape = np.broadcast_shapes(lo.shape, hi.shape)
        raise bad_value(
            name, f"expected one range or ends of shape {wanted}, one for each row, got ends of shape {shape}"
        )
    return codes, *(np.broadcast_to(end, wanted)[..., 0] for end in (lo, hi))


def check_length(k: int, name: str) -> int:
    """Give `k`, the number of products of a sum; ValueError if int32 does not hold the sum."""
    if k > _MOST:
        raise bad_value(name, f"sums of {k} products, int32 holds those of {_MOST}")
    return k


class Options(NamedTuple):
    """What a layer does with its sums, as its constructor takes it; checked."""

    bias: NDArray[Any] | None
    dtype: str
    guess: OpenRange | None
    range: tuple[float, float] | None
    clip: OpenRange | None


def options(channels: int, arguments: Mapping[str, Any]) -> Options:
    """Check the options of a layer, which are among the arguments of its constructor."""
    bias, guess, kept, clip = (arguments[name] for name in ("bias", "guess", "range", "clip"))
    row = _codes.of_dtype(dtype_among(arguments["dtype"], "dtype", ("int32", "uint8", "int8")))
    found = Options(
        None if bias is None else _bias(bias, channels),
        row.dtype.name,
        None if guess is None else _ends(guess, "guess"),
        None if kept is None else both_ends(kept, "range"),
        None if clip is None else _ends(clip, "clip"),
    )
    if found.range and found.guess:
        raise bad_value("range", f"give range or guess, not both; got {shown(kept)} and guess {shown(guess)}")
    for name, ends in (("range", found.range), ("guess", found.guess)):
        if ends and row.symmetric:
            raise bad_value(name, "int32 codes have the range of all possible sums; give a dtype of 8 bits")
    return found


def _ends(given: Any, name: str) -> OpenRange:
    """Check two ends; each may be None."""
    lo, hi = two_ends(given, name)
    lo, hi = (None if end is None else real(end, f"{name} {word}") for end, word in ((lo, "min"), (hi, "max")))
    if lo is not None and hi is not None and lo > hi:
        raise bad_value(name, f"min {lo} > max {hi}")
    return lo, hi


def _bias(bias: ArrayLike, channels: int) -> NDArray[Any]:
    """Check a bias, and give a copy of it."""
    given = as_array(bias, "bias")
    if given.dtype.kind != "f" and (given.dtype.kind, given.dtype.itemsize) != ("i", 4):
        which = ", which could be either" if given.dtype.kind in "iu" else ""
        raise bad_type("bias", f"expected floats for real values, or int32 for codes, got {given.dtype}{which}")
    if given.shape != (channels,):
        raise bad_value("bias", f"expected shape {(channels,)}, one value for each output channel, got {given.shape}")
    with np.errstate(over="ignore"):
        if not np.isfinite(given.astype(np.float32)).all():
            raise bad_value("bias", "has a value that is not finite in float32")
    return _own(given.astype(given.dtype.newbyteorder("="), copy=False))


def _own(given: NDArray[Any]) -> NDArray[Any]:
    """Give a copy that nobody can write to."""
    copy = np.array(given)
    copy.flags.writeable = False
    return copy


def epilogue(w: LayerWeights, k: int, given: Options, names: str) -> Epilogue:
    """Make the epilogue of sums of k products; `names` are the caller's words for both operands."""
    in_steps = given.bias is not None and given.bias.dtype == np.int32
    bias = None if given.bias is None else given.bias.astype(np.float64)
    lo, hi = given.clip or (None, None)
    clip = -inf if lo is None else lo, inf if hi is None else hi
    typenum, guess = np.dtype(given.dtype).num, given.guess or (None, None)
    return Epilogue(k, w.codes.shape[-1], *w.ends, bias, in_steps, typenum, clip, given.range, guess, names)


class LayerOp(Prepared):
    """The base of the prepared ops `MatMul` and `Conv2D`, which hold packed weights and are called as compiled code."""

    __slots__ = ("_run",)

    _run: Any

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        made: tuple[int, ...] = self._run.shape_of(tuple(shape))
        return made
