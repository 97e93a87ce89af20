import numpy as np
import pytest

from qops.onednn import Window


def test_taps_are_the_padded_dilated_strided_windows():
    image = np.arange(2 * 3 * 5 * 6).reshape(2, 3, 5, 6)
    window, kernel = Window((2, 1), (1, 0), (1, 0), (2, 1)), (2, 3)
    taps = window.moves.taps(image, kernel, fill=-1)
    padded = np.pad(image, [(0, 0), (0, 0), (1, 2), (0, 1)], constant_values=-1)
    assert taps.shape[2:4] == window.out_size((5, 6), kernel) == (3, 5)
    for y, x, ky, kx in np.ndindex(*taps.shape[2:]):
        assert np.array_equal(taps[:, :, y, x, ky, kx], padded[:, :, 2 * y + 2 * ky, x + kx])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(stride=(0, 1)), ValueError, r"stride: expected an integer in \[1, .*got 0"),
        (dict(dilation=(0, -1)), ValueError, "dilation: expected an integer in .*got -1"),
        (dict(pad_l=(1,)), ValueError, r"pad_l: expected 2 integers, got \(1,\)"),
        (dict(pad_r=2), TypeError, "pad_r: expected 2 integers, got 2"),
        (dict(stride=(1.5, 1)), TypeError, "stride: expected an integer, got 1.5"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        Window(**options)
