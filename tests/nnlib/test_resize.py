"""`qops.nnlib` resizes against their twins: each arithmetic, and what is refused."""

import numpy as np
import pytest
import reference_nnlib_images as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

X = np.arange(24, dtype=np.uint8).reshape(1, 2, 4, 3) * 10
small = st.integers(1, 9)


@pytest.mark.long
@settings(max_examples=120, deadline=None)
@example(height=3, width=9, channels=3, size=(6, 18), align=False, seed=0)  # twice: the seam
@example(height=3, width=5, channels=2, size=(6, 10), align=False, seed=0)  # the same for a width that is no power of 2
@example(height=2, width=4, channels=2, size=(4, 8), align=False, seed=0)  # exact halves
@example(height=2, width=4, channels=1, size=(8, 16), align=False, seed=0)  # exact quarters
@example(height=2, width=4, channels=3, size=(8, 16), align=False, seed=0)
@example(height=5, width=6, channels=2, size=(7, 8), align=True, seed=0)
@example(height=5, width=6, channels=2, size=(5, 6), align=True, seed=0)
@given(
    height=small,
    width=small,
    channels=st.integers(1, 4),
    size=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    align=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_bilinear_matches_its_twin(height, width, channels, size, align, seed):
    x = np.random.default_rng(seed).integers(0, 256, (2, height, width, channels), np.uint8)
    flat = channels <= 2 and size[1] & (size[1] - 1) == 0 and size != (height, width)
    if flat and align and (1 in size or (size[1] == 4 * width and (width - 1) % 3 == 0)):
        with pytest.raises(ValueError, match=r"^align_corners: (from .* no run is recorded|the original divides by 0)"):
            nnlib.quantized_resize_bilinear_8((x, -1.0, 2.0), size, align_corners=align)
        return
    if flat and not align and width == 1 and size == (4 * height, 4):
        with pytest.raises(ValueError, match=r"^x: images of one column, of which nnlib reads"):
            nnlib.quantized_resize_bilinear_8((x, -1.0, 2.0), size, align_corners=align)
        return
    t = nnlib.quantized_resize_bilinear_8((x, -1.0, 2.0), size, align_corners=align)
    np.testing.assert_array_equal(t.data, [twin.resize_bilinear(image, size, align) for image in x])
    assert (t.min, t.max) == (-1.0, 2.0)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (3, 1), (3, 9), (11, 2)])
def test_nearest_takes_these_pixels(align, size):
    def chosen(n, wanted):
        to_last = align and min(size) > 1
        scale = np.float32(n - 1) / np.float32(wanted - 1) if to_last else np.float32(n) / np.float32(wanted)
        at = [float(np.float32(i) * scale) for i in range(wanted)]
        return [min(int(v + 0.5) if align else int(v), n - 1) for v in at]

    found = nnlib.resize_nearest_neighbor_8((X, 0.0, 1.0), size, align_corners=align).data
    np.testing.assert_array_equal(found[0], X[0][chosen(2, size[0])][:, chosen(4, size[1])])


@pytest.mark.parametrize("op", [nnlib.quantized_resize_bilinear_8, nnlib.resize_nearest_neighbor_8])
def test_refusals_are_named_and_change_nothing(op):
    out = np.full((1, 3, 5, 3), 7, np.uint8)
    for key, value, error, message in (
        ("x", (X[0], 0.0, 1.0), ValueError, "x: expected"),
        ("x", (X[:0], 0.0, 1.0), ValueError, "x: expected"),
        ("size", (3,), ValueError, "size: expected 2 integers"),
        ("size", (0, 5), ValueError, "size: expected an integer"),
        ("size", (3, 6), ValueError, "out: shape"),
        ("align_corners", 1, TypeError, "align_corners: expected a bool"),
    ):
        with pytest.raises(error, match=f"^{message}"):
            op(**{"x": (X, 0.0, 1.0), "size": (3, 5), key: value}, out=out)
    assert (out == 7).all()
