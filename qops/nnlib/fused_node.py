"""What nnlib's supernodes share: products of images with packed weights, a bias, passes, and a fraction multiply."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import pack_weights
from qops._kernels.nnlib.pooling import moving
from qops._kernels.nnlib.ranges import f32, level
from qops._kernels.nnlib.supernode import codes_with_words, fraction_stage, words_of
from qops.checks import U8, check_out, int32, operand, put
from qops.nnlib.node_arguments import Bias, Moves
from qops.nnlib.node_range import Ends, Gain, Given, NodeRange
from qops.nnlib.node_sums import Integers, Watched, next_range, watched
from qops.prepared import Prepared
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["FusedNode", "Node", "Place", "Run"]

MIDDLE = 128
LEAST_WIDTH = f32(1e-18)  # of the range of images, in which 0 wide is this wide


class Place(NamedTuple):
    """Checked images, how the windows lie on them, and the code of 0."""

    image: NDArray[np.uint8]
    window: Any
    size: tuple[int, int]
    """Of the result, down and across."""
    before: tuple[int, int]
    """Pixels of padding above and to the left of the image."""
    zero: int
    product: float
    """The step of the sums."""
    ends: Ends
    threads: int


class Run(NamedTuple):
    """What a call of a node gives."""

    result: QTensor
    ends: NodeRange
    passes: int


class Node(Prepared):
    """A node that runs in a range which it remembers, or, called as an op, in the range of a node that has not run."""

    __slots__ = ()

    def _fresh(self) -> NodeRange:
        """Give the range of a node that has not run."""
        raise NotImplementedError

    def _run(self, ends: NodeRange, x: TensorLike, out: NDArray[Any] | None, num_threads: int) -> Run:
        """Make the passes of a call from a range, which is not changed."""
        raise NotImplementedError

    def __call__(self, x: TensorLike, out: NDArray[np.uint8] | None = None, num_threads: int = 1) -> QTensor:
        """Run a node that has not run before on images `x`."""
        return self._run(self._fresh(), x, out, num_threads).result


class FusedNode(Node):
    """A node that multiplies, adds a bias and makes codes in a range that it finds, as prepared ops do.

    A subclass has a `_prepare`, which calls `_ready`. `_start` is the range of a node whose ends are free, `_most` the
    number of its passes; beyond that it fails if `_fails`, else it labels the codes with the range of another pass.
    """

    __slots__ = ("_added", "_bias", "_factor", "_first", "_given", "_inverse", "_moves", "_packed", "_scales", "_step",
                 "_taps", "_w_zero", "_zeros")  # fmt: skip
    _given: Given
    _moves: Moves
    _start: ClassVar[Ends] = (0.0, 0.5)
    _most: ClassVar[int] = 3
    _fails: ClassVar[bool] = False
    _first_guess: ClassVar[bool] = True
    _keeps_given: ClassVar[bool] = False
    _saturates: ClassVar[bool] = False
    _beyond_int32: ClassVar[str] = "refuses"

    def _ready(self, w: NDArray[Any], zero: int, step: float, bias: Bias, groups: int = 1) -> None:
        """Pack weights (KH, KW, C, O) of the code `zero` of 0; signed bytes have none."""
        channels = w.shape[3]
        centred = w.astype(np.int16) - zero
        small = centred.min() >= -MIDDLE and centred.max() < MIDDLE
        self._w_zero, packs = (0, centred.astype(np.int8)) if small else (zero, w)
        self._packed = pack_weights(packs.transpose(3, 2, 0, 1), groups=groups, neighbours=True)
        self._first = NodeRange(self._given, self._start)
        self._step, self._bias, self._taps = step, bias, w.shape[:2]
        self._zeros = centred.sum((0, 1, 2), np.int64).reshape(channels)  # times the zero of images, they are a sum
        self._added: Integers | None = self._zeros  # times the zero of images, what float32 subtracts from the words
        self._factor = 0  # times the zero of images, what integers add to them
        self._scales: NDArray[np.float32] | None = None
        self._inverse: NDArray[np.float32] | None = None

    def _rescale(self, scales: NDArray[np.float32] | None, own: NDArray[np.float32] | None = None) -> None:
        """Multiply the results of channels by `scales`; their weights were multiplied by `own`."""
        if scales is None and own is None:
            return
        one = np.ones(len(self._zeros), np.float32)
        given, packed = one if scales is None else scales, one if own is None else own
        self._scales, self._inverse = given / packed, packed / given

    def _place(self, x: TensorLike, threads: int) -> Place:
        """Check images and place the windows."""
        image, lo, hi = operand(x, "x", U8)
        if image.ndim != 4 or image.size == 0:
            raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {image.shape}")
        channels = self._packed.shape[1] * self._packed.groups
        if image.shape[3] != channels:
            raise bad_value("x", f"expected images of {channels} channels, as w has, got shape {image.shape}")
        stride, padding = self._moves
        window = moving(image, self._taps, stride, padding, "x, w")
        before = window.padding[0][0], window.padding[1][0]
        zero, product = self._zero_and_product(lo, hi)
        size = window.out_size(image.shape[1:3], self._taps)
        return Place(image, window, size, before, zero, product, (lo, hi), int32(threads, "num_threads", 1))

    def _zero_and_product(self, lo: float, hi: float) -> tuple[int, float]:
        zero, step = level(lo, max(hi, f32(lo + LEAST_WIDTH)))
        product = f32(step * self._step)
        if not product > 0:
            raise bad_value("x, w", f"the steps {step} and {self._step} make a step of sums of 0 in float32")
        return zero, product

    def _words(self, place: Place, ends: Ends) -> Integers:
        """Give what is added to the sums of ``(x - zero) * w``: the bias, and what takes the lower end to code 0."""
        ratio, lower = self._bias.step / place.product, f32(-ends[0]) / place.product
        found = words_of(
            self._bias.steps,
            ratio,
            lower,
            self._inverse,
            self._added,
            self._factor,
            self._zeros,
            place.zero,
            self._saturates,
        )
        if isinstance(found, tuple):
            channel, word = found
            raise bad_value(
                "bias, guess_min",
                f"in channel {channel}, bias and lower end are {word:.6g} steps of the sums, beyond "
                f"int32, which the original {self._beyond_int32}",
            )
        words: Integers = found
        return words

    def _watched(self, place: Place, sums: NDArray[np.int32]) -> list[Watched]:
        """Give the sums that are watched; without quirks those of the results."""
        return [watched(sums)]

    def _columns(self, place: Place, first: int, count: int) -> NDArray[np.int32]:
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

    def _gain(self, ends: NodeRange, place: Place) -> Gain:
        images = place.ends, place.image.shape
        return ends.gain(place.product, self._scales, images, self._first_guess)

    def _multipliers(self, gain: Gain) -> Gain:
        """Give the gain whose multipliers the kernel uses."""
        return gain

    def _run(self, ends: NodeRange, x: TensorLike, out: NDArray[Any] | None, num_threads: int) -> Run:
        place, ends = self._place(x, num_threads), ends.copy()
        shape = (len(place.image), *place.size, len(self._zeros))
        if out is not None:
            check_out(out, U8, shape, [place.image])
        sums, seen = None, []
        if ends.fixed < 3:
            sums = convolve(self._images(place), self._packed, None, Finish(self._w_zero), num_threads=place.threads)
            seen = self._watched(place, sums)
        gain, words, following, passes = self._passes(ends, place, seen)
        codes = np.empty(shape, np.uint8) if out is None or not out.flags.carray else out
        stage, added = fraction_stage(gain.multipliers, gain.left_shift), words.astype(np.int32)
        if sums is None:
            finish = Finish(self._w_zero, added, stage, U8)
            convolve(self._images(place), self._packed, codes, finish, num_threads=place.threads)
        else:
            codes_with_words(stage, sums.reshape(-1), added, codes.reshape(-1))
        if following is not None:
            ends.move(following)
        return Run(tensor(put(codes, out), *ends.ends), ends, passes)

    def _passes(self, ends: NodeRange, place: Place, seen: list[Watched]) -> tuple[Gain, Integers, Ends | None, int]:
        """Pass until the results fit; give the last numbers, the range that a further pass would have, and how many."""
        passes = 1
        while True:
            gain = self._multipliers(self._gain(ends, place))
            words = self._words(place, ends.ends)
            following = next_range(ends, seen, words, gain, self._keeps_given) if seen else None
            if following is None:
                return gain, words, None, passes
            if passes == self._most:
                break
            ends.move(following)
            passes += 1
        if self._fails:
            raise bad_value(
                "x", f"after {passes} passes results are beyond the range {ends.ends}, and the original fails"
            )
        return gain, words, following, passes

    def _images(self, place: Place) -> Images:
        return Images(place.image, place.window, place.zero, place.zero)

    def _fresh(self) -> NodeRange:
        return self._first

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        place = self._place((np.broadcast_to(np.uint8(0), shape), 0.0, 1.0), 1)
        return len(place.image), *place.size, len(self._zeros)


def _overlap(start: int, length: int, there: int) -> tuple[slice, slice]:
    """Give the part of 0..there that is among `length` pixels from `start` on, in their count and in its own."""
    first, end = max(start, 0), max(max(start, 0), min(start + length, there))
    return slice(first - start, end - start), slice(first, end)
