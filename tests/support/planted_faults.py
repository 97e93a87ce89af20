"""Faults of one layer of sums by the words that `debug` must say, for layers of TFLite and ONNX alike."""

import numpy as np

from qops import rules


def bent(layer, got, sums, rule=None, **changes):
    """The codes of sums by a rule, with other numbers of the layer."""
    n = {**layer.numbers, **changes}
    scale = n["in_scale"] * np.asarray(n["w_scale"], np.float64) / n["out_scale"]
    scale = float(scale) if np.size(scale) == 1 else scale
    how = {name: n[name] for name in ("zero_point", "qmin", "qmax")}
    rule = rule or layer.requantize.rule
    return rules.requantize(sums, rule, scale=scale, axis=layer.requantize.axis, dtype=got.dtype, **how)


def by_weights(change):
    return lambda layer, x, got: bent(layer, got, layer.sums(x, layer.bias, change(layer, layer.weights)))


def by_data(change):
    return lambda layer, x, got: bent(layer, got, layer.sums(change(layer, x), layer.bias))


def by_bias(change):
    def fault(layer, x, got):
        products, bias = layer.sums(x, None), change(layer.bias.astype(np.int64))
        return bent(layer, got, products if bias is None else layer.sums(x, bias))

    return fault


def by_sums(change, rule=None):
    return lambda layer, x, got: bent(layer, got, change(layer.sums(x, layer.bias)), rule)


def by_numbers(**changes):
    def fault(layer, x, got):
        numbers = {name: change(layer.numbers[name]) for name, change in changes.items()}
        return bent(layer, got, layer.sums(x, layer.bias), **numbers)

    return fault


def wrapped(values, bits):
    half = 2 ** (bits - 1)
    return (values + half) % (2 * half) - half


def x_zero(number):
    """The zero point of the data is another number: sums are of x - number."""
    return by_data(lambda layer, x: x.astype(np.int64) + layer.x_zero_point - number(layer.x_zero_point))


def w_zero(number):
    return by_weights(lambda layer, w: w.astype(np.int64) + layer.w_zero_point - number(layer.w_zero_point))


def both_zeros(number):
    def fault(layer, x, got):
        seen = x.astype(np.int64) + layer.x_zero_point - number(layer.x_zero_point)
        weights = layer.weights.astype(np.int64) + layer.w_zero_point - number(layer.w_zero_point)
        return bent(layer, got, layer.sums(seen, layer.bias, weights))

    return fault


def padded_by(number):
    """Windows read another code than the zero point beside the image: 3 x 3, one pixel of padding at each side."""

    def fault(layer, x, got):
        first = layer.requantize.axis == 1
        data, w = (x, layer.weights) if first else (x.transpose(0, 3, 1, 2), layer.weights.transpose(0, 3, 1, 2))
        zero = layer.x_zero_point
        data = np.pad(data.astype(np.int64), [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=number(zero)) - zero
        h, v = x.shape[2:4] if first else x.shape[1:3]
        taps = ((i, j, data[:, :, i : i + h, j : j + v]) for i in range(3) for j in range(3))
        w = w.astype(np.int64) - layer.w_zero_point
        sums = sum(np.einsum("nchw,oc->nohw", part, w[:, :, i, j]) for i, j, part in taps)
        sums = sums + layer.bias.reshape(-1, 1, 1)
        return bent(layer, got, sums if first else sums.transpose(0, 2, 3, 1))

    return fault


def only(fault, where):
    """A fault that only part of the result has; `where` gives the part from the axis of channels and the shape."""

    def part(layer, x, got):
        at = where(layer.requantize.axis % got.ndim, got.shape)
        return np.where(at, fault(layer, x, got), got).astype(got.dtype)

    return part


def channel(number):
    return lambda axis, shape: np.indices(shape)[axis] == number


def column(number):
    return lambda axis, shape: np.indices(shape)[3 if axis == 1 else 2] == number


def moved(by):
    return lambda layer, x, got: np.clip(got.astype(np.int64) + by, *bounds(got)).astype(got.dtype)


def bounds(got):
    info = np.iinfo(got.dtype)
    return info.min, info.max


def flipped(layer, w, axes):
    """The rows, columns or inputs of a filter, OIHW or OHWI, in reverse order."""
    is_nchw = w.shape[2] == w.shape[3]
    place = {"rows": 2 if is_nchw else 1, "columns": 3 if is_nchw else 2, "inputs": 1 if is_nchw else 3}
    return np.flip(w, [place[axis] for axis in axes])


def exchanged(layer, w):
    return np.swapaxes(w, 2, 3) if w.shape[2] == w.shape[3] else np.swapaxes(w, 1, 2)


def image_axes(layer, x):
    return (2, 3, 1) if x.shape[2] == x.shape[3] else (1, 2, 3)


def as_bytes(array):
    return array.view(np.uint8 if array.dtype == np.int8 else np.int8).astype(np.int64)


def scale_times(factor, number):
    def fault(layer, x, got):
        n = layer.numbers["w_scale"] * np.where(np.arange(layer.bias.size) == number, factor, 1.0)
        return bent(layer, got, layer.sums(x, layer.bias), w_scale=n)

    return fault


def relu(off):
    """Clamped so many codes beside the zero point, or to the ends of a symmetric range."""

    def fault(layer, x, got):
        lowest = bounds(got)[0] + 1 if off is None else layer.numbers["zero_point"] - off
        return bent(layer, got, layer.sums(x, layer.bias), qmin=lowest)

    return fault


def wrong_end(layer, x, got):
    wide = bent(layer, np.zeros(1, np.int32), layer.sums(x, layer.bias), qmin=-(2**31), qmax=2**31 - 1)
    return wide.astype(got.dtype)


def stale_column(layer, x, got):
    found, at = got.copy(), [slice(None)] * got.ndim
    axis = 3 if layer.requantize.axis == 1 else 2
    source = list(at)
    at[axis], source[axis] = 5, 4
    found[tuple(at)] = got[tuple(source)]
    return found


FAULTS = {
    "rounded by another rule": by_sums(lambda s: s, "shift-floor"),
    "a wrong zero point of the result": by_numbers(zero_point=lambda z: z + 7),
    "a wrong zero point of the result (zero_point left out": by_numbers(zero_point=lambda z: 0),
    "a wrong zero point of the result (zero_point of the other sign": by_numbers(zero_point=lambda z: -z),
    "a wrong zero point of the result (zero_point ": by_numbers(zero_point=lambda z: z + 3),
    "a fused ReLU that the model does not have": relu(0),
    "clamped to codes": relu(9),
    "clamped to a symmetric range": relu(None),
    "codes wrap instead of saturating": wrong_end,
    "right shift too small by one": by_numbers(out_scale=lambda s: s / 2),
    "right shift too large by one": by_numbers(out_scale=lambda s: s * 2),
    "w_scale of 127 steps instead of 127.5": by_numbers(w_scale=lambda s: s * 127 / 127.5),
    "a wrong scale: 1.2": by_numbers(out_scale=lambda s: s / 1.23),
    "one scale for all channels: that of the first": by_numbers(w_scale=lambda s: np.full_like(s, s[0])),
    "one scale for all channels: the largest": by_numbers(w_scale=lambda s: np.full_like(s, s.max())),
    "one scale for all channels: their mean": by_numbers(w_scale=lambda s: np.full_like(s, s.mean())),
    "scales of channels in reverse order": by_numbers(w_scale=lambda s: s[::-1].copy()),
    "scales of channels shifted by one": by_numbers(w_scale=lambda s: np.roll(s, 1)),
    "the bias left out": by_bias(lambda b: None),
    "the bias added twice": by_bias(lambda b: 2 * b),
    "the bias subtracted": by_bias(lambda b: -b),
    "biases of channels in reverse order": by_bias(lambda b: b[::-1]),
    "biases of channels shifted by one": by_bias(lambda b: np.roll(b, -1)),
    "a bias that overflows: kept in 8 bits, it wraps": by_bias(lambda b: wrapped(b, 8)),
    "a bias that overflows: kept in 12 bits, it saturates": by_bias(lambda b: b.clip(-2048, 2047)),
    "sums kept in 16 bits, which wrap": by_sums(lambda s: wrapped(s, 16)),
    "sums kept in 13 bits, which saturate": by_sums(lambda s: s.clip(-4096, 4095)),
    "a wrong zero point of the input: 0": x_zero(lambda z: 0),
    "a wrong zero point of the input: -": x_zero(lambda z: -abs(z) - 3),
    "a wrong zero point of the input: 128": x_zero(lambda z: 128),
    "a wrong zero point of the weights: 0": w_zero(lambda z: 0),
    "both zero points, of the input and of the weights, left out": both_zeros(lambda z: 0),
    "both zero points, of the input and of the weights, of the other sign": both_zeros(lambda z: -z),
    "padding by 0": padded_by(lambda z: 0),
    "padding by -": padded_by(lambda z: -z),
    "the filter mirrored in rows and columns": by_weights(lambda k, w: flipped(k, w, ("rows", "columns"))),
    "the filter mirrored from top to bottom": by_weights(lambda k, w: flipped(k, w, ("rows",))),
    "the filter mirrored from left to right": by_weights(lambda k, w: flipped(k, w, ("columns",))),
    "the filter transposed": by_weights(exchanged),
    "weights with the input channels in reverse order": by_weights(lambda k, w: flipped(k, w, ("inputs",))),
    "weights with the output channels in reverse order": by_weights(lambda k, w: w[::-1]),
    "weights stored with the axes in the order": by_weights(lambda k, w: w.transpose(0, 3, 1, 2).reshape(w.shape)),
    "weights of the other sign": by_weights(lambda k, w: 2 * k.w_zero_point - w.astype(np.int64)),
    "bytes of the weights read as": by_weights(lambda k, w: as_bytes(w)),
    "bytes of the input read as": by_data(lambda k, x: as_bytes(x)),
    "the input upside down": by_data(lambda k, x: np.flip(x, image_axes(k, x)[0])),
    "the input mirrored from left to right": by_data(lambda k, x: np.flip(x, image_axes(k, x)[1])),
    "the input with rows and columns exchanged": by_data(lambda k, x: x.swapaxes(*image_axes(k, x)[:2])),
    "the bias left out there": only(by_bias(lambda b: None), channel(2)),
    "the bias added twice there": only(by_bias(lambda b: 2 * b), channel(7)),
    "the bias of the channel before there": only(by_bias(lambda b: np.roll(b, 1)), channel(3)),
    "the bias subtracted there": only(by_bias(lambda b: -b), channel(1)),
    "the weights of the channel before there": only(by_weights(lambda k, w: np.roll(w, 1, 0)), channel(4)),
    "a wrong scale there: 1.": scale_times(1.5, 2),
    "a wrong scale there: 2.": scale_times(2.0, 6),
    "all codes there are 0": only(lambda k, x, got: np.zeros_like(got), channel(5)),
    "the codes there are the ones before them": stale_column,
    "only the bias, and no products there": only(
        lambda k, x, got: bent(k, got, k.sums(x * 0 + k.x_zero_point, k.bias)), column(5)
    ),
    "the zero point of the input left out there": only(x_zero(lambda z: 0), column(2)),
    "read as": lambda k, x, got: got ^ np.array(128, np.uint8).view(got.dtype),
    "each code is": moved(3),
}
"""Functions of a layer, its input and its right codes that give the codes of a faulty device."""
