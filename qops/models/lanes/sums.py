"""What a layer multiplies and adds: its weights, and the codes that stand before them for some data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qops import codes
from qops._kernels.arrays.axis import Axis

if TYPE_CHECKING:
    from qops.onnx.window import ConvolutionWindow

__all__ = ["NO_MOVES", "Sums", "convolution", "matrix", "type_of"]


_ROOM = 3
"""How many times larger than a window an image is whose size is not known."""


def type_of(dtype: Any) -> str:
    """Give the name of a code type in `qops.codes.TABLE`.

    Parameters
    ----------
    dtype : dtype
        Of 8 or 16 bits.

    Returns
    -------
    str
        Such as "u8".
    """
    found = np.dtype(dtype)
    return f"{'u' if found.kind == 'u' else 's'}{8 * found.itemsize}"


@dataclass(frozen=True, eq=False)
class Sums:
    """What a layer multiplies and adds.

    Attributes
    ----------
    name, kind : str
        The name of the layer and of its operator.
    weights : ndarray of integers, (groups, outputs of a group, channels of a group, taps)
        Codes. A product of matrices has one group and one tap.
    x_type : str
        The type of the data, as `qops.codes.TABLE` names it.
    x_ends : (int, int)
        The lowest and the highest code of the data.
    x_zero : int
        The zero point of the data.
    w_zero : int or ndarray, (outputs,)
        The zero points of the weights.
    bias : ndarray or None
        Codes, which are added to the sums.
    is_convolution : bool
        Whether there is a window.
    window : ConvolutionWindow or None
        How the window moves; None for filters alone.
    kernel : tuple of int
        The taps along each axis.
    last : bool
        Whether the channels are the last axis of the data.
    image : tuple of int or None
        The pixels of the data along each axis, where they are known.
    any_zero : bool
        Whether the zero point of the data is known at run time alone, so that it may be each code.
    as_uint8 : bool
        Whether the data are codes of int8, of which the runtime makes uint8 first; `x_type` is then that.
    is_weights_first : bool
        Whether onnxruntime multiplies the weights by the data, so that they are the left operand.
    is_wide : bool
        Whether the layer itself adds in 64 bits.
    is_real_bias : bool
        Whether there is a bias of real values, whose codes are known with the scale of the data alone.
    own : dict of str to callable
        For layers that say themselves how a runtime computes them: ``own[runtime](sums, machine)`` gives the route.
    """

    name: str
    kind: str
    weights: NDArray[Any]
    x_type: str
    x_ends: tuple[int, int]
    x_zero: int = 0
    w_zero: Any = 0
    bias: NDArray[Any] | None = None
    is_convolution: bool = False
    window: ConvolutionWindow | None = field(default=None, repr=False)
    kernel: tuple[int, ...] = ()
    last: bool = False
    image: tuple[int, ...] | None = None
    as_uint8: bool = False
    any_zero: bool = False
    is_weights_first: bool = False
    is_wide: bool = False
    is_real_bias: bool = False
    own: Mapping[str, Callable[[Sums, Any], Any]] = field(default_factory=dict, repr=False)

    @property
    def w_type(self) -> str:
        """The type of the weights."""
        return type_of(self.weights.dtype)

    @property
    def outputs(self) -> int:
        """How many output channels there are in all groups."""
        return self.weights.shape[0] * self.weights.shape[1]

    @property
    def length(self) -> int:
        """How many products one sum has."""
        return self.weights.shape[2] * self.weights.shape[3]

    @property
    def is_depthwise(self) -> bool:
        """Whether each channel of the data has one filter of its own."""
        groups, outputs, channels, _ = self.weights.shape
        return self.is_convolution and groups > 1 and outputs == 1 and channels == 1

    @property
    def axes(self) -> list[Axis] | None:
        """How the window moves along each axis; over an image with room for it if none is known."""
        if self.window is None:
            return None
        sizes = tuple(_ROOM * axis.span * axis.stride for axis in self.window.unplaced)
        return self.window.axes(self.image or sizes)

    def inside(self, padding: int) -> NDArray[np.bool_]:
        """Give which taps of a window lie on the image, for all kinds of places that make a difference.

        Parameters
        ----------
        padding : int
            The code of padding.

        Returns
        -------
        ndarray of bool, (kinds, taps)
            One row alone if a window lies on the image whole, and its codes may be those of padding.
        """
        each = [_seen_by(axis) for axis in self.axes or []]
        is_code = self.x_ends[0] <= padding <= self.x_ends[1]
        if all(seen.all() or (is_code and seen.all(axis=1).any()) for seen in each):
            return np.ones((1, self.weights.shape[3]), np.bool_)
        made = np.ones((1, 1), np.bool_)
        for seen in each:
            made = (made[:, np.newaxis, :, np.newaxis] & seen[:, np.newaxis]).reshape(len(made) * len(seen), -1)
        return made

    def rows(self, x: NDArray[Any], padding: int | None = None) -> NDArray[Any]:
        """Give the codes that stand before the weights, one row for each sum.

        Parameters
        ----------
        x : ndarray
            Codes of the data.
        padding : int, optional
            The code of padding, by default the zero point.

        Returns
        -------
        ndarray, (groups, sums of one channel, channels of a group, taps)
        """
        if self.as_uint8:
            x = x.view(np.uint8) ^ np.uint8(128)
        if self.window is None:
            return x.reshape(1, -1, self.length, 1)
        image = np.moveaxis(x, -1, 1) if self.last else x
        axes = self.window.axes(image.shape[2:])
        groups, _, channels, taps = self.weights.shape
        shape = (len(image), image.shape[1], *(axis.positions for axis in axes))
        pad = self.x_zero if padding is None else padding
        made = np.full((taps, *shape), pad, np.result_type(x.dtype, np.min_scalar_type(pad)))
        for i, tap in enumerate(np.ndindex(self.kernel)):
            seen = [axis.seen(t) for axis, t in zip(axes, tap, strict=True)]
            into = tuple(result for result, _ in seen)
            made[(i, slice(None), slice(None), *into)] = image[
                (slice(None), slice(None), *(pixel for _, pixel in seen))
            ]
        places = int(np.prod(shape[2:]))
        split = made.reshape(taps, len(image), groups, channels, places)
        return split.transpose(2, 1, 4, 3, 0).reshape(groups, len(image) * places, channels, taps)

    def placed(self, found: NDArray[Any], like: NDArray[Any], last: bool) -> NDArray[Any]:
        """Give one number for each sum, in the order of a result.

        Parameters
        ----------
        found : ndarray, (groups, sums of one channel, outputs of a group)
        like : ndarray
            The result of the layer.
        last : bool
            Whether the channels are the last axis of the result.

        Returns
        -------
        ndarray
            Of the shape of `like`.
        """
        flat = found.transpose(1, 0, 2).reshape(found.shape[1], -1)
        if last or not self.is_convolution:
            return flat.reshape(like.shape)
        return np.moveaxis(flat.reshape(len(like), *like.shape[2:], -1), -1, 1)


def _seen_by(axis: Axis) -> NDArray[np.bool_]:
    """Give which taps see a pixel, (kinds of places, taps): at the first place, and where the image begins or ends."""
    last = axis.positions - 1
    near = [
        np.arange(first // axis.stride - 1, (first + axis.span) // axis.stride + 2)
        for first in (axis.before - axis.span, axis.before + axis.size - axis.span)
    ]
    at = np.unique(np.clip(np.concatenate([*near, [0, last]]), 0, last))
    places = at[:, np.newaxis] * axis.stride - axis.before
    pixels = places + np.arange(axis.kernel) * axis.dilation
    return np.unique((pixels >= 0) & (pixels < axis.size), axis=0)


def _ends(x_type: str) -> tuple[int, int]:
    row = codes.TABLE[x_type]
    return row.lowest, row.highest


def _whole(zero: Any) -> Any:
    """Give a zero point as one number, or one for each channel."""
    found = np.asarray(0 if zero is None else zero).astype(np.int64)
    return int(found.flat[0]) if found.size == 1 else found.reshape(-1)


def matrix(op: Any, w: NDArray[Any], x_type: str, x_zero: Any, w_zero: Any, bias: Any) -> Sums:
    """Sums of a matrix of weights, (outputs, k)."""
    cells = w[np.newaxis, :, :, np.newaxis]
    return Sums("", type(op).__name__, cells, x_type, _ends(x_type), _whole(x_zero), _whole(w_zero), bias)


def convolution(
    op: Any, w: NDArray[Any], x_type: str, zeros: tuple[Any, Any], bias: Any, attributes: Mapping[str, Any], last: bool
) -> Sums:
    """Sums of filters, (outputs, channels of a group, kernel)."""
    from qops.onnx.window import ConvolutionWindow  # here, because weights alone need no room of a system

    moves = ConvolutionWindow.of(w, attributes)
    cells = w.reshape(moves.group, -1, w.shape[1], int(np.prod(w.shape[2:])))
    return Sums(
        *("", type(op).__name__, cells, x_type, _ends(x_type), _whole(zeros[0]), _whole(zeros[1]), bias),
        is_convolution=True,
        window=moves,
        kernel=w.shape[2:],
        last=last,
    )


NO_MOVES = {"auto_pad": "NOTSET", "dilations": None, "group": 1, "kernel_shape": None, "pads": None, "strides": None}
