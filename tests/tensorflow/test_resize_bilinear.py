"""`quantized_resize_bilinear`: the twin for all types and ways, memory, bad input."""

import numpy as np
import pytest
import reference_tensorflow_norms as twin

from qops.tensorflow import quantized_resize_bilinear

EDGES = np.int32([2**31 - 1, 2**31 - 64, 2**31 - 65, -(2**31), 2**24 + 1, 0])


def pictures(rng, shape, dtype):
    if dtype == np.uint8:
        return rng.integers(0, 256, shape).astype(dtype)
    x = rng.normal(0, 2.0**30 if dtype == np.int32 else 3, shape).clip(-(2.0**31), 2.0**31 - 1).astype(dtype)
    if dtype == np.int32:
        x.ravel()[: len(EDGES)] = EDGES[: x.size]
    return x


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
@pytest.mark.parametrize("ways", [(False, False), (True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("size", [(7, 9), (2, 3), (1, 1), (4, 5), (4, 11), (13, 2)], ids=str)
def test_resize_matches_twin(rng, dtype, ways, size):
    for shape in ((2, 4, 5, 3), (1, 1, 6, 1), (1, 3, 1, 2)):
        x = pictures(rng, shape, dtype)
        data, low, high = quantized_resize_bilinear((x, 3.0, -1.0), size, *ways)
        np.testing.assert_array_equal(data, twin.resize(x, size, *ways), strict=True)
        assert (low, high) == (3.0, -1.0)


def test_images_and_result_may_lie_anywhere(rng):
    x = pictures(rng, (2, 4, 5, 3), np.int32)
    want = quantized_resize_bilinear((x, -1.0, 1.0), (7, 3)).data
    out = np.zeros((3, 7, 3, 2), np.int32).transpose(3, 1, 2, 0)
    got = quantized_resize_bilinear((x.astype(">i4")[:, :, ::-1][:, :, ::-1], -1.0, 1.0), np.int32([7, 3]), out=out)
    assert got.data is out
    np.testing.assert_array_equal(out, want)


X = np.zeros((1, 2, 3, 1), np.uint8)
BAD = [
    ((X[0], -1.0, 1.0), (2, 2), r"images: input must be 4-dimensional\[2,3,1\]"),
    ((X, -1.0, 1.0), (2, 0), "size: output dimensions must be positive"),
    ((X, -1.0, 1.0), (2, -3), "size: output dimensions must be positive"),
    ((X, -1.0, 1.0), (2,), "size: shape_t must have two elements"),
    ((X, -1.0, 1.0), 5, "size: expected two integers"),
    ((X, -1.0, 1.0), (2, 1.5), "size: expected an integer"),
    ((X[:, :0], -1.0, 1.0), (2, 2), "images: input image must be of non-zero size"),
    ((X[..., :0], -1.0, 1.0), (2, 2), "images: image must have at least one channel"),
    ((X[:0], -1.0, 1.0), (2, 2), "images: has no images"),
    ((X, [-1.0, -2.0], 1.0), (2, 2), "images min: must be rank 0"),
    ((X.astype(np.int8), -1.0, 1.0), (2, 2), "images: expected uint8, int32 or float32 data"),
]


@pytest.mark.parametrize(("images", "size", "message"), BAD)
def test_resize_rejects(images, size, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        quantized_resize_bilinear(images, size)
