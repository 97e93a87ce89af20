"""Sliding windows over images, for convolution and pooling."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from numpy.typing import NDArray

from qops._kernels.arrays import window as kernels
from qops.onednn import _checks as check

__all__ = ["DENSE", "TwoInts", "Window"]

TwoInts: TypeAlias = tuple[int, int]


@dataclass(frozen=True, repr=False)
class Window:
    """How a window moves over an image; all pairs are (vertical, horizontal).

    Parameters
    ----------
    stride : pair of int, optional
        At least 1.
    dilation : pair of int, optional
        How many places lie between two taps, as oneDNN counts; 0 for a dense kernel.
    pad_l, pad_r : pair of int, optional
        Padding before (top, left) and after (bottom, right).

    Raises
    ------
    TypeError, ValueError
        An argument that is not two integers, or smaller ones.
    """

    stride: TwoInts = (1, 1)
    dilation: TwoInts = (0, 0)
    pad_l: TwoInts = (0, 0)
    pad_r: TwoInts = (0, 0)

    moves: kernels.Window = field(init=False, repr=False, compare=False)
    """This window in the form that the kernels take."""

    def __post_init__(self) -> None:
        for name, low in (("stride", 1), ("dilation", 0), ("pad_l", 0), ("pad_r", 0)):
            object.__setattr__(self, name, check.integers(getattr(self, name), name, 2, low))
        (top, left), (bottom, right), (dy, dx) = self.pad_l, self.pad_r, self.dilation
        moves = kernels.Window(self.stride, (dy + 1, dx + 1), ((top, bottom), (left, right)))
        object.__setattr__(self, "moves", moves)

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name)) for field in fields(self) if field.repr]
        return f"Window({', '.join(f'{name}={pair}' for name, pair in given if pair != getattr(Window, name))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Window, (self.stride, self.dilation, self.pad_l, self.pad_r)

    def out_size(self, size: TwoInts, kernel: TwoInts) -> TwoInts:
        """Give how many windows fit into a padded image, down and across. ValueError if none does.

        Parameters
        ----------
        size, kernel : pair of int
            Height and width of the image, and of the window.

        Returns
        -------
        pair of int

        Examples
        --------
        >>> qops.onednn.Window(stride=(2, 2), pad_l=(1, 1), pad_r=(1, 1)).out_size((5, 7), (3, 3))
        (3, 4)
        """
        return self.moves.out_size(size, kernel)

    def taps(self, image: NDArray[Any], kernel: TwoInts, fill: int) -> NDArray[Any]:
        """Give what all windows of padded images see. ValueError if no window fits.

        Parameters
        ----------
        image : ndarray, (N, C, H, W)
        kernel : pair of int
            Height KH and width KW of the window.
        fill : int
            The code in the padding.

        Returns
        -------
        ndarray of the dtype of `image`, (N, C, OH, OW, KH, KW)

        Examples
        --------
        >>> qops.onednn.Window(pad_l=(0, 1)).taps(np.arange(4).reshape(1, 1, 2, 2), (2, 2), fill=9)[0, 0, 0].tolist()
        [[[9, 0], [9, 2]], [[0, 1], [2, 3]]]
        """
        return self.moves.taps(image, kernel, fill)


DENSE = Window()
"""Every place of the image, without padding."""
