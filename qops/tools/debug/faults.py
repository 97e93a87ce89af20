"""What ports get wrong in a layer of sums before it is rounded: biases, widths, zero points, scales of channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models import Layer
from qops.tools.debug.operand_faults import Fault, data_faults, weight_faults
from qops.tools.debug.places import channel_axis, missing_weights

__all__ = ["Fault", "faults_of"]

_WIDTHS = (8, 16, 24, 32)  # bits that a bias or a sum may be kept in, whatever the rule
_OTHERS = [bits for bits in range(4, 32) if bits not in _WIDTHS]  # with the model's own rule alone
_MANY = 8  # codes that are not clamped, without which nothing is said of the operands
_CLOSE = 1.5  # steps that a code may be away from its sum by any rounding, and by a little of a scale
_NEAR = 4  # zero points beside the fitted one that are tried: clamped codes and roundings move the fit


def faults_of(layer: Layer, x: NDArray[Any], got: NDArray[Any]) -> Iterator[Fault]:
    """Give the faults that a layer may have, one after another.

    Parameters
    ----------
    layer : Layer
        A layer of sums, whose kind is "requantize".
    x : ndarray
        The codes that it read.
    got : ndarray
        The codes of the device, in the shape of the sums.

    Yields
    ------
    Fault
    """
    assert layer.sums is not None
    plain = layer.sums(x, layer.bias)
    yield from _scales(layer, plain)
    if layer.bias is not None:
        products = layer.sums(x, None)
        channel = layer.sums(x, np.arange(layer.bias.size)) - products  # of each sum
        bias = layer.bias.astype(np.int64).reshape(-1)
        yield from _narrow_biases(_WIDTHS, bias, channel, products)
        yield from _biases(bias, channel, products)
    yield from _narrow_sums(_WIDTHS[1:], plain)
    if layer.bias is not None:
        yield from (f for f in _narrow_biases(_OTHERS, bias, channel, products) if _gives(layer, f.sums, got))
    yield from (f for f in _narrow_sums(_OTHERS, plain) if _gives(layer, f.sums, got))
    yield from _zero_points(layer, x, plain, got)
    yield from _padding(layer, x, plain)
    yield from (f for f in weight_faults(layer, x) if _gives_sample(layer, f, got))
    yield from (f for f in data_faults(layer, x) if _gives_sample(layer, f, got))


def _gives_sample(layer: Layer, fault: Fault, got: NDArray[Any]) -> bool:
    """Whether the sums of a fault rise and fall with the codes: those of wrong operands do not."""
    inside = (got > layer.numbers["qmin"]) & (got < layer.numbers["qmax"])
    if np.count_nonzero(inside) < _MANY:
        return False
    factor = _along(layer, np.asarray(layer.numbers["w_scale"], np.float64), got.ndim)
    steps = (fault.sums.reshape(got.shape) * factor)[inside] * (layer.numbers["in_scale"] / layer.numbers["out_scale"])
    off = steps - (got[inside].astype(np.float64) - layer.numbers["zero_point"])
    return bool(np.abs(off).max() <= _CLOSE)


def _padding(layer: Layer, x: NDArray[Any], plain: NDArray[np.int64]) -> Iterator[Fault]:
    """A window that reads padding reads the zero point of the input there, which is real 0."""
    missing, zero = missing_weights(layer, x, plain.shape), layer.x_zero_point
    if missing is None:
        return
    codes = np.iinfo(x.dtype)
    for other in dict.fromkeys((0, -zero, codes.min, codes.max, zero - 128, zero + 128)):
        if other != zero:
            words = f"padding by {other} instead of the zero point of the input, {zero}"
            yield Fault(words, plain + (other - zero) * missing, {})


def _gives(layer: Layer, sums: NDArray[np.int64], got: NDArray[Any]) -> bool:
    """Whether the layer's own rule makes the codes of sums of 32 bits."""
    if layer.requantize is None or np.abs(sums).max(initial=0) >= 2**31:
        return False
    return bool(np.array_equal(layer.requantize(sums.astype(np.int32)), got.reshape(sums.shape)))


def _narrow_sums(widths: Sequence[int], plain: NDArray[np.int64]) -> Iterator[Fault]:
    for bits in widths:
        lo, hi = _ends(bits)
        if plain.min(initial=0) < lo or plain.max(initial=0) > hi:
            yield Fault(f"sums kept in {bits} bits, which wrap", _wrapped(plain, bits), {})
            yield Fault(f"sums kept in {bits} bits, which saturate", np.clip(plain, lo, hi), {})


def _scales(layer: Layer, plain: NDArray[np.int64]) -> Iterator[Fault]:
    scale = np.asarray(layer.numbers["w_scale"])
    if not scale.ndim or np.ptp(scale) == 0:
        return
    for shift, which in ((1, "before"), (-1, "after")):
        words = f"scales of channels shifted by one: each channel has that of the channel {which}"
        yield Fault(words, plain, {"w_scale": np.roll(scale, shift)})
    chosen = {"that of the first": scale[0], "that of the last": scale[-1], "the largest": scale.max()}
    chosen |= {"the smallest": scale.min(), "their mean": scale.mean()}
    for which, one in chosen.items():
        yield Fault(f"one scale for all channels: {which}", plain, {"w_scale": float(one)})
    yield Fault("scales of channels in reverse order", plain, {"w_scale": scale[::-1]})


def _along(layer: Layer, values: NDArray[Any], axes: int) -> NDArray[Any]:
    """Give values of channels in a shape that broadcasts against the sums."""
    if values.size == 1:
        return values.reshape(())
    shape = [1] * axes
    shape[channel_axis(layer)] = -1
    return values.reshape(shape)


def _narrow_biases(
    widths: Sequence[int], bias: NDArray[np.int64], channel: NDArray[np.int64], products: NDArray[np.int64]
) -> Iterator[Fault]:
    for bits in widths:
        lo, hi = _ends(bits)
        if bias.min() < lo or bias.max() > hi:
            words = f"a bias that overflows: kept in {bits} bits"
            yield Fault(f"{words}, it wraps", products + _wrapped(bias, bits)[channel], {})
            yield Fault(f"{words}, it saturates", products + np.clip(bias, lo, hi)[channel], {})


def _biases(bias: NDArray[np.int64], channel: NDArray[np.int64], products: NDArray[np.int64]) -> Iterator[Fault]:
    sums, (lo, hi) = products + bias[channel], _ends(32)
    if (sums.min(initial=0) < lo or sums.max(initial=0) > hi) and lo <= products.min() <= products.max() <= hi:
        words = "a bias that overflows: sums with it are beyond 32 bits, and"
        yield Fault(f"{words} wrap", _wrapped(sums, 32), {})
        yield Fault(f"{words} saturate", np.clip(sums, lo, hi), {})
    if bias.any():
        yield Fault("the bias left out", products, {})
        yield Fault("the bias added twice", sums + bias[channel], {})
        yield Fault("the bias subtracted", products - bias[channel], {})
        if (bias != bias[::-1]).any():
            yield Fault("biases of channels in reverse order", products + bias[::-1][channel], {})
    for shift in (1, -1):
        moved = np.roll(bias, shift)
        if (moved != bias).any():
            yield Fault("biases of channels shifted by one", products + moved[channel], {})


def _zero_points(layer: Layer, x: NDArray[Any], plain: NDArray[np.int64], got: NDArray[Any]) -> Iterator[Fault]:
    """Another zero point of the input adds a multiple of the sum of weights to each sum."""
    assert layer.sums is not None
    each = layer.sums_of_weights(x)
    zero = layer.x_zero_point
    fitted = _fitted(layer, plain, each, got)
    near = () if fitted is None else range(zero - fitted - _NEAR, zero - fitted + _NEAR + 1)
    for other in dict.fromkeys((0, -zero, zero - 128, zero + 128, *near)):
        if other != zero:
            words = f"a wrong zero point of the input: {other} instead of {zero}"
            yield Fault(words, plain + (zero - other) * each, {})


def _fitted(layer: Layer, plain: NDArray[np.int64], each: NDArray[np.int64], got: NDArray[Any]) -> int | None:
    """How far the zero point is away that fits best, from codes that are not clamped: least squares."""
    n = layer.numbers
    factor = _along(layer, n["in_scale"] * np.asarray(n["w_scale"], np.float64) / n["out_scale"], got.ndim)
    off = (got.astype(np.float64) - n["zero_point"]) / factor - plain
    inside = (got > n["qmin"]) & (got < n["qmax"])
    weight = np.where(inside, (factor * np.ones(got.shape)) ** 2, 0.0)
    square = float((weight * each * each).sum())
    if square == 0:
        return None
    found = float((weight * each * off).sum()) / square
    return round(found) if abs(found) < 2**15 else None


def _ends(bits: int) -> tuple[int, int]:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _wrapped(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    half = 1 << (bits - 1)
    return (values + half) % (2 * half) - half
