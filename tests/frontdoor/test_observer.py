"""range_of and Observer: the twin, known optima, batches, channels, pickles, bad input."""

import math
import pickle

import numpy as np
import pytest
import reference
from cases import HUGE, TINY
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import qops
from qops import Observer, range_of

METHODS = ("all", "percentile", "mse", "entropy")
SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "shifted": lambda rng, n: rng.normal(size=n) + 1.5,
    "positive": lambda rng, n: np.abs(rng.normal(size=n)),
    "negative": lambda rng, n: -rng.exponential(size=n),
    "relu": lambda rng, n: np.maximum(rng.normal(size=n), 0),
    "outlier": lambda rng, n: np.append(rng.normal(size=n - 1), 30.0),
    "few values": lambda rng, n: rng.choice([-1.0, 0.0, 0.25, 2.0], n),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-40,
    "huge": lambda rng, n: rng.uniform(-0.9, 0.9, n) * HUGE,
}


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES)
def test_range_of_matches_twin(shape, method, symmetric, rng):
    x = SHAPES[shape](rng, 300).astype(np.float32)
    found = range_of(x, method, symmetric=symmetric, percentile=97.3, bins=1024)
    want = reference.range_of(x, method, symmetric=symmetric, percentile=97.3, bins=1024)
    assert found == pytest.approx(want, rel=2**-22, abs=TINY)
    assert found[0] <= 0 <= found[1]


@given(
    x=hnp.arrays(np.float32, st.integers(0, 40), elements=st.floats(-HUGE, HUGE, width=32)),
    method=st.sampled_from(METHODS),
    symmetric=st.booleans(),
)
@settings(max_examples=60)
def test_any_data_give_a_range_that_quantize_takes(x, method, symmetric):
    lo, hi = range_of(x * np.float32(0.4), method, symmetric=symmetric)
    assert lo <= 0 <= hi
    assert max(-lo, hi) <= 0.41 * float(max(np.abs(x), default=0))
    t = qops.quantize(x, lo, hi)
    assert np.all(t.data[x == 0] == t.zero_point)


# --- known optima ----------------------------------------------------------------------------------------------------


def clip_errors(density, ends, largest=40.0):
    """Mean squared errors of 8 bits with symmetric ends: that of rounding, and of what is cut."""
    x = np.linspace(0, largest, 400_001)
    weight = 2 * density(x) * (x[1] - x[0])
    for end, at in zip(ends, np.searchsorted(x, ends, "right"), strict=True):
        yield (2 * end / 255) ** 2 / 12 * weight[:at].sum() + weight[at:] @ (x[at:] - end) ** 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("draw", "density", "published"),
    [
        ("normal", lambda x: np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi), 3.92),
        ("laplace", lambda x: np.exp(-x) / 2, 9.89),
    ],
)
def test_mse_finds_the_clip_that_is_known(draw, density, published):
    """Banner, Nahshan, Soudry 2019; and the minimum of the integral, of which the paper's has a simpler form."""
    x = getattr(np.random.default_rng(3), draw)(size=400_000)
    ends = np.linspace(0.8, 1.2, 81) * published
    best = ends[np.argmin([*clip_errors(density, ends)])]
    assert best == pytest.approx(published, rel=0.03)
    for found in (range_of(x, "mse"), range_of(x, "mse", symmetric=True)):
        for end in map(abs, found):
            assert end == pytest.approx(best, rel=0.05)


@pytest.mark.parametrize("shape", ["normal", "laplace", "shifted", "positive", "outlier"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_mse_loses_no_more_than_any_part_of_the_range(shape, symmetric, rng):
    """Measured with quantize, on the values themselves; both ends move together here."""
    x = SHAPES[shape](rng, 20_000).astype(np.float32)
    best = qops.error(qops.quantize(x, *range_of(x, "mse", symmetric=symmetric)), x).noise
    whole = np.array(range_of(x, symmetric=symmetric))
    for part in np.arange(8, 129, 4) / 128:
        assert best <= 1.02 * qops.error(qops.quantize(x, *(whole * part)), x).noise


def test_percentile_leaves_out_what_it_says():
    x = np.arange(-5000, 5001) / 1000
    lo, hi = range_of(x, "percentile", percentile=90.0, bins=2**16)
    assert (lo, hi) == pytest.approx((-4.5, 4.5), abs=2 * 10 / 2**16 + 0.001)
    assert range_of(x, "percentile", symmetric=True, percentile=90.0)[1] == pytest.approx(4.5, abs=0.01)
    assert range_of(x, "percentile", percentile=100.0) == range_of(x)
    for percent in (50.0, 97.5, 99.9):
        exact = np.percentile(x, [(100 - percent) / 2, (100 + percent) / 2])
        assert range_of(x, "percentile", percentile=percent) == pytest.approx(tuple(exact), abs=20 / 4096)


def test_entropy_cuts_an_outlier_and_keeps_what_is_even():
    even = np.linspace(-1, 1, 100_000)
    assert range_of(even, "entropy") == pytest.approx((-1, 1), abs=0.01)
    spiked = np.append(np.random.default_rng(0).normal(size=100_000), 12.0)
    assert 3 < range_of(spiked, "entropy")[1] < 6


def test_symmetric_ranges_have_0_on_the_middle_code():
    x = np.float32([-3.0, 0.0, 1.0])
    for dtype, middle in (("uint8", 128), ("int8", 0), ("uint16", 32768), ("int16", 0)):
        for method in METHODS[: 4 if dtype.endswith("t8") else 3]:
            lo, hi = range_of(x, method, dtype=dtype, symmetric=True)
            t = qops.quantize(x, lo, hi, dtype=dtype)
            assert t.zero_point == middle
            assert (t.min, t.max) == pytest.approx((lo, hi), rel=2**-22)


# --- batches and channels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("method", METHODS)
def test_batches_give_what_all_data_give(method, axis, rng):
    """Also where the range grows a thousandfold, in any order, and from two observers that are merged."""
    x = rng.normal(size=(40, 3, 7)).astype(np.float32) * np.geomspace(1e-2, 10, 40, dtype=np.float32)[:, None, None]
    whole = range_of(x, method, axis=axis)
    for order in (range(40), range(39, -1, -1)):
        first, second = Observer(method, axis=axis), Observer(method, axis=axis)
        for i in order:
            (first if i % 3 else second)(x[i : i + 1])
        merged = Observer(method, axis=axis)
        merged.merge(first)
        merged.merge(pickle.loads(pickle.dumps(second)))
        merged.merge(Observer(method, axis=axis))
        assert merged.count == x.size
        np.testing.assert_array_equal(merged.range(), whole)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("method", METHODS)
def test_each_channel_has_the_range_that_it_has_alone(method, axis, rng):
    x = rng.normal(size=(3, 4, 5, 6)) * rng.uniform(0.01, 10, (3, 4, 1, 6))
    lo, hi = range_of(x, method, axis=axis)
    parts = np.moveaxis(x, axis, 0)
    assert lo.shape == hi.shape == tuple(n if i == axis % 4 else 1 for i, n in enumerate(x.shape))
    assert lo.dtype == hi.dtype == np.float32
    assert [*zip(lo.ravel(), hi.ravel(), strict=True)] == [range_of(part, method) for part in parts]
    assert qops.quantize(x, lo, hi, axis=axis).scale.shape == lo.shape


def test_memory_does_not_grow(rng):
    observer = Observer("mse", bins=1024)
    sizes = []
    for k in range(6):
        observer.update(rng.normal(size=50_000) * 10.0**k)
        sizes.append(len(pickle.dumps(observer)))
    assert max(sizes) < 9_000
    assert observer.count == 300_000


def test_no_data():
    assert range_of([]) == (0.0, 0.0)
    assert range_of(np.zeros((0, 3)), axis=1)[0].tolist() == [[0.0, 0.0, 0.0]]
    assert range_of(np.zeros((3, 0)), axis=1)[0].shape == (1, 0)
    for method in METHODS:
        assert range_of([0.0, -0.0], method) == (0.0, 0.0)
    for observer in (Observer(), Observer(axis=0)):
        with pytest.raises(ValueError, match=r"^range: Observer\(.*\) has seen no batch, call update first"):
            observer.range()
    observer.update(np.zeros((1, 0)))
    assert [end.tolist() for end in observer.range()] == [[[0.0]], [[0.0]]]


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "options", "text"),
    [
        ([1.0, math.nan], {}, "x: has NaN, infinite values or some beyond float32"),
        ([1.0, -math.inf], {}, "x: has NaN, infinite values or some beyond float32"),
        ([3.4e38], {"symmetric": True}, r"x: reaches to 3.4e\+38, and with 0 on the middle code its range is beyond"),
        ([1e39], {}, "x: has NaN, infinite values or some beyond float32"),
        (["1"], {}, "x: expected real numbers"),
        ([1.0], {"method": "minmax"}, "method: expected one of all, percentile, mse, entropy, got 'minmax'"),
        ([1.0], {"axis": 1}, r"axis: expected an integer in \[-1, 0\], got 1"),
        ([1.0], {"axis": 0.5}, "axis: expected an integer, got 0.5"),
        ([1.0], {"dtype": "int32"}, "dtype: expected uint8, int8, uint16, int16, got 'int32'"),
        ([1.0], {"dtype": float}, "dtype: expected uint8, int8, uint16, int16, got <class"),
        ([1.0], {"dtype": "int16", "method": "entropy"}, "dtype: 'entropy' is for codes of 8 bits, got int16"),
        ([1.0], {"symmetric": 1}, "symmetric: expected a bool"),
        ([1.0], {"percentile": 0}, "percentile: expected a number above 0 and at most 100, got 0"),
        ([1.0], {"percentile": 100.5}, "percentile: expected a number above 0"),
        ([1.0], {"percentile": None}, "percentile: expected a number, got None"),
        ([1.0], {"bins": 1000}, r"bins: expected an integer in \[1024"),
        ([1.0], {"bins": 1025}, "bins: expected a power of two, got 1025"),
    ],
)
def test_what_is_refused(x, options, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        range_of(x, **options)


def test_a_batch_that_is_refused_changes_nothing():
    observer = Observer("mse", axis=1)
    observer.update(np.ones((4, 2)))
    before = pickle.dumps(observer)
    for bad, text in (
        (np.full((4, 2), np.nan), "x: has NaN"),
        (np.ones((4, 3)), r"x: expected channels as in a shape of \(1, 2\), got a shape of \(4, 3\)"),
        (np.ones((2, 2, 1)), r"x: expected channels as in a shape of \(1, 2\)"),
        (np.ones(2), r"x: expected an array that has axis 1, got shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=f"^{text}"):
            observer.update(bad)
    for other, text in (
        (Observer("mse"), "other: expected one like Observer"),
        (Observer("all", axis=1), "other: expected one like Observer"),
        (qops.quantize([1.0]), "other: expected an Observer, got QTensor"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{text}"):
            observer.merge(other)
    wider = Observer("mse", axis=1)
    wider.update(np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"^other: .* with the same channels"):
        observer.merge(wider)
    assert pickle.dumps(observer) == before
    assert repr(observer).startswith("Observer('mse', axis=1, dtype='uint8', symmetric=False, percentile=99.99")
