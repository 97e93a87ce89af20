import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn import Window


@pytest.mark.parametrize(("layout", "divide"), [("nhwc", False), ("nchw", True)])
@pytest.mark.parametrize("alg", ["max", "avg_inc", "avg_exc"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_matches_the_twin(rng, dtype, alg, layout, divide):
    info = np.iinfo(dtype)
    src = rng.integers(info.min, info.max + 1, (2, 9, 8, 21)).astype(dtype)
    for kernel, stride, pad in (((2, 7), (2, 7), (0, 0)), ((3, 2), (2, 1), (1, 1)), ((4, 7), (1, 5), (2, 3))):
        got = onednn.pooling(src, alg, kernel, window=Window(stride, (0, 0), pad, pad), layout=layout)
        assert np.array_equal(got, twins.pool(src, alg, kernel, stride, pad, divide))


def test_the_reciprocal_matters_for_49_window_sizes_below_400():
    one, sizes = np.float32(1), []
    for n in range(1, 400):
        total = np.arange(255 * n + 1).astype(np.float32)
        product, quotient = np.rint(total * (one / np.float32(n))), np.rint(total / np.float32(n))
        ties = product != quotient
        assert ((2 * total[ties] % n) == 0).all()  # exact halves, nothing else
        sizes += [n] if ties.any() else []
    assert len(sizes) == 49
    assert sizes[:7] == [14, 26, 28, 30, 52, 56, 60]


def test_where_oneDNN_falls_back_to_division():
    def first(channels, width, **machine):
        src = np.full((1, channels, 2, width), 0, np.uint8)
        src[0, 0, 0, 0] = 91
        return onednn.pooling(src, "avg_inc", (2, 7), window=Window((2, 7)), **machine)[0, 0, 0, 0]

    assert first(64, 14) == 7
    assert first(64, 14, layout="nchw") == 6
    assert [first(64, 7, version=v) for v in ("2.6", "3.2", "3.13")] == [6, 6, 7]  # pooled into one value


@pytest.mark.parametrize("version", ["2.6", "3.2", "3.13"])
def test_avx2_divides_on_fewer_than_16_elements(version):
    """Bits of all three libraries."""
    src = np.zeros((1, 8, 2, 8), np.uint8)
    src[:, :, 0, 0] = 91
    for channels, isa, want in ((7, "avx2", 6), (8, "avx2", 7), (7, "vnni", 7)):
        got = onednn.pooling(src[:, :channels], "avg_inc", (2, 7), isa=isa, version=version)
        assert got[0].tolist() == [[[want, 0]]] * channels


@pytest.mark.parametrize("length", [65536, 2**31 - 1])
@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
def test_int32_need_not_hold_the_number_of_taps(length, layout):
    src, window = np.full((1, 1, 1, 1), 200, np.uint8), onednn.Window(pad_l=(length - 1, length - 1))
    for alg, want in (("max", 200), ("avg_exc", 200), ("avg_inc", 0)):
        assert onednn.pooling(src, alg, (length, length), window=window, layout=layout).item() == want


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src=np.zeros((1, 1, 4, 4), np.int32)), TypeError, "src: expected uint8, int8, got int32"),
        (dict(alg="avg"), ValueError, "alg: expected one of .*got 'avg'"),
        (dict(kernel=(5, 1)), ValueError, "kernel: expected a window that fits in images"),
        (dict(kernel=(0, 1)), ValueError, "kernel: expected an integer in"),
        (
            dict(window=Window(pad_l=(2, 0))),
            ValueError,
            r"window: expected padding smaller than the dilated kernel, \(2, 2\), got \(2, 0\)",
        ),
        (dict(window=Window(dilation=(1, 0), pad_r=(3, 0))), ValueError, r"window: .* kernel, \(3, 2\), got"),
        (
            dict(src=np.ones((1, 1, 1, 4), np.uint8), window=Window(dilation=(3, 0), pad_l=(2, 0), pad_r=(2, 0))),
            ValueError,
            r"window: some of it lies on padding only, of an image of \(1, 4\)",
        ),
        (dict(isa="neon"), ValueError, "isa: expected one of"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.pooling(**{"src": np.zeros((1, 1, 4, 4), np.uint8), "alg": "max", "kernel": (2, 2), **options})
