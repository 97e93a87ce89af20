"""Accumulators of a convolution over any number of axes, as libraries on kinds of CPU sum them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.given import row_named
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import check_out, int32, integers, native, put
from qops.prepared import Prepared
from qops.rules.packed_rows import PackedRows, sum_type, weights_of
from qops.rules.sum_rules import ACCUMULATE, SumLayer, SumRule
from qops.window_rows import windows_of

__all__ = ["AccumulateConv", "accumulate_conv"]


class AccumulateConv(Prepared):
    """Prepared form of `accumulate_conv`: the filters are packed once, for images of any size.

    Called ``op(x, out=None, num_threads=1)``, it gives what `accumulate_conv` gives with the same arguments.

    Parameters
    ----------
    w, bias, x_zero_point, w_zero_point, strides, pads, dilations, groups, dtype, rule
        As `accumulate_conv` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        What `accumulate_conv` refuses, except `x` and `out`, which are checked at each call.

    Examples
    --------
    >>> op = qops.rules.AccumulateConv(np.array([[[127, 127]]], np.int8), rule="fbgemm-avx2")
    >>> op(np.array([[[255, 255, 1]]], np.uint8))
    array([[[32767, 32512]]])
    """

    __slots__ = ("_axes", "_dtype", "_inside", "_layer", "_packed", "_row", "_w", "_w_sums")

    def __init__(
        self,
        w: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_zero_point: int = 0,
        w_zero_point: int = 0,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
        dtype: DTypeLike = "int64",
        rule: str = "exact",
    ) -> None:
        bias = None if bias is None else native(bias, "bias", ("int32", "int64"))
        dtype, x_zero_point = sum_type(dtype), int32(x_zero_point, "x_zero_point")
        self._make(locals())

    def _prepare(self, once: bool) -> None:
        row: SumRule = row_named(self.rule, ACCUMULATE)
        filters = native(self.w, "w", ("int8", "uint8"))
        layer = self._layer = self._layer_of(filters)
        self._row, self._w, self._dtype = row, weights_of(self.w, row), np.dtype(self.dtype)
        if self.bias is not None:
            added = native(self.bias, "bias", ("int32", "int64"))
            if added.shape != (len(filters),):
                raise bad_value("bias", f"expected one value a filter, ({len(filters)},), got shape {added.shape}")
        matrices = [self._matrix(part) for part in np.split(self._w, layer.groups)]
        starts = None if row.is_exact(layer) else (0,)
        self._packed = [PackedRows(matrix, starts, once) for matrix in matrices]
        self._w_sums = [m.sum(0, dtype=np.int64) - len(m) * layer.w_zero_point for m in matrices]
        self._inside = [PackedRows(m, None, once) for m in matrices] if self._has_holes else None

    def _layer_of(self, w: NDArray[Any]) -> SumLayer:
        """Give the numbers of the layer, checked, and keep how its window moves."""
        groups, kernel, count = int32(self.groups, "groups", 1), w.shape[2:], w.ndim - 2
        if count < 1 or 0 in w.shape or len(w) % groups:
            raise bad_value("w", f"expected (O, C / groups, kernel), O divisible by groups {groups}, got {w.shape}")
        strides, dilations = (
            (1,) * count if given is None else integers(given, name, count, 1)
            for given, name in ((self.strides, "strides"), (self.dilations, "dilations"))
        )
        pads = (0,) * (2 * count) if self.pads is None else integers(self.pads, "pads", 2 * count, 0)
        moves = zip(kernel, strides, dilations, pads[:count], pads[count:], strict=True)
        self._axes = [Axis(*one) for one in moves]
        zero = int32(self.w_zero_point, "w_zero_point")
        return SumLayer(kernel, strides, dilations, pads, groups, w.shape[1], len(w) // groups, zero)

    @property
    def _has_holes(self) -> bool:
        """Whether padding adds nothing, though code 0 does not stand for real 0."""
        return self._row.padding == "outside" and any(self._layer.pads) and self.x_zero_point != 0

    def _matrix(self, filters: NDArray[Any]) -> NDArray[Any]:
        """Give filters of one group as a matrix (K, outputs): the channels of each tap stand together."""
        taps = np.moveaxis(filters, 1, -1).reshape(len(filters), -1, filters.shape[1])
        return self._spaced(taps).reshape(len(filters), -1).T

    def _spaced(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Give rows (..., taps, channels), with a channel of zeros where pairs begin anew at each tap."""
        odd = self._row.order == "channels of a tap" and rows.shape[-1] % 2
        return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, 1)]) if odd else rows

    def _moved(self, shape: tuple[int, ...]) -> list[Axis]:
        """Give how the window moves over images of this shape."""
        channels = self._layer.groups * self._layer.inputs
        if len(shape) != self._w.ndim or shape[1] != channels:
            raise bad_value("x, w", f"shapes {shape} and {self._w.shape} do not fit, in {self._layer.groups} groups")
        axes = [axis.over(size) for axis, size in zip(self._axes, shape[2:], strict=True)]
        if not all(axis.positions for axis in axes):
            raise bad_value("x, w", f"a window of {tuple(axis.span for axis in axes)} does not fit {shape[2:]}, padded")
        return axes

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[0], len(self._w), *(axis.positions for axis in self._moved(shape))

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Give the accumulators of images, on so many threads, in `out` if it is given."""
        threads, codes = int32(num_threads, "num_threads", 1), native(x, "x", self._row.data)
        if codes.ndim != self._w.ndim:
            raise bad_value("x, w", f"shapes {codes.shape} and {self._w.shape} do not fit")
        shape = self._shape(codes.shape)
        if out is not None:
            inputs = [v for v in (codes, self.w, self.bias) if isinstance(v, np.ndarray)]  # a bias may be a list
            check_out(out, self._dtype.num, shape, inputs)
        axes = self._moved(codes.shape)
        rows = self._rows(codes, axes, self._padding(codes.dtype))
        sums = [packed(row, threads) for packed, row in zip(self._packed, rows, strict=True)]
        self._take_off_zero_points(sums, rows, codes, axes, threads)
        total = np.concatenate(sums, axis=1)
        if self.bias is not None:
            total += self.bias
        by_place = np.moveaxis(total.reshape(shape[0], *shape[2:], shape[1]), -1, 1)
        made: NDArray[Any] = put(np.ascontiguousarray(by_place, self._dtype), out)  # int32 wraps
        return made

    def _padding(self, dtype: np.dtype[Any]) -> int:
        if not any(self._layer.pads) or self._row.padding == "outside":
            return 0
        ends = np.iinfo(dtype)
        return int32(self.x_zero_point, "x_zero_point", int(ends.min), int(ends.max))

    def _rows(self, x: NDArray[Any], axes: list[Axis], padding: int) -> list[NDArray[Any]]:
        """Give what is under the window, a row for each place: (places, K) of each group."""
        rows, _ = windows_of(x, axes, padding, self._layer.groups, False)
        taps = rows.reshape(*rows.shape[:2], rows.shape[2] // self._layer.inputs, self._layer.inputs)
        spaced = self._spaced(taps)
        return [*spaced.reshape(*rows.shape[:2], spaced.shape[2] * spaced.shape[3])]

    def _take_off_zero_points(
        self, sums: list[Any], rows: list[NDArray[Any]], x: NDArray[Any], axes: list[Axis], threads: int
    ) -> None:
        """Subtract what zero points add: exact, and apart from all pairs."""
        w_zero = self._layer.w_zero_point
        if w_zero:
            for total, row in zip(sums, rows, strict=True):
                total -= w_zero * row.sum(1, dtype=np.int64)[:, np.newaxis]
        if self._inside is None:
            for total, w_sums in zip(sums, self._w_sums, strict=True):
                total -= self.x_zero_point * w_sums
            return
        for total, packed, row in zip(sums, self._inside, self._rows(np.ones_like(x), axes, 0), strict=True):
            total -= self.x_zero_point * (packed(row, threads) - w_zero * row.sum(1, dtype=np.int64)[:, np.newaxis])


@refusing_unknown
def accumulate_conv(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_zero_point: int = 0,
    w_zero_point: int = 0,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    groups: int = 1,
    dtype: DTypeLike = "int64",
    rule: str = "exact",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Give the accumulators of a convolution: the sums of ``(x - x_zero_point) * (w - w_zero_point)``, with the bias.

    By the rule "exact" they are exact in int64. By the other rules of `ACCUMULATE` two neighbours saturate together to
    16 bits, in the order in which the library lays the codes under the window; it also says whether padding takes part.

    Parameters
    ----------
    x : ndarray of uint8, int8 or int16, (N, C, ...)
        Images of codes over one spatial axis or more, of a type that the rule has (`SumRule.data`).
    w : ndarray of int8, (O, C / groups, ...)
        Filters; by the rule "exact" uint8 too.
    bias : ndarray of int32 or int64, (O,), optional
        Added to the sums.
    x_zero_point, w_zero_point : int
        Codes of real 0. Padding holds the real value 0.
    strides : sequence of int, optional
        One for each spatial axis; by default 1.
    pads : sequence of int, optional
        Pixels of padding: the begins of all axes, then their ends; by default none.
    dilations : sequence of int, optional
        One for each spatial axis; by default 1.
    groups : int
        Into how many groups the channels and the filters are divided.
    dtype : {"int64", "int32"}
        Type of the result; int32 is the sum modulo 2**32.
    rule : str
        A name in `ACCUMULATE`: a library on a kind of CPU.
    num_threads : int
        How many threads share the work; the bits are the same.
    out : ndarray of `dtype`, optional
        Where the result is written; (N, O, ...), apart from the inputs.

    Returns
    -------
    ndarray of `dtype`, (N, O, ...)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, a window larger than the padded image, a zero point that padding cannot
        hold, an `out` that does not fit or overlaps an input.

    See Also
    --------
    AccumulateConv : the same, prepared once for many images.

    Notes
    -----
    Sources: the instruction VPMADDUBSW; runs of torch, OpenVINO and TensorFlow on x86 with AVX2.

    **Hazards.** In fbgemm a pair reaches from one tap into the next where a group has an odd number of channels, and
    padding takes part in it; in oneDNN neither is so:

    >>> x, w = np.full((1, 1, 2), 255, np.uint8), np.array([[[127, 127]]], np.int8)
    >>> [qops.rules.accumulate_conv(x, w, rule=rule).item() for rule in ("fbgemm-avx2", "onednn-avx2")]
    [32767, 64770]

    fbgemm's fast depthwise kernel saturates pairs of taps on a CPU with VNNI too:

    >>> x, w = np.full((1, 8, 3, 3), 255, np.uint8), np.full((8, 1, 3, 3), 127, np.int8)
    >>> how = {"pads": (1, 1, 1, 1), "groups": 8}
    >>> for rule in ("exact", "fbgemm-vnni"):
    ...     print(rule, qops.rules.accumulate_conv(x, w, **how, rule=rule)[0, 0, 1])
    exact [194310 291465 194310]
    fbgemm-vnni [162307 163453 130304]

    Examples
    --------
    >>> qops.rules.accumulate_conv(np.array([[[1, 2, 3]]], np.uint8), np.array([[[1, -1]]], np.int8), pads=(1, 0))
    array([[[-1, -1, -1]]])
    """
    if unknown:
        raise unknown_keyword(accumulate_conv, unknown)
    dtype, x_zero_point = sum_type(dtype), int32(x_zero_point, "x_zero_point")
    return AccumulateConv._once(locals())(x, out, num_threads)
