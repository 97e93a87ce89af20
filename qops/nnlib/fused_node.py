"""What nnlib's supernodes share: products of images with packed weights, a bias, passes, and a fraction multiply."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import pack_weights
from qops._kernels.nnlib.node_range import NodeRange, Scales
from qops._kernels.nnlib.node_sums import Watched, watched
from qops._kernels.nnlib.pooling import moving
from qops._kernels.nnlib.ranges import level
from qops._kernels.nnlib.supernode import Fused, Place
from qops.checks import U8, operand
from qops.nnlib.node_arguments import Bias, Moves, bias_of, filters_of, kept, moves_of, scales_of
from qops.nnlib.node_range import Ends, Given, given_ends
from qops.prepared import Prepared
from qops.qtensor import QTensor, TensorLike

__all__ = ["Floats", "FusedNode", "Node", "NodeRules", "Place", "Run"]

MIDDLE = 128
Floats = NDArray[np.float32]


class Run(NamedTuple):
    """What a call of a node gives."""

    result: QTensor
    ends: Any
    passes: int


class Node(Prepared):
    """A node that runs in a range which it remembers, or, called as an op, in the range of a node that has not run."""

    __slots__ = ()

    def _fresh(self) -> Any:
        """Give the range of a node that has not run."""
        raise NotImplementedError

    def _run(self, ends: Any, x: Any, out: NDArray[Any] | None, num_threads: int) -> Run:
        """Make the passes of a call from a range, which is not changed."""
        raise NotImplementedError


class NodeRules(NamedTuple):
    """In what the nodes differ."""

    start: Ends = (0.0, 0.5)
    """The range of a node whose ends are free."""
    most: int = 3
    """Passes; beyond, the node fails if `fails`, else it labels the codes with the range of another pass."""
    fails: bool = False
    widens: bool = True
    """Whether a first pass widens a range that is far too narrow."""
    keeps_given: bool = False
    """Whether after a pass a range with a given end is left as it is found."""
    saturates: bool = False
    """Whether words saturate."""
    beyond_int32: str = "refuses"
    """What the original does with words beyond int32."""
    rounds_zeros: bool = True
    """Whether words subtract the zero of images times the weights in float32."""
    counts_steps: bool = False
    """Whether the range is a whole number of steps of the sums."""
    is_rows: bool = False
    """Whether images are read as rows."""


class FusedNode(Node):
    """A node that multiplies, adds a bias and makes codes in a range that it finds, as prepared ops do.

    A subclass has arguments of the names that are used here, or some of them, `_check`, and a `_take` that calls
    `_ready`.
    """

    __slots__ = ("_first", "_given", "_kernel", "_moves", "_packed", "_taps", "_w_zero")
    _given: Given
    _moves: Moves
    _rules: ClassVar[NodeRules] = NodeRules()
    _axes: ClassVar[str] = "(KH, KW, C, O)"
    _bias_types: ClassVar[tuple[int, ...]] = (U8,)
    _watches_more = False

    def _prepare(self, once: bool) -> None:
        given: dict[str, Any] = {"stride": (1, 1), "padding": "VALID", "channel_scale": None}
        given |= {name: self._arguments[name] for name in self._argument_names}
        self._given, self._moves = self._ends(), moves_of(given["stride"], given["padding"])
        codes, lo, hi = filters_of(self.w, self._axes)
        channels = self._check(codes.shape)
        bias, added = bias_of(self.bias, channels, *self._bias_types)
        scales = scales_of(given["channel_scale"], channels)
        operand((codes, lo, hi), "w", U8)  # again: reading the numbers may have changed the type
        self._take(codes, lo, hi, added, scales)
        if not once:
            own = {**given, "w": kept(codes, lo, hi), "bias": bias, "channel_scale": scales, **self._words()}
            own["stride"], own["padding"] = self._moves
            self._keep(own)

    def _ends(self) -> Given:
        return given_ends(self.guess_min, self.guess_max)

    def _words(self) -> dict[str, Any]:
        """Give the arguments that have other types than they may be given in."""
        return {"guess_min": self._given[0], "guess_max": self._given[1]}

    def _check(self, shape: tuple[int, ...]) -> int:
        """Refuse filters of a shape that the node does not take; give the number of its output channels."""
        return shape[3]

    def _take(self, w: NDArray[np.uint8], lo: float, hi: float, bias: Bias, scales: Floats | None) -> None:
        """Pack the weights."""
        zero, step = level(lo, hi)
        self._ready(w, zero, step, bias)

    def _ready(
        self,
        w: NDArray[Any],
        zero: int,
        step: float,
        bias: Bias,
        *,
        groups: int = 1,
        depth: int = 0,
        scales: Floats | None = None,
        own: Floats | None = None,
        period: int = 0,
    ) -> None:
        """Pack weights (KH, KW, C, O) of the code `zero` of 0; signed bytes have none.

        depth: how many channels words of unsigned weights count. scales: factors of the results; `own` are those that
        the weights have been multiplied by. period: as `Scales` takes it.
        """
        self._w_zero, packs = zero, w
        if w.dtype == np.int8:
            self._w_zero = 0
        elif zero == MIDDLE or (int(w.min()) - zero >= -MIDDLE and int(w.max()) - zero < MIDDLE):
            self._w_zero, packs = 0, (w - np.uint8(zero)).view(np.int8)
        self._packed = pack_weights(packs.transpose(3, 2, 0, 1), groups=groups, neighbours=True)
        self._taps = w.shape[:2]
        higher = MIDDLE * self._packed.is_shifted - self._w_zero  # than the weights that are packed
        zeros = self._packed.sums.astype(np.int64) + higher * prod(self._packed.shape[1:])  # modulo 2**32
        factor = zero * w.shape[0] * w.shape[1] * depth
        by = inverse = None
        if scales is not None or own is not None:
            one = np.ones(len(zeros), np.float32)
            given, packed = one if scales is None else scales, one if own is None else own
            by, inverse = given / packed, packed / given
        added = zeros + factor if self._rules.rounds_zeros else None
        numbers = tuple(bias), zeros, added, factor, Scales(by, period), inverse
        self._kernel = Fused(self._packed, self._moves, self._w_zero, step, *numbers, self._rules, self._watches_more)
        self._first = NodeRange(self._given, self._rules.start)

    def _watched(self, place: Any, sums: NDArray[np.int32]) -> list[Watched]:
        """Give the sums that are watched, if the node `_watches_more` than those of the results."""
        return [watched(sums)]

    def _columns(self, place: Any, first: int, count: int) -> NDArray[np.int32]:
        """Give the sums of columns that need not be of the result: (N, OH, count, O). Around the image is its zero."""
        (down, across), (kh, kw) = self._moves[0], self._taps
        size = (place.size[0] - 1) * down + kh, (count - 1) * across + kw
        image = place.image
        room = np.full((len(image), *size, image.shape[3]), place.zero, np.uint8)
        starts = -place.before[0], first * across - place.before[1]
        rows, columns = map(_overlap, starts, size, image.shape[1:3])
        room[:, rows[0], columns[0]] = image[:, rows[1], columns[1]]
        images = Images(room, moving(room, self._taps, (down, across), "VALID", "w"), place.zero, place.zero)
        made: NDArray[np.int32] = convolve(images, self._packed, None, Finish(self._w_zero))
        return made

    def _fresh(self) -> Any:
        return self._first

    def _run(self, ends: Any, x: Any, out: NDArray[Any] | None, num_threads: int) -> Run:
        return Run(*self._kernel.run(QTensor, self, ends, x, out, num_threads))

    def __call__(self, x: TensorLike, out: NDArray[np.uint8] | None = None, num_threads: int = 1) -> QTensor:
        """Run a node that has not run before on images `x`."""
        made: QTensor = self._kernel.run(QTensor, self, self._first, x, out, num_threads)[0]
        return made

    def within(self, x: TensorLike, lo: float, hi: float) -> QTensor:
        """Run the node on images `x` in a range that another call has found.

        Parameters
        ----------
        x : uint8 tensor
            Images.
        lo, hi : float
            Both ends of the output range, which has 0 on a code.

        Returns
        -------
        QTensor
            uint8 codes, those of one pass in this range.

        Raises
        ------
        TypeError, ValueError
            Images that the node refuses, a range without 0.
        """
        ends = NodeRange(given_ends(lo, hi, ("lo", "hi")), self._rules.start)
        if self._rules.counts_steps:
            ends.move(lo, hi)
        made: QTensor = self._kernel.run(QTensor, self, ends, x, None, 1)[0]
        return made

    def sums(self, x: TensorLike) -> tuple[NDArray[np.int64], Any]:
        """Give the sums of products for images `x`, and their step, as rules of requantization take them.

        Parameters
        ----------
        x : uint8 tensor
            Images.

        Returns
        -------
        sums : ndarray of int64, (N, OH, OW, O)
            Sums of ``(x - zero) * w``, of the weights as the node has them, and the bias, rounded to their steps.
        step : float or ndarray of float64, (O,)
            The real value of a step of the sums, of each channel if these have scales.

        Raises
        ------
        TypeError, ValueError
            Images that the node refuses.
        """
        found: tuple[NDArray[np.int64], Any] = self._kernel.sums(x)
        return found

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        found: tuple[int, ...] = self._kernel.shape_of(tuple(shape))
        return found


def _overlap(start: int, length: int, there: int) -> tuple[slice, slice]:
    """Give the part of 0..there that is among `length` pixels from `start` on, in their count and in its own."""
    first, end = max(start, 0), max(max(start, 0), min(start + length, there))
    return slice(first - start, end - start), slice(first, end)
