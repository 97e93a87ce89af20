"""`qops.nnlib.quantized_transpose_conv2d_8x8p32to8`: near the real values, the same in sessions, and its refusals."""

import numpy as np
import pytest

from qops import nnlib


def scattered(x, w, stride, pads, size):
    """Real values: each pixel adds a filter."""
    (count, height, width, _), (outputs, kh, kw, _) = x.shape, w.shape
    (down, across), (top, _, left, _) = stride, pads
    room = np.zeros((count, (height - 1) * down + kh + size[0], (width - 1) * across + kw + size[1], outputs))
    for i in range(height):
        for j in range(width):
            added = np.einsum("nc,oklc->nklo", x[:, i, j], w)
            room[:, i * down : i * down + kh, j * across : j * across + kw] += added
    return room[:, top : top + size[0], left : left + size[1]]


@pytest.mark.parametrize("arch", ["v65", "v60"])
@pytest.mark.parametrize("channels", [3, 5, 32])
@pytest.mark.parametrize(
    ("taps", "stride", "pads"),
    [
        ((3, 3), (1, 1), (1, 1, 1, 0)),
        ((3, 2), (2, 2), (1, 0, 0, 1)),
        ((5, 4), (3, 2), (0, 0, 2, 0)),
        ((2, 2), (1, 5), (0,) * 4),
    ],
)
def test_is_near_the_real_values(taps, stride, pads, channels, arch):
    """Zeros are on codes, and weights within -128..127 of theirs, so that results are rounded once."""
    rng = np.random.default_rng(sum(taps) * channels)
    x = rng.integers(0, 256, (2, 3, 4, channels), np.uint8)
    w = rng.integers(0, 256, (2, *taps, channels), np.uint8)
    bias = np.int32([2**20, -(2**21)]), -64.0, 64.0
    size = 2 * stride[0] + taps[0] - pads[0] - pads[1], 3 * stride[1] + taps[1] - pads[2] - pads[3]
    ends = -128 * 0.5, 127 * 0.5
    x_ends, w_ends = (-128 / 64, 127 / 64), (-128 / 128, 127 / 128)
    t = nnlib.quantized_transpose_conv2d_8x8p32to8(
        (x, *x_ends), (w, *w_ends), bias, stride, pads, size, *ends, arch=arch
    )
    real = scattered((x - 128.0) / 64, (w - 128.0) / 128, stride, pads, size) + bias[0] * (128 / 2**32)
    assert (t.min, t.max) == ends
    np.testing.assert_allclose(t.data, np.clip(real / 0.5 + 128, 0, 255), rtol=0, atol=0.501)


def test_a_session_of_it_remembers():
    w, bias = (np.full((1, 2, 2, 5), 9, np.uint8), 0.0, 255.0), (np.int32([0]), -1.0, 1.0)
    op = nnlib.QuantizedTransposeConv2d8x8p32to8(w, bias, (2, 2), (0, 0, 0, 0), (4, 4), 0.0)
    session = nnlib.Session(op)
    dark, bright = ((np.full((1, 2, 2, 5), code, np.uint8), 0.0, 255.0) for code in (1, 200))
    first, _, last = (session(t) for t in (dark, bright, dark))
    assert last.max > first.max == op(dark).max
    assert session.range == (last.min, last.max)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pads": (3, 0, 0, 0)}, r"pads: expected at most \(2, 1\) for stride 1"),
        ({"pads": (-1, 0, 0, 0)}, "pads: expected"),
        ({"out_size": (5, 6)}, r"out_size: expected \(5, 5\) for images of \(3, 4\)"),
        (
            {"stride": (2, 2), "out_size": (8, 11)},
            r"out_size: \(8, 11\) after pads of \(0, 0\) is beyond \(8, 8\)",
        ),
        ({"bias": (np.zeros(2, np.uint8), -1.0, 1.0)}, "bias: expected int32"),
    ],
)
def test_refusals_are_named(changes, message):
    good = {
        "x": (np.zeros((1, 3, 4, 5), np.uint8), 0.0, 1.0),
        "w": (np.zeros((2, 3, 2, 5), np.uint8), 0.0, 1.0),
        "bias": (np.zeros(2, np.int32), -1.0, 1.0),
        "stride": (1, 1),
        "pads": (0, 0, 0, 0),
        "out_size": (5, 5),
    }
    nnlib.quantized_transpose_conv2d_8x8p32to8(**good)
    with pytest.raises((TypeError, ValueError), match=f"^(?:{message})"):
        nnlib.quantized_transpose_conv2d_8x8p32to8(**{**good, **changes})
