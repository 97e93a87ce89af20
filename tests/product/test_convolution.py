"""The convolution on every tier against a model that makes one output pixel at a time."""

import sys

import numpy as np
import pytest
from equal import equal
from product_models import convolution_model, extreme, uniform
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images
from qops._kernels.conv.convolution import convolve as convolve_images
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import pack_weights
from qops._kernels.stage.rules import Numbers

from qops._kernels.stage import prepared as stages
from qops.rules import TABLE

DENSE = Window()


def convolve(x, w, out=None, *, window=DENSE, pad_value=0, zero_point=0, num_threads=1, **finish):
    return convolve_images(Images(x, window, pad_value, zero_point), w, out, Finish(**finish), num_threads=num_threads)


@pytest.fixture
def rng():
    return np.random.default_rng(20261120)


CONVOLUTIONS = [  # ic, oc of a group, groups, height, width, kh, kw, stride, dilation, padding
    (4, 16, 1, 7, 9, 3, 3, (1, 1), (1, 1), ((1, 1), (1, 1))),
    (4, 5, 1, 7, 9, 3, 3, (1, 1), (1, 1), ((0, 0), (0, 0))),
    (3, 7, 1, 12, 11, 5, 3, (2, 3), (1, 1), ((2, 1), (0, 3))),
    (1, 1, 1, 6, 6, 2, 2, (1, 1), (2, 2), ((0, 0), (1, 0))),
    (8, 70, 1, 5, 14, 1, 1, (1, 1), (1, 1), ((0, 0), (0, 0))),
    (5, 3, 3, 8, 8, 3, 3, (1, 2), (2, 1), ((2, 2), (1, 1))),
    (4, 9, 2, 8, 8, 3, 3, (2, 1), (1, 2), ((0, 0), (0, 0))),
    (1, 1, 21, 9, 9, 3, 3, (1, 1), (1, 1), ((1, 1), (1, 1))),
    (1, 1, 64, 5, 5, 2, 2, (1, 1), (1, 1), ((0, 0), (0, 0))),
    (1, 1, 130, 6, 7, 3, 2, (2, 2), (1, 2), ((0, 0), (0, 0))),
    (1, 4, 3, 6, 7, 3, 3, (1, 1), (1, 1), ((1, 1), (1, 1))),
    (2, 2, 1, 1, 1, 1, 1, (1, 1), (1, 1), ((3, 2), (1, 4))),
    (9, 5, 2, 3, 75, 1, 3, (1, 1), (1, 1), ((0, 0), (1, 2))),
    (140, 8, 1, 9, 8, 6, 6, (1, 1), (1, 1), ((2, 2), (2, 2))),
    (1, 1, 40, 30, 1, 5, 1, (1, 1), (1, 1), ((0, 0), (0, 0))),
    (1, 1, 7, 150, 1, 4, 1, (1, 1), (3, 1), ((3, 4), (0, 0))),
]


def orders(shape, dtype=np.int32):
    """Results that lie in memory as NHWC, as NCHW, as NCHW in rows with room between them, and apart."""
    n, h, w, c = shape
    yield np.zeros(shape, dtype)
    yield np.zeros((n, c, h, w), dtype).transpose(0, 2, 3, 1)
    yield np.zeros((n, c, h, w + 3), dtype).transpose(0, 2, 3, 1)[:, :, :w]
    yield np.zeros((n, 3 * h, w + 1, c + 2), dtype)[:, ::3, 1:, :c]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("saturating", [False, True])
def test_convolution(tier, rng, case, dtype, saturating):
    ic, oc, groups, height, width, kh, kw, stride, dilation, padding = case
    for data, pad_value in ((uniform, 0), (extreme, 100)):
        x = data(rng, (2, height, width, ic * groups), dtype)
        w = data(rng, (oc * groups, ic, kh, kw), np.int8)
        want = convolution_model(x, w, stride, dilation, padding, pad_value, groups, saturating)
        how = dict(window=Window(stride, dilation, padding), pad_value=pad_value)
        packed = pack_weights(w, groups=groups, saturating=saturating, neighbours=dilation[1] == 1)
        equal(convolve(x, packed, **how), want)
        equal(packed.sums, w.sum((1, 2, 3), np.int32))
        planes = np.ascontiguousarray(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)
        wide = np.zeros((2, 2 * height, width + 3, x.shape[3] + 5), dtype)[:, ::2, 1 : width + 1, 2:-3]
        wide[:] = x
        for source, num_threads in ((x, 3), (planes, 1), (wide, 2)):
            for out in orders(want.shape):
                convolve(source, packed, out, num_threads=num_threads, **how)
                equal(out, want)


def test_weights_for_neighbours_take_no_dilation(rng):
    packed = pack_weights(uniform(rng, (2, 3, 3, 3), np.int8), neighbours=True)
    x = uniform(rng, (1, 9, 9, 3), np.uint8)
    assert convolve(x, packed, window=Window(dilation=(2, 1))).shape == (1, 5, 7, 2)
    with pytest.raises(ValueError, match=r"dilation: .* got 2"):
        convolve(x, packed, window=Window(dilation=(1, 2)))


def test_zero_point_takes_off_the_sums_of_the_weights(tier, rng):
    for groups, shape in ((1, (20, 6, 3, 2)), (2, (34, 3, 3, 2)), (6, (6, 1, 3, 2))):
        w = uniform(rng, shape, np.int8)
        packed = pack_weights(w, groups=groups)
        sums = w.sum((1, 2, 3), np.int64)
        for dtype, zero_point in ((np.uint8, 255), (np.int8, -7), (np.uint8, -(2**31))):
            x = uniform(rng, (1, 5, 6, 6), dtype)
            got = convolve(x, packed, zero_point=zero_point)
            want = convolve(x, packed) - zero_point * sums
            equal(got, want.astype(np.int32))


def model_less_offsets(x, w, window, pad_value, zero_point, w_zero_point, groups):
    """In int64, a tap at a time, of x NHWC and w OIHW; only the low 32 bits count."""
    (sh, sw), (dh, dw), padding = window
    x = np.pad(x.astype(np.int64), ((0, 0), *padding, (0, 0)), constant_values=pad_value) - zero_point
    w = w.astype(np.int64) - w_zero_point
    ic, oc, (kh, kw) = w.shape[1], w.shape[0] // groups, w.shape[2:]
    oh, ow = (x.shape[1] - (kh - 1) * dh - 1) // sh + 1, (x.shape[2] - (kw - 1) * dw - 1) // sw + 1
    y = np.zeros((x.shape[0], oh, ow, w.shape[0]), np.int64)
    for g, i, j in np.ndindex(groups, kh, kw):
        tap = x[:, i * dh :, j * dw :, g * ic : (g + 1) * ic][:, : (oh - 1) * sh + 1 : sh, : (ow - 1) * sw + 1 : sw]
        y[..., g * oc : (g + 1) * oc] += tap @ w[g * oc : (g + 1) * oc, :, i, j].T
    return y


@pytest.mark.parametrize("x_type", [np.uint8, np.int8])
@pytest.mark.parametrize("w_type", [np.uint8, np.int8])
def test_offsets_bias_and_unsigned_weights(tier, rng, x_type, w_type):
    window = (1, 2), (2, 1), ((2, 2), (1, 3))
    for groups, shape in ((1, (20, 6, 3, 2)), (2, (34, 3, 3, 2)), (6, (6, 1, 3, 2))):
        x, w = extreme(rng, (2, 5, 6, 6), x_type), extreme(rng, shape, w_type)
        bias = rng.integers(-(2**31), 2**31, shape[0]).astype(np.int32)
        for zero_point, w_zero_point in ((0, 0), (3, 0), (0, 255), (-7, -128)):
            offsets = {"pad_value": 100, "zero_point": zero_point, "w_zero_point": w_zero_point}
            want = model_less_offsets(x, w, window, groups=groups, **offsets)
            how = {"window": Window(*window), **offsets, "num_threads": 2}
            packed = pack_weights(w, groups=groups)
            equal(convolve(x, packed, **how), want.astype(np.int32))
            for out in orders(want.shape):
                convolve(x, packed, out, bias=bias, **how)
                equal(out, (want + bias).astype(np.int32))


@pytest.mark.parametrize("w_type", [np.uint8, np.int8])
def test_offsets_of_each_output_channel(rng, w_type):
    window = (1, 2), (2, 1), ((2, 2), (1, 3))
    for groups, shape in ((1, (20, 6, 3, 2)), (2, (34, 3, 3, 2)), (6, (6, 1, 3, 2))):
        x, w = extreme(rng, (2, 5, 6, 6), np.uint8), extreme(rng, shape, w_type)
        each = rng.integers(-300, 300, shape[0], np.int32)
        want = model_less_offsets(x, w, window, 100, 7, each.reshape(-1, 1, 1, 1), groups)
        how = {"window": Window(*window), "pad_value": 100, "zero_point": 7}
        equal(convolve(x, pack_weights(w, groups=groups), w_zero_point=each, **how), want)


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
def test_codes_are_those_of_the_sums_wherever_they_lie(tier, rng, kind, dtype):
    """A scale for all channels or one for each, whose turns are longer than a block of lanes, or shorter."""
    window, info = ((1, 2), (2, 1), ((2, 2), (1, 3))), np.iinfo(dtype)
    shapes = (1, (20, 6, 3, 2)), (2, (34, 3, 3, 2)), (6, (6, 1, 3, 2)), (1, (1100, 6, 1, 1)), (1, (1, 6, 2, 2))
    for groups, shape in shapes:
        x, w = extreme(rng, (2, 5, 25, 6), np.uint8), uniform(rng, shape, np.int8)
        w_zero = rng.integers(-9, 9, shape[0])
        bias = rng.integers(-9999, 9999, shape[0]).astype(np.int32)
        how = {"window": Window(*window), "pad_value": 100, "zero_point": 100, "w_zero_point": w_zero, "bias": bias}
        packed = pack_weights(w, groups=groups)
        sums = convolve(x, packed, **how)
        for count in {1, shape[0]}:
            scales = rng.uniform(0.5, 2, count) * (0.4 * min(float(info.max), 1e6) / np.abs(sums).max())
            if kind == "float":
                made = stages.FloatStage(scales.astype(np.float32), "half_even", info.min, info.max, shift=3.0)
            else:
                made = Numbers(TABLE["double-even-zp-inside"], scales, 3, info.min, info.max).stage()
            want = np.empty(sums.shape, dtype)
            made.run(sums, want)
            assert len({*want.flat[:: want.size // 5000 + 1].tolist()}) > 20
            for out in orders(sums.shape, dtype):
                convolve(x, packed, out, codes=made, typenum=np.dtype(dtype).num, num_threads=2, **how)
                equal(out, want)


def test_convolution_in_blocks(tier, rng):
    """An image of more rows than are copied at a time."""
    x, w = uniform(rng, (1, 40, 40, 200), np.uint8), uniform(rng, (6, 200, 3, 3), np.int8)
    padding = ((1, 1), (1, 1))
    want = convolution_model(x, w, (1, 1), (1, 1), padding, 0, 1, False)
    for out in orders(want.shape):
        equal(convolve(x, w, out, window=Window(padding=padding)), want)


def test_padding_beyond_all_memory_is_refused():
    x, w, far = np.ones((1, 1, 1, 1), np.uint8), np.ones((1, 1, 2, 2), np.int8), 2**31 - 1
    # where 32 bits do not count the padded image, its size is refused
    with pytest.raises(MemoryError if sys.maxsize > 2**32 else ValueError, match=r"^$|^kernel: images of "):
        convolve(x, w, window=Window((1, 1), (far - 1, far - 1), ((far, 0), (far, 0))))


def test_rows_whose_bytes_wrap_are_refused():
    """A padded row of this many pixels has 16 bytes if its size wraps; so many would be allocated, and far more set."""
    quarter, x, w = (sys.maxsize + 1) // 2, np.ones((1, 1, 1, 4), np.uint8), np.ones((1, 4, 1, 1), np.int8)
    far = Window((1, quarter + 3), padding=((0, 0), (quarter // 4, quarter - quarter // 4 + 3)))
    with pytest.raises(MemoryError):
        convolve(x, w, window=far, pad_value=1)


def test_convolution_bad_input():
    x, w = np.zeros((1, 5, 5, 4), np.uint8), np.zeros((8, 4, 3, 3), np.int8)
    for error, text, call in [
        (TypeError, "x: expected uint8 or int8 data", lambda: convolve(x.astype(np.int32), w)),
        (TypeError, "w: expected int8 or uint8 data", lambda: convolve(x, w.astype(np.int16))),
        (ValueError, "x: expected 4 dimensions", lambda: convolve(x[0], w)),
        (ValueError, "groups: expected a divisor", lambda: pack_weights(w, groups=3)),
        (ValueError, "w: expected 2 groups", lambda: convolve(x, pack_weights(w, groups=2))),
        (ValueError, "saturating: expected False", lambda: pack_weights(w.astype(np.uint8), saturating=True)),
        (ValueError, "bias: expected shape", lambda: convolve(x, w, bias=np.zeros(4, np.int32))),
        (ValueError, "kernel: expected a window that fits", lambda: convolve(x, w, window=Window(dilation=(3, 1)))),
        (ValueError, "pad_value: expected", lambda: convolve(x, w, pad_value=-1)),
        (ValueError, "out: shape", lambda: convolve(x, w, np.zeros((1, 3, 3, 9), np.int32))),
        (ValueError, "num_threads: expected", lambda: convolve(x, w, num_threads=0)),
    ]:
        with pytest.raises(error, match=f"^{text}"):
            call()
