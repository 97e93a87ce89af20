"""`PairedConv`: convolutions whose products share words of 16 bits, as the products of matrices that they are there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.stage.prepared import PreparedStage
from qops.onnx.pairs import sums_of
from qops.onnx.runtimes import Pairs
from qops.window_rows import windows_of

__all__ = ["ConvolutionSums", "PairedConv"]


class ConvolutionSums(NamedTuple):
    """What sums become for data of one type: zero points of the filters, a bias, and the stage of a type of codes."""

    w_zero: int | NDArray[np.int64]
    bias: NDArray[np.int32] | None = None
    codes: PreparedStage | None = None
    dtype: np.dtype[Any] = np.dtype(np.int32)


class PairedConv(NamedTuple):
    """A convolution for data of one type, in which `pairs` is what two products that share a word do.

    Each place of the window is a row of codes; its padding holds the zero point and takes part in pairs. QLinearConv
    multiplies rows by filters, and the channels of its group stand together for each tap. ConvInteger multiplies
    filters by rows, so `filters_first`, and the taps of each channel stand together.

    Attributes
    ----------
    w : ndarray of uint8 or int8, (M, C / group, ...)
    x_zero, group : int
    pairs : {"saturate", "lowest"}
    filters_first : bool
    layer : ConvolutionSums
    """

    w: NDArray[Any]
    x_zero: int
    group: int
    pairs: Pairs
    filters_first: bool
    layer: ConvolutionSums

    def __call__(self, x: NDArray[Any], axes: list[Axis], num_threads: int) -> NDArray[Any]:
        """Convolve images (N, C, ...): (N, M, ...)."""
        rows, places = windows_of(x, axes, self.x_zero, self.group, self.filters_first)
        sums = np.empty((rows.shape[1], len(self.w)), np.int32)
        each = len(self.w) // self.group
        for g, row in enumerate(rows):
            own = slice(g * each, (g + 1) * each)
            sums[:, own] = self._sums(row, self._filters(own), own, num_threads)
        if self.layer.bias is not None:
            with np.errstate(over="ignore"):
                sums += self.layer.bias
        made = sums
        if self.layer.codes is not None:
            made = np.empty(sums.shape, self.layer.dtype)
            if made.size:
                self.layer.codes.run(sums, made)
        return np.moveaxis(made.reshape(len(x), *places, len(self.w)), -1, 1)

    def _filters(self, own: slice) -> NDArray[Any]:
        filters = self.w[own] if self.filters_first else np.moveaxis(self.w[own], 1, -1)
        return filters.reshape(len(filters), self.w[0].size)

    def _sums(self, row: NDArray[Any], filters: NDArray[Any], own: slice, num_threads: int) -> NDArray[np.int32]:
        w_zero = self.layer.w_zero
        w_zero = w_zero if isinstance(w_zero, int) else w_zero[own]
        if not self.filters_first:
            return sums_of(row, filters.T, self.pairs, (self.x_zero, w_zero), num_threads)
        by_row = w_zero if isinstance(w_zero, int) else w_zero[:, np.newaxis]
        return sums_of(filters, row.T, self.pairs, (by_row, self.x_zero), num_threads).T
