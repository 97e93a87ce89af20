"""A dump of one op on a device: its inputs, its result, and its numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from qops.rules.scales import DERIVATIONS, Derivation

__all__ = ["KINDS", "Dump"]

KINDS = ("requantize", "add", "mul", "quantize", "average_pool", "accumulate")
_WIDEST = 64  # how many elements some rules compute together
_SAMPLE = 4096  # how many elements a sample has
_HOW = ("zero_point", "qmin", "qmax", "axis", "in_zero_point")
_CHANNELS, _ROWS = 16, 256  # how many channels and rows a sample has if each channel has a scale


@dataclass(frozen=True)
class Dump:
    """Inputs and result of one op, as a device gave them, and its scales and zero points.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    x : ndarray
        Accumulators, the first operand, values, or the codes that were multiplied.
    y : ndarray
        The result.
    b : ndarray or None
        The second operand of add and mul, or the weights.
    numbers : dict
        Scales, zero points, qmin, qmax, kernel, axis, by their names in a dump file.
    scales : dict
        Each way in which systems form the real scale of a requantization from the numbers: the scale, or those of
        channels.
    how : dict
        The other arguments of a requantization, where they are given.
    acc : ndarray
        What rules of integers requantize: `x`, and a real bias as an integer.
    """

    kind: str
    x: NDArray[Any]
    y: NDArray[Any]
    b: NDArray[Any] | None
    numbers: dict[str, Any]
    scales: dict[Derivation, Any] = field(init=False, repr=False, compare=False)
    how: dict[str, Any] = field(init=False, repr=False, compare=False)
    acc: NDArray[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        scaled = get_args(Derivation) if self.kind == "requantize" else ()
        object.__setattr__(self, "scales", {derive: self.scale(derive) for derive in scaled})
        given = {name: self.numbers[name] for name in _HOW if self.numbers.get(name) is not None}
        object.__setattr__(self, "how", given)
        object.__setattr__(self, "acc", self._sums())

    def but(self, **numbers: Any) -> "Dump":
        """Give the same dump with other numbers."""
        return replace(self, numbers={**self.numbers, **numbers})

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and highest code of the result."""
        info, n = np.iinfo(self.y.dtype), self.numbers
        qmin, qmax = n.get("qmin"), n.get("qmax")
        return (int(info.min) if qmin is None else qmin), (int(info.max) if qmax is None else qmax)

    @property
    def is_by_place(self) -> bool:
        """Whether each element is made of the one in its place; else of what is under a window, or of a row."""
        return self.kind not in ("average_pool", "accumulate")

    @property
    def is_clamped_after(self) -> bool:
        """Whether the codes were clamped after the rule, as by a fused activation. A requantize clamps by itself."""
        return self.kind != "requantize" and any(self.numbers.get(end) is not None for end in ("qmin", "qmax"))

    @property
    def is_by_channel(self) -> bool:
        """Whether each channel has a scale."""
        return self.kind == "requantize" and any(map(np.ndim, self.of_channels.values()))

    @property
    def is_by_element(self) -> bool:
        """Whether each value of a quantizer has its own scale or zero point, as those of channels, rows and blocks."""
        return self.kind == "quantize" and any(np.ndim(self.numbers.get(word, 0)) for word in ("scale", "zero_point"))

    @property
    def of_channels(self) -> dict[str, Any]:
        """The arguments of a requantization that may differ by channel; multipliers stand for both integers."""
        n = self.numbers
        integers = {} if "integers" not in n else {"integers": n["integers"][0]}
        return {name: n[name] for name in ("scale", "w_scale") if n.get(name) is not None} | integers

    def of_some(self, channels: Any) -> "Dump":
        """Give the same dump with the numbers of these channels, or of one."""
        found: dict[str, Any] = {}
        for name, values in self.of_channels.items():
            if np.ndim(values) and name == "integers":
                multiplier, right_shift = (v[channels] for v in self.numbers[name])
                found[name] = (
                    (int(multiplier), int(right_shift)) if np.ndim(channels) == 0 else (multiplier, right_shift)
                )
            elif np.ndim(values):
                found[name] = np.asarray(values)[channels] if np.ndim(channels) else float(values[channels])
        for name in ("bias", "w_sums"):
            if np.ndim(self.numbers.get(name, 0)):
                found[name] = self.numbers[name][channels]
        return self.but(**found)

    def _sums(self) -> NDArray[Any]:
        """Accumulators with a real bias as an integer: ``rint(bias / (in_scale * w_scale))``."""
        n = self.numbers
        if "bias" not in n:
            return self.x
        bias = np.rint(np.asarray(n["bias"], np.float64) / (n["in_scale"] * n["w_scale"]))
        sums = np.asarray(self.x + self.along_axis(bias.clip(-(2.0**31), 2.0**31)).astype(np.int64))
        fits = sums.size and -(2**31) <= sums.min() <= sums.max() < 2**31
        return sums.astype(np.int32) if fits else sums

    def scale(self, derive: Derivation = "double") -> Any:
        """Give the real scale of a requantization, or the scales of channels, formed as a system does it."""
        n = self.numbers
        if "integers" in n:
            multiplier, right_shift = n["integers"]
            return multiplier * 2.0 ** -np.asarray(right_shift) if np.ndim(multiplier) else multiplier / 2**right_shift
        if n.get("scale") is not None:
            return n["scale"]
        return DERIVATIONS[derive](n["in_scale"], n["w_scale"], n["out_scale"])

    def real(self, where: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Give the exact results of some elements, in code steps from the zero point; None for a pool or sums."""
        n, x = self.numbers, self.x.reshape(-1)[where].astype(np.float64)
        if not self.is_by_place or (self.b is not None and "integers" in n):
            return None
        if self.kind == "quantize":
            return np.asarray(x / _of_elements(n["scale"], where)) if "scale" in n else None
        if self.b is None:
            found = np.asarray((x - n.get("in_zero_point", 0)) * self._at(where, self.scale()))
            return found + self._at(where, n["bias"]) / n["out_scale"] if "bias" in n else found
        b = (self.b.reshape(-1)[where].astype(np.float64) - n["b_zero_point"]) * n["b_scale"]
        a = (x - n["a_zero_point"]) * n["a_scale"]
        return np.asarray((a + b if self.kind == "add" else a * b) / n["y_scale"])

    def _at(self, where: NDArray[np.intp], numbers: Any) -> Any:
        """Numbers of channels, of some elements; one number stays as it is."""
        if np.ndim(numbers) == 0:
            return numbers
        return np.asarray(numbers)[np.unravel_index(where, self.x.shape)[self.numbers.get("axis", -1)]]

    def along_axis(self, numbers: Any) -> Any:
        """Give numbers of channels in a shape that broadcasts against `x`; one number stays as it is."""
        if np.ndim(numbers) == 0:
            return numbers
        shape = [1] * self.x.ndim
        shape[self.numbers.get("axis", -1)] = -1
        return np.reshape(numbers, shape)

    def of_values(self, at: Any) -> "Dump":
        """Give the same dump with the numbers of some elements, if each value of a quantizer has its own."""
        spread = {name: n[at] for name in ("scale", "zero_point") if np.ndim(n := self.numbers.get(name, 0))}
        return self.but(**spread) if self.is_by_element else self

    def sample(self) -> "Dump":
        """Give a few of the elements, from everywhere: a rule that fails on them fails on all."""
        if not self.is_by_place or self.x.size <= _SAMPLE:
            return self
        if self.is_by_channel:
            return self._rows(lambda count, rows: _spread(count, max(_CHANNELS, _ROWS // rows)))
        at = np.unravel_index(_spread(self.x.size // _WIDEST * _WIDEST, _SAMPLE), self.x.shape)
        y = self.y.reshape(self.x.shape)
        return replace(
            self.of_values(at), x=self.x[at], y=y[at], b=None if self.b is None else self.b.reshape(self.x.shape)[at]
        )

    def of_one_channel(self) -> "Dump":
        """Give a few elements of the first channel, whose scale is one number: most wrong rules fail on them."""
        if not self.is_by_channel:
            return self
        x, y = (v.take(0, self.numbers.get("axis", -1)).reshape(-1) for v in (self.x, self.y.reshape(self.x.shape)))
        few = _spread(x.size, _ROWS)
        return replace(self.of_some(0).but(axis=-1), x=x[few], y=y[few])

    def _rows(self, which: Callable[[int, int], Any]) -> "Dump":
        """Give some channels, chosen by how many there are and how many rows are taken, of a few rows."""
        axis = self.numbers.get("axis", -1)
        axis += self.x.ndim * (axis < 0)
        x, y = (np.moveaxis(v[np.newaxis], axis + 1, -1) for v in (self.x, self.y.reshape(self.x.shape)))
        few = _spread(x.size // x.shape[-1], _ROWS)
        rows, channels = np.unravel_index(few, x.shape[:-1]), which(x.shape[-1], few.size)
        return replace(self.of_some(channels).but(axis=-1), x=x[rows][:, channels], y=y[rows][:, channels])


def _of_elements(numbers: Any, where: Any) -> Any:
    return numbers if np.ndim(numbers) == 0 else np.asarray(numbers)[where]


def _spread(size: int, most: int) -> NDArray[np.intp]:
    """At most `most` indices, spread from the first to the last."""
    return np.linspace(0, size - 1, min(size, most)).astype(np.intp)
