"""FULLY_CONNECTED: rows times weights (O, K)."""

from __future__ import annotations

from math import inf, prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.gemm import product
from qops._kernels.gemm.matmul import MatMul, Rows
from qops._kernels.gemm.packed import pack_b
from qops.checks import int32, integer, put
from qops.prepared import direct
from qops.tflite import _checks as check
from qops.tflite.arithmetic import cast, half_away, wrap
from qops.tflite.losses import LanePairs, Losses, Lossy, losses
from qops.tflite.weights import Rounding, WeightedOp, bias_of, fit_in_halves, rule_16, scale_of, weights_of
from qops.tflite.window import finished

__all__ = ["FullyConnected", "fully_connected"]


class FullyConnected(WeightedOp):
    """The prepared form of `fully_connected` of int8, uint8 or int16, called ``op(x, out=None, num_threads=1)``.

    The weights are packed once, for any number of rows.
    """

    __slots__ = (
        *("_bias", "_count", "_depth", "_factor", "_is_odd", "_keeps", "_kernel", "_many", "_matrix", "_packed"),
        *("_single", "_stage", "_w", "_wraps"),
    )
    _name = "FULLY_CONNECTED"

    def __init__(
        self,
        w: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_scale: float,
        x_zero_point: int,
        w_scale: ArrayLike,
        y_scale: float,
        y_zero_point: int,
        w_zero_point: int = 0,
        w_type: str = "int8",
        keep_num_dims: bool = False,
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        facts, w = self._facts, weights_of(given.w, given.w_type, 2, self._dtype, wide=True)
        (self._count, self._depth), self._keeps = w.shape, given.keep_num_dims
        if w.dtype != np.int16:
            fit_in_halves(w, self._depth, self._dtype)
        self._is_odd = given.w_type == "int4" and self._depth % 2 == 1
        self._bias = bias_of(given.bias, self._dtype, len(w))
        w_scale = check.scales(given.w_scale, "w_scale", len(w))
        has_channels = isinstance(w_scale, np.ndarray)
        if given.w_type == "int4" and has_channels and not facts.connected_channels_int4:
            raise bad_value("w_scale", f"{given.kernel} takes 1 value for int4 weights, got one an output channel")
        codes = check.ends(w.dtype) if w.dtype != np.int16 else (0, 0)
        w_zero = integer(given.w_zero_point, "w_zero_point", *codes)
        self._zeros = given.x_zero_point, 0 if has_channels else w_zero
        below = inf if self._is_odd or self._dtype == np.int16 else facts.scale_below
        scale = scale_of(given, w_scale, self._dtype, self._derive(given, has_channels), below)
        rule, last = self._rule(given), (given.y_zero_point, self._limits(given, not self._is_odd))
        self._rounding = own = Rounding(rule, scale, *last)
        self._factor = factor = facts.connected_int4_factor if given.w_type == "int4" and not self._is_odd else 1
        if factor > 1:
            w, own = w * np.int8(factor), Rounding(rule, scale / factor, *last)
            if self._bias is not None:
                self._bias = wrap(self._bias.astype(np.int64) * factor).astype(np.int32)
        if rule == "double-away" and (self._has_wide_sums() or self._overflows()):
            self._stage = None
        else:
            self._stage = own.stage()
        wraps = {"int8": facts.wraps_below, "int4": facts.int4_wraps_below}.get(given.w_type, False)
        self._wraps = self._dtype == np.int8 and own.may_wrap(wraps)
        self._kernel = self._many = None
        self._single: Any = None
        self._w = np.asarray(w.T, np.float64) if w.dtype == np.int16 else None
        if w.dtype != np.int16:
            self._packed = pack_b(w.T)
            bias = None if self._dtype == np.int16 else self._bias
            self._matrix = MatMul(self._packed, self._zeros[1], self._stage_8(), self._dtype.num, bias)
            if self._stage_8() is not None:  # the product makes the codes
                self._kernel = Rows(self._matrix, self._dtype.num, self._zeros[0], keeps=self._keeps)
                self._pack_columns(w, own)

    def _pack_columns(self, w: NDArray[Any], own: Rounding) -> None:
        """Prepare calls of one row, which may have a rule of their own, and sums that lose something."""
        facts, (zero, w_zero), typenum = self._facts, self._zeros, self._dtype.num
        other = facts.one_column.get(own.rule) if len(w) >= 4 and self._depth >= 8 else None
        if other:
            one = MatMul(self._packed, w_zero, own._replace(rule=other).stage(), typenum, self._bias)
            self._single = Rows(one, typenum, zero, keeps=self._keeps)
        pairs = facts.pairs if own.rule in facts.rules_of_pairs else ""
        left = facts.left_shift.get(own.rule, "")
        lossy = Lossy(w_zero, (self._dtype, zero), own.scale, left, LanePairs(pairs))
        self._losses = losses(w[:, np.newaxis], lossy)
        self._lossy = lossy if left or pairs else None
        if self._losses is not None or self._wraps:
            self._matrix = MatMul(self._packed, w_zero, None, typenum, self._bias)
        if other or self._losses is not None or self._wraps:
            self._many, self._kernel = self._kernel, None

    def _derive(self, given: SimpleNamespace, has_channels: bool) -> str:
        """Give how the scale is made, in the words of `real_scale`."""
        facts = self._facts
        if self._dtype == np.uint8 and facts.connected_scale == "f32":
            return facts.u8_scale
        if given.w_type == "int16":
            return "f32-product"
        if self._dtype == np.int16 and self._bias is not None and self._bias.dtype == np.int64:
            return "double"
        if self._dtype == np.int16 and facts.connected_scale == "f32":
            return "double" if has_channels else "f32-product"
        one = facts.connected_odd_scale if self._is_odd else facts.connected_scale
        return "double" if has_channels and one == "f32-product" else one

    def _rule(self, given: SimpleNamespace) -> str:
        facts = self._facts
        if given.w_type == "int16":
            if not facts.connected_int16:
                raise bad_value("kernel", f"{given.kernel} has no FULLY_CONNECTED of int16 weights")
            return facts.connected_int16
        if self._dtype == np.int16:
            return rule_16(self._bias, facts.connected_no_bias, facts.connected_bias32, facts.connected_wide)
        if self._dtype == np.uint8:
            return facts.connected_u8
        if self._is_odd:
            return facts.connected_odd_int4
        return facts.connected_int4 if given.w_type == "int4" else facts.connected

    def _stage_8(self) -> Any:
        """Give the stage that products of 8 bits have; those of 16 bits are sums of two products."""
        return None if self._dtype == np.int16 else self._stage

    def _has_wide_sums(self) -> bool:
        """Whether sums have 48 bits: those of 16 bits by 8, unless a bias of int32 makes them wrap."""
        return self._dtype == np.int16 and (self._bias is None or self._bias.dtype != np.int32)

    def _overflows(self) -> bool:
        """Whether a sum times the scale may be beyond int32, which then gives the lowest integer; sums have 48 bits."""
        _, scale, zero, _ = self._rounding
        most = 2.0**47 if self._dtype == np.int16 else 2.0**31
        return bool(np.max(scale) * most + abs(zero) >= 2.0**31)

    def _rounded(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Give codes of sums by double-away, where what is beyond int32 is cast to it and then wraps."""
        _, scale, zero, ends = self._rounding
        values = half_away(sums.astype(np.float64) * scale)
        whole = cast(values, self._facts.casts)
        return np.clip(wrap(whole + zero), *ends).astype(self._dtype)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        size = prod(shape)
        if size % self._depth or (self._keeps and shape[-1:] != (self._depth,)):
            raise bad_value("x, w", f"shape {shape} does not fit weights of {self._depth} inputs")
        return (*shape[:-1], self._count) if self._keeps else (size // self._depth, self._count)

    @property
    def nbytes(self) -> int:
        """Bytes of the packed weights."""
        return int(self._packed.nbytes if self._w is None else self._w.nbytes)

    @direct
    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Multiply the rows of `x` on so many threads, into `out` if it is given."""
        threads, data = int32(num_threads, "num_threads", 1), self._codes(x)
        shape = self._shape(data.shape)
        check.out(out, self._dtype, shape, data)
        rows = data.reshape(-1, self._depth)
        if self._is_single(data.shape):
            return self._single(data, out, threads)
        if self._many is not None and self._losses is None and not self._wraps:
            return self._many(data, out, threads)
        codes = np.empty(shape, self._dtype) if out is None or not out.flags.c_contiguous else out
        flat = codes.reshape(-1, self._count)  # a view
        if self._stage is None:
            flat[...] = self._rounded(self._sums(rows, threads))
        else:
            sums = self._sums(rows, threads)
            self._stage.run(sums, flat)
            if self._wraps:
                self._rounding.wrap(sums, flat)
        return put(codes, out)

    def _losses_of(self, w: NDArray[Any], lossy: Lossy) -> Losses | None:
        return losses(w[:, np.newaxis] * w.dtype.type(self._factor), lossy)

    def _left(self, found: Losses, sums: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        rows = x.reshape(-1, self._depth)
        made = found.of(sums.reshape(-1, self._count) * self._factor, lambda: rows[:, np.newaxis])
        return (made // self._factor).reshape(sums.shape)

    def _is_single(self, shape: tuple[int, ...]) -> bool:
        return self._single is not None and prod(shape) == self._depth

    def _sums(self, rows: NDArray[Any], threads: int) -> NDArray[Any]:
        if self._dtype != np.int16:
            sums: NDArray[Any] = self._matrix(rows, self._zeros[0], None, threads)
            return sums if self._losses is None else self._losses.of(sums, lambda: rows[:, np.newaxis])
        if self._w is None:
            halves = (rows >> 8).astype(np.int8), (rows & 255).astype(np.uint8)
            upper, lower = (product(half, self._packed, num_threads=threads) for half in halves)
            return finished(upper.astype(np.int64) * 256 + lower, self._bias, self._rounding.rule)
        sums = (rows.astype(np.float64) @ self._w).astype(np.int64)  # 16 bits by 16, exact in double
        return sums if self._bias is None else sums + self._bias.view(np.int32)[: self._count]


def fully_connected(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: ArrayLike,
    y_scale: float,
    y_zero_point: int,
    w_zero_point: int = 0,
    w_type: str = "int8",
    keep_num_dims: bool = False,
    activation: str = "NONE",
    kernel: str = "reference",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply rows by weights (O, K), add a bias and make codes.

    The reference rounds ``sum * scale`` once, half away, in double; what is beyond int32 becomes the lowest integer, so
    the lowest code. The optimised kernels round half up twice, TFLM half up and half away, XNNPACK in float32. `x` is
    read as rows of K codes.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (..., K)
        Codes; as many as a multiple of K.
    w : ndarray of int8, uint8 or int16, (O, K)
        Weights.
    bias : ndarray, optional
        int32; for data of int16 int64 or int32. One value an output channel, of scale x_scale * w_scale.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_scale : float or 1-D array
        Real size of a code step of the weights: one, or one for each output channel.
    y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_zero_point : int
        The code of 0 of the weights; it is not read if they have a scale for each output.
    w_type : {"int8", "int4", "uint8", "int16"}
        Type of the weights. Those of int4 are an array of int8, from -8 to 7; those of uint8 go with data of uint8,
        those of int16 with int16.
    keep_num_dims : bool
        Whether the result keeps all axes of `x` but the last; else it has two.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel, num_threads, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, (rows, O), or (..., O) with `keep_num_dims`

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; a kernel library that has no such
        op; a limit of the activation that int32 does not hold; a scale from 256 on in XNNPACK.

    Notes
    -----
    Sources: TFLite ``fully_connected.cc``, ``integer_ops/fully_connected.h``, ``fully_connected_common.cc``; XNNPACK
    ``qs8-gemm``.

    Examples
    --------
    >>> x, w = np.array([[100, 3]], np.int8), np.array([[1, 0], [0, 127]], np.int8)
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_zero_point": 0}
    >>> qops.tflite.fully_connected(x, w, **how, y_scale=4.0)
    array([[25, 95]], dtype=int8)

    **Hazards.** A sum times the scale below -2**31 gives the lowest code in XNNPACK on CPUs with AVX2 alone, and its
    kernels for AVX-512 wrap it to the highest code where the zero point is below 0. With weights of 4 bits it is the
    other way round, and kernels for AVX-512 keep 16 times the sum in int32. XNNPACK leaves weights of 4 bits to the
    optimised kernel if `w` has an odd number of columns. A sum that is beyond int32 in steps of the result gives the
    lowest code in the reference:

    >>> x = np.full((1, 1000), 127, np.int8)
    >>> [qops.tflite.fully_connected(x, x, **how, y_scale=0.004, kernel=k).item() for k in ("reference", "xnnpack")]
    [-128, 127]
    """
    return FullyConnected._on(locals(), x, out, num_threads)
