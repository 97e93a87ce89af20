"""Which pairs saturate: against Python integers, against what the primitives lose, and against all data there is."""

import numpy as np
import onednn_twins as twins
import pytest
from saturating import codes, counted

from qops import isa, onednn
from qops.onednn import Saturation, Window, saturated_pairs, unsafe_pairs, workflow

VERSIONS = ("2.6", "3.2", "3.13")
PADDED = Window(stride=(2, 1), dilation=(0, 1), pad_l=(1, 2), pad_r=(2, 0))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("k", [0, 1, 2, 5, 8, 256, 257, 258, 300, 770])
def test_counts_of_an_inner_product_match_python_integers(k, dtype):
    rng = np.random.default_rng(k)
    x, w = codes(rng, (4, k), dtype), codes(rng, (3, k), np.int8)
    found = saturated_pairs(x, w)
    shifted = x.astype(int) - np.iinfo(dtype).min
    want = counted(shifted, w, twins.k_starts(k, 384, 256))
    assert found.counts.dtype == np.int64
    assert np.array_equal(found.counts, want)
    assert found.places == 4
    assert k < 2 or 0 < want.sum() < 4 * want.size
    assert found.share == (want.sum() / (4 * want.size) if k else 0)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_counts_of_a_u8_convolution_match_python_integers(channels):
    rng = np.random.default_rng(channels)
    x, w = codes(rng, (2, channels, 5, 4), np.uint8), codes(rng, (3, channels, 2, 3), np.int8)
    found = saturated_pairs(x, w, window=PADDED)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2), (2, 0))).astype(int)
    want = np.zeros((3, (channels + 1) // 2, 2, 3), int)
    places = [(i, 2 * y, x0) for i in range(2) for y in range(4) for x0 in range(2)]
    for ky, kx in np.ndindex(2, 3):
        rows = np.array([padded[i, :, y + ky, x0 + 2 * kx] for i, y, x0 in places])
        want[:, :, ky, kx] = counted(rows, w[:, :, ky, kx], (0,))
    assert np.array_equal(found.counts, want)
    assert found.places == len(places)
    assert (want.sum() > 0) == (channels > 1)


def test_one_pair_of_every_kind_of_code_is_counted_as_vpmaddubsw_does_it():
    rng = np.random.default_rng(3)
    a, w = codes(rng, (5000, 2), np.uint8), codes(rng, (40, 2), np.int8)
    sums = a.astype(int) @ w.astype(int).T
    lost = np.stack([isa.vpmaddubsw(a, row)[:, 0] for row in w], axis=1) != sums
    assert np.array_equal(saturated_pairs(a, w).counts[:, 0], lost.sum(axis=0))
    assert 0 < lost.sum() < lost.size


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("k", [6, 261, 900])
def test_primitives_of_every_version_lose_something_only_where_pairs_saturate(dtype, k):
    rng = np.random.default_rng(k)
    x, w = codes(rng, (6, k), dtype), codes(rng, (30, k), np.int8)
    w[:, rng.permutation(k)[: k - 3]] //= 16  # few pairs can saturate, and those of few rows do
    lost = np.array([[saturated_pairs(row[None], column[None]).counts.sum() for column in w] for row in x])
    for version in VERSIONS:
        exact, lossy = (onednn.inner_product(x, w, isa=machine, version=version) for machine in ("vnni", "avx2"))
        assert np.array_equal(exact != lossy, lost > 0), version
    assert 0 < (lost > 0).sum() < lost.size


@pytest.mark.parametrize("version", VERSIONS)
def test_a_convolution_loses_something_where_pairs_saturate(version):
    rng = np.random.default_rng(6)
    x, w = codes(rng, (1, 2, 3, 3), np.uint8), codes(rng, (60, 2, 1, 1), np.int8)
    exact, lossy = (onednn.convolution(x, w, isa=machine, version=version) for machine in ("vnni", "avx2"))
    found = saturated_pairs(x, w)
    assert np.array_equal((exact != lossy).sum(axis=(0, 2, 3)), found.counts[:, 0, 0, 0])
    assert 0 < found.share < 1


def test_halved_weights_never_saturate_but_a_u8_source_with_the_same_codes_does():
    rng = np.random.default_rng(7)
    x, w = codes(rng, (1, 4, 6, 6), np.int8), codes(rng, (8, 4, 3, 3), np.int8)
    assert saturated_pairs(x, w).counts.sum() == 0
    assert saturated_pairs(x.view(np.uint8) ^ 128, w).counts.sum() > 0


@pytest.mark.parametrize("top", [0, 1, 127, 128, 129, 200, 254, 255])
def test_weights_only_test_is_necessary_and_sufficient_for_all_pairs_of_weights(top):
    w = np.indices((256, 256)).reshape(2, -1).T.astype(np.uint8).view(np.int8)
    corners = np.uint8([[0, 0], [top, 0], [0, top], [top, top]])
    by_data = saturated_pairs(corners, w).counts[:, 0] > 0
    assert np.array_equal(unsafe_pairs(w, top)[:, 0], by_data)
    assert by_data.any() == (top > 128)  # 2 * 128 * -128 = -32768 is still s16


@pytest.mark.parametrize("top", [127, 128, 200, 255])
def test_no_codes_at_all_saturate_a_safe_pair_and_some_saturate_an_unsafe_one(top):
    rng = np.random.default_rng(top)
    every = np.indices((top + 1, top + 1)).reshape(2, -1).T.astype(np.uint8)
    near = [[64, 64], [65, 64], [-64, -64], [-64, -65], [127, 1], [127, 2], [-128, 127], [-128, 0], [-128, -1]]
    w = np.int8([*near, *codes(rng, (30, 2), np.int8)])
    assert np.array_equal(unsafe_pairs(w, top)[:, 0], saturated_pairs(every, w).counts[:, 0] > 0)


def test_for_u8_positive_parts_may_sum_to_128_and_negative_parts_to_minus_128():
    w = np.indices((256, 256)).reshape(2, -1).T - 128
    positive, negative = w.clip(0).sum(axis=1), w.clip(None, 0).sum(axis=1)
    assert np.array_equal(unsafe_pairs(w.astype(np.int8))[:, 0], (positive > 128) | (negative < -128))


def test_shape_is_that_of_the_weights_with_channels_in_pairs():
    w = np.zeros((2, 3, 1, 2), np.int8)
    w[1, 0, 0, 1] = w[1, 1, 0, 1] = 100
    assert np.argwhere(unsafe_pairs(w)).tolist() == [[1, 0, 0, 1]]
    assert unsafe_pairs(w).shape == (2, 2, 1, 2)
    assert unsafe_pairs(np.zeros((2, 257), np.int8)).shape == (2, 65 + 64)


def test_share_of_pairs_as_measured_on_uniform_and_gaussian_codes():
    rng = np.random.default_rng(576)
    x, w = rng.integers(0, 256, (128, 576), np.uint8), rng.integers(-128, 128, (64, 576)).astype(np.int8)
    assert round(saturated_pairs(x, w).share, 3) == 0.036
    for sigmas, unsafe in ((3, 0.031), (4.5, 0.001)):
        gauss = np.rint(rng.standard_normal((2000, 576)) * 127 / sigmas).clip(-128, 127).astype(np.int8)
        assert round(unsafe_pairs(gauss).mean(), 3) == unsafe


def test_seven_bits_of_either_operand_are_enough():
    rng = np.random.default_rng(8)
    x, w = rng.uniform(0, 3, (50, 64)).astype(np.float32), rng.standard_normal((10, 64)).astype(np.float32)
    w[:, :8] = 4.0
    found = {}
    for a_bits, w_bits in ((8, 8), (7, 8), (8, 7)):
        q_a, q_w = workflow.activations_factor(x, a_bits), workflow.weights_factor(w, 1, w_bits)
        x_u8, w_s8 = workflow.quantize_activations(x, q_a), workflow.quantize_weights(w, q_w)
        assert (x_u8.max(), w_s8.max()) == (2**a_bits - 1, 2 ** (w_bits - 1) - 1)
        assert saturated_pairs(x_u8, w_s8).counts.sum() <= unsafe_pairs(w_s8, 2**a_bits - 1).sum() * 50
        found[a_bits, w_bits] = saturated_pairs(x_u8, w_s8).share
    assert found[8, 8] > 0
    assert found[7, 8] == found[8, 7] == 0


def test_nothing_gives_nothing():
    assert saturated_pairs(np.zeros((0, 4), np.uint8), np.full((3, 4), 127, np.int8)).share == 0
    empty = saturated_pairs(np.zeros((3, 4), np.uint8), np.zeros((0, 4), np.int8))
    assert empty.share == 0
    assert empty.counts.shape == (0, 2)


def test_inputs_are_taken_as_they_are():
    rng = np.random.default_rng(9)
    x, w = codes(rng, (1, 4, 5, 5), np.uint8), codes(rng, (3, 4, 3, 3), np.int8)
    want = saturated_pairs(x, w)
    assert isinstance(want, Saturation)
    turned = np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    turned.flags.writeable = False
    assert np.array_equal(
        saturated_pairs(turned, w.transpose(3, 1, 2, 0).copy().transpose(3, 1, 2, 0)).counts, want.counts
    )


U8, S8 = np.zeros((2, 4), np.uint8), np.zeros((3, 4), np.int8)


@pytest.mark.parametrize(
    ("kind", "call", "message"),
    [
        (TypeError, lambda: saturated_pairs(U8.astype(np.int32), S8), "src: expected uint8, int8, got int32"),
        (TypeError, lambda: saturated_pairs(U8, U8), "weights: expected int8, got uint8"),
        (ValueError, lambda: saturated_pairs(U8, S8[:, :2]), r"weights: expected shape \(3, 4\), got \(3, 2\)"),
        (ValueError, lambda: saturated_pairs(U8, S8[None]), r"weights: expected shape .*, got \(1, 3, 4\)"),
        (ValueError, lambda: saturated_pairs(U8, S8, window=Window((2, 2))), "window: expected none for"),
        (
            ValueError,
            lambda: saturated_pairs(U8, S8[..., None, None]),
            r"src: expected 4 dimensions, got shape \(2, 4\)",
        ),
        (
            ValueError,
            lambda: saturated_pairs(U8.reshape(1, 4, 2, 1), S8.reshape(1, 4, 1, 3)),
            r"weights: expected a window that fits in images of \(2, 1\) .* got \(1, 3\)",
        ),
        (TypeError, lambda: saturated_pairs(U8, S8, window=(1, 1)), "window: expected a qops.onednn.Window"),
        (ValueError, lambda: unsafe_pairs(S8, 256), r"top: expected an integer in \[0, 255\], got 256"),
        (TypeError, lambda: unsafe_pairs(U8), "weights: expected int8, got uint8"),
        (ValueError, lambda: workflow.weights_factor(np.ones(2, np.float32), bits=9), "bits: .* got 9"),
        (TypeError, lambda: workflow.activations_factor(np.ones(2, np.float32), bits=7.0), "bits: .* got 7.0"),
    ],
)
def test_what_does_not_fit_is_refused(kind, call, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("machine", ["avx2", "avx512", "vnni"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("shape", [(3, 4, 2, 3), (2, 4, 4, 3, 3), (4, 1, 1, 3, 3), (3, 1, 3, 3)])
def test_losses_are_those_of_the_convolution_on_every_machine(rng, version, machine, dtype, shape):
    channels = shape[1] if len(shape) == 4 else shape[0] * shape[2]
    x, w = codes(rng, (2, channels, 6, 7), dtype), codes(rng, shape, np.int8)
    how = {"window": Window(pad_l=(1, 0), pad_r=(0, 1)), "version": version}
    exact, real = (onednn.convolution(x, w, isa=name, **how).astype(int) for name in ("vnni", machine))
    found = saturated_pairs(x, w, isa=machine, **how)
    loss = np.abs(real - exact)
    assert found.largest_loss == loss.max()
    assert found.mean_loss == loss.mean()
    assert found.places == exact[:, 0].size
    assert len(found.counts) == w[..., 0, 0, 0].size
    assert found.counts.any() == (dtype == np.uint8 and bool(loss.any()))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("machine", ["avx2", "avx512", "vnni"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("rows", "outputs"), [(5, 4), (1, 4), (5, 1), (1, 1)])
def test_losses_are_those_of_the_inner_product_on_every_machine(rng, version, machine, dtype, rows, outputs):
    x, w = codes(rng, (rows, 401), dtype), codes(rng, (outputs, 401), np.int8)
    exact, real = (onednn.inner_product(x, w, isa=name, version=version).astype(int) for name in ("vnni", machine))
    found = saturated_pairs(x, w, isa=machine, version=version)
    assert found.largest_loss == np.abs(real - exact).max()
    assert found.mean_loss == np.abs(real - exact).mean()
    assert (found.places, len(found.counts)) == (rows, outputs)


def test_even_weights_lose_nothing_where_they_are_halved(rng):
    x, bits7 = codes(rng, (1, 8, 5, 5), np.int8), rng.integers(-64, 64, (4, 8, 3, 3)).astype(np.int8)
    assert saturated_pairs(x, bits7).largest_loss > 0
    assert saturated_pairs(x, 2 * bits7).largest_loss == saturated_pairs(x, 2 * bits7).mean_loss == 0


def test_weights_of_an_s8_convolution_are_never_unsafe(rng):
    w = codes(rng, (2, 3, 4, 1, 2), np.int8)
    assert unsafe_pairs(w).any()
    assert unsafe_pairs(w).shape == (6, 2, 1, 2)
    assert np.array_equal(unsafe_pairs(w), unsafe_pairs(w.reshape(6, 4, 1, 2)))
    assert not unsafe_pairs(w, src_dt="s8").any()
    with pytest.raises(ValueError, match="src_dt: expected one of u8, s8, got 's32'"):
        unsafe_pairs(w, src_dt="s32")
