"""Mistakes in scales, shifts and real biases."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from qops.tools.explain.mistake import Mistake
from qops.tools.explain.op_dump import Dump

__all__ = ["in_biases", "in_scales", "in_spread_numbers", "in_steps"]

_STEPS = {  # (given, meant): how many code steps the largest value, or the whole range, was divided into
    (127.0, 127.5): "of 127 steps instead of 127.5",
    (127.5, 127.0): "of 127.5 steps instead of 127",
    (127.0, 128.0): "of 127 steps instead of 128",
    (128.0, 127.0): "of 128 steps instead of 127",
    (255.0, 256.0): "of 255 steps instead of 256, or of 127.5 instead of 128",
    (256.0, 255.0): "of 256 steps instead of 255, or of 128 instead of 127.5",
}


def in_steps(dump: Dump) -> Iterator[Mistake]:
    """Give scales that were made with another number of steps in a range: 127, 127.5, 128, 255 or 256."""
    if dump.kind not in ("requantize", "quantize"):
        return
    name = "scale" if dump.numbers.get("scale") is not None else "w_scale"
    if dump.numbers.get(name) is not None:
        for (given, meant), words in _STEPS.items():
            yield Mistake(f"{name} {words}", dump.but(**{name: dump.numbers[name] * given / meant}))


def in_spread_numbers(dump: Dump) -> Iterator[Mistake]:
    """Give mistakes of a quantizer whose channels, rows or blocks have scales, or zero points, of their own."""
    scale, zero = (np.asarray(dump.numbers[name]) for name in ("scale", "zero_point"))
    info = np.iinfo(dump.y.dtype)
    if zero.any():
        yield Mistake("zero_point left out", dump.but(zero_point=0))
        if info.min <= -zero.max() and -zero.min() <= info.max:
            yield Mistake("zero_point of the other sign", dump.but(zero_point=-zero))
    if scale.ndim:
        for of, words in (
            (scale[0], "that of the first"),
            (scale.max(), "the largest"),
            (scale[-1], "that of the last"),
        ):
            yield Mistake(f"one scale for all: {words}", dump.but(scale=float(of)))
        yield Mistake("scales in reverse order", dump.but(scale=scale[::-1]))
    yield from in_steps(dump)


def in_scales(dump: Dump) -> Iterator[Mistake]:
    """Give shifts off by one, scales of channels in another order, one scale for all channels, and scales left out."""
    n = dump.numbers
    if "integers" in n and dump.kind in ("requantize", "mul", "add"):
        *multipliers, right_shift = n["integers"]
        if np.ndim(right_shift) == 0 or dump.kind == "requantize":
            for by, words in ((1, "large"), (-1, "small")):
                integers = (*multipliers, _added(right_shift, by))
                yield Mistake(f"right shift too {words} by one", dump.but(integers=integers))
        return
    names = [name for name in ("out_scale", "scale", "y_scale") if n.get(name) is not None]
    if names and dump.kind != "average_pool":
        name = names[0]
        for times, words in ((2.0, "large"), (0.5, "small")):
            factor = 1 / times if name == "scale" and dump.kind == "requantize" else times
            yield Mistake(f"right shift too {words} by one", dump.but(**{name: n[name] * factor}))
    if dump.is_by_channel:
        yield from _in_scales_of_channels(dump)
    if "out_scale" in n and np.ndim(n["w_scale"]) == 0:
        yield Mistake("in_scale left out", dump.but(in_scale=1.0))
        yield Mistake("w_scale left out", dump.but(w_scale=1.0))
        yield Mistake("out_scale left out", dump.but(out_scale=1.0))


def _added(right_shift: Any, by: int) -> Any:
    return right_shift + by if np.ndim(right_shift) else int(right_shift) + by


def _in_scales_of_channels(dump: Dump) -> Iterator[Mistake]:
    """One scale for all channels, or scales in another order."""
    name = "scale" if np.ndim(dump.numbers.get("scale", 0)) else "w_scale"
    scale = np.asarray(dump.numbers[name], np.float64)
    if scale.size < 2 or np.ptp(scale) == 0:
        return
    chosen = {"that of the first": scale[0], "that of the last": scale[-1], "the largest": scale.max()}
    for words, one in {**chosen, "the smallest": scale.min(), "their mean": scale.mean()}.items():
        yield Mistake(f"one scale for all channels: {words}", dump.but(**{name: np.full_like(scale, one)}))
    for by, which in ((1, "before"), (-1, "after")):
        words = f"scales of channels shifted by one: each channel has that of the channel {which}"
        yield Mistake(words, dump.but(**{name: np.roll(scale, by)}))
    yield Mistake("scales of channels in reverse order", dump.but(**{name: scale[::-1].copy()}))


def in_biases(dump: Dump) -> Iterator[Mistake]:
    """Give a real bias that was left out, added twice or subtracted."""
    if "bias" in dump.numbers:
        bias = np.asarray(dump.numbers["bias"], np.float64)
        for factor, words in ((0, "bias left out"), (2, "bias added twice"), (-1, "bias subtracted")):
            other = bias * factor
            yield Mistake(words, dump.but(bias=other if other.ndim else float(other)))
