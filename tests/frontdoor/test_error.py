"""qops.error: the report against exact sums."""

import math

import numpy as np
import pytest
import reference
from cases import HUGE, TINY, reals, spans
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import qops
from qops._kernels.frontdoor import error as kernels
from qops.frontdoor.report import Worst


def check(codes, lo, hi, want):
    """Equal but for float64 roundings: of values up to 2**31 LSB."""
    got = qops.error((codes, lo, hi), want)
    twin = reference.error(codes, lo, hi, want)
    slack = 1e-12 * (twin.max + max(abs(lo), abs(hi)) / twin.lsb)
    for name in ("max", "mean", "rms", "bias"):
        assert getattr(got, name) == pytest.approx(getattr(twin, name), rel=0, abs=slack)
    assert got.lsb == pytest.approx(twin.lsb, rel=1e-15, abs=0)
    return got, twin


@given(
    codes=hnp.arrays(np.uint8, st.integers(1, 50)) | hnp.arrays(np.int32, st.integers(1, 50)),
    ends=spans(100),
    data=st.data(),
)
def test_error_matches_twin(codes, ends, data):
    assume(ends[1] - ends[0] > 1e-3)
    lo, hi = ends if codes.dtype == np.uint8 else (-max(map(abs, ends)), max(map(abs, ends)))
    steps = data.draw(hnp.arrays(np.float64, codes.shape, elements=st.floats(-3, 3)))
    exact = np.array([float(v) for v in reference.values(codes, lo, hi)])
    _, lsb = reference.signed_error(codes, lo, hi, exact)
    got, twin = check(codes, lo, hi, exact + steps * float(lsb))
    assert got.histogram.counts.sum() == codes.size
    assert got.max == abs(got.worst.value - got.worst.reference) / got.lsb
    assert got.sqnr == pytest.approx(twin.sqnr, rel=1e-6) or twin.max < 1e-3
    assert twin.max <= 3.01


@pytest.mark.parametrize("ends", [(-1.0, 1.0), (-0.1, 0.7), (-3.0, 0.001), (0.0, 1e-30)])
def test_the_zero_of_quantized_data_has_no_error(ends):
    t = qops.quantize([0.0, 0.0], *ends)
    report = qops.error(t, 0.0)
    assert (report.max, report.sqnr) == (0.0, math.inf)
    check(np.arange(256, dtype=np.uint8), t.min, t.max, np.linspace(*ends, 256))


def test_error_known_answers():
    codes = np.uint8([10, 20, 30, 40])
    report = qops.error((codes, 0.0, 255.0), [10.5, 19.0, 30.0, 40.25])
    assert report.max == 1.0
    assert report.mean == (0.5 + 1.0 + 0.25) / 4
    assert report.bias == (-0.5 + 1.0 - 0.25) / 4
    assert report.rms == math.sqrt((0.25 + 1.0 + 0.0625) / 4)
    assert report.lsb == 1.0
    assert report.worst == Worst((1,), 20.0, 19.0)
    assert report.sqnr == pytest.approx(10 * math.log10((10.5**2 + 19**2 + 30**2 + 40.25**2) / (0.25 + 1 + 0.0625)))
    edges = report.histogram.edges
    assert edges.tolist() == (np.arange(-16, 17) / 8).tolist()
    assert {edges[i]: n for i, n in enumerate(report.histogram.counts) if n} == {-0.5: 1, -0.25: 1, 0.0: 1, 1.0: 1}


def test_error_of_exact_data_is_nothing():
    report = qops.error((np.uint8([0, 128, 255]), -128.0, 127.0), [-128.0, 0.0, 127.0])
    assert (report.max, report.mean, report.rms, report.bias) == (0.0, 0.0, 0.0, 0.0)
    assert report.sqnr == math.inf
    assert report.histogram.counts.sum() == 3
    assert qops.error((np.uint8([0, 7]), 2.5, 2.5), [2.5, 2.5]).max == 0.0


def test_error_of_a_reference_without_signal():
    assert qops.error((np.uint8([0, 1]), 0.0, 255.0), [0.0, 0.0]).sqnr == -math.inf


def test_error_broadcasts_the_reference():
    codes = np.arange(6, dtype=np.uint8).reshape(2, 3)
    report = qops.error((codes, 0.0, 255.0), [0.0, 1.0, 2.0])
    assert report.max == 3.0
    assert report.worst.index == (1, 0)
    assert qops.error((np.uint8(4), 0.0, 255.0), 3).worst == Worst((), 4.0, 3.0)


@pytest.mark.parametrize("reference_value", [HUGE, -HUGE, TINY, 0.0])
@pytest.mark.parametrize("hi", [TINY, 1e-30, 1.0, HUGE])
def test_error_of_extremes_neither_warns_nor_overflows(reference_value, hi):
    report = qops.error((np.uint8([0, 255]), 0.0, hi), [reference_value, 0.0])
    assert math.isfinite(report.max)
    assert math.isfinite(report.rms)
    assert report.histogram.counts.sum() == 2
    assert len(report.histogram.counts) <= 4096


@pytest.mark.parametrize("exponent", [*range(50, 58), 80, 127])
@pytest.mark.parametrize("sign", [1, -1])
def test_every_error_is_counted_however_large(sign, exponent):
    """From 2**53 LSB on, float64 holds no limit of the bins that is one LSB further out."""
    report = qops.error((np.uint8([0, 0]), 0.0, 255.0), [-sign * 2.0**exponent, 0.0])
    counts, edges = report.histogram
    (place,) = np.flatnonzero(counts[len(counts) // 2 + 1 :] if sign > 0 else counts[: len(counts) // 2])
    place += len(counts) // 2 + 1 if sign > 0 else 0
    assert edges[place] <= sign * 2.0**exponent <= edges[place + 1]
    assert counts.sum() == 2


def test_blocks_of_data_are_aligned():
    """Compiled loops read them as C doubles."""
    raw = np.zeros(8 * 5 + 1, np.uint8)
    unaligned = raw[1:].view(np.float64)
    assert not unaligned.flags.aligned
    for _, parts in kernels.stretches((np.arange(5, dtype=np.uint8), unaligned), 1 << 15):
        assert all(part.flags.aligned for part in parts)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e39, 1e300])
def test_error_rejects_references_beyond_float32(value):
    with pytest.raises(ValueError, match="reference: has values that are NaN, infinite or beyond float32"):
        qops.error((np.uint8([0, 1]), 0.0, 1.0), [0.0, value])


@pytest.mark.parametrize("wrong", ["text", [None], [1j], [True], np.array(["a"])])
def test_error_rejects_references_that_are_no_real_numbers(wrong):
    with pytest.raises(TypeError, match="reference: expected real numbers, got"):
        qops.error((np.uint8([0]), 0.0, 1.0), wrong)


def test_error_rejects_what_it_cannot_measure():
    with pytest.raises(ValueError, match=r"t: has no elements, shape \(0, 2\)"):
        qops.error((np.zeros((0, 2), np.uint8), 0.0, 1.0), 0.0)
    with pytest.raises(ValueError, match=r"reference: shape \(3,\) does not fit the data's \(2,\)"):
        qops.error((np.zeros(2, np.uint8), 0.0, 1.0), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="t: its range is zero wide"):
        qops.error((np.zeros(2, np.uint8), 1.0, 1.0), 0.0)


@given(ends=spans(), reference_value=reals())
def test_error_of_one_element_is_its_distance(ends, reference_value):
    assume(ends[0] < ends[1])
    got, twin = check(np.uint8([77]), *ends, [reference_value])
    assert got.max == got.mean == pytest.approx(got.rms, rel=1e-12)
    assert twin.worst == 0


# --- chunks and channels ---------------------------------------------------------------------------------------------


def close(got, want):
    for name in ("max", "mean", "rms", "bias", "signal", "noise", "sqnr"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-12, abs=1e-12)
    assert got.count == want.count
    np.testing.assert_array_equal(got.histogram.edges, want.histogram.edges)
    np.testing.assert_array_equal(got.histogram.counts, want.histogram.counts)


@given(
    codes=hnp.arrays(np.uint8, st.integers(3, 60)),
    off=st.floats(0, 1e6),
    data=st.data(),
)
def test_reports_of_chunks_add_up_to_the_report_of_all(codes, off, data):
    cuts = sorted(data.draw(st.lists(st.integers(1, codes.size - 1), min_size=1, max_size=3, unique=True)))
    want = np.float32(codes) + data.draw(hnp.arrays(np.float32, codes.shape, elements=st.floats(-3, 3, width=32)))
    want[0] += np.float32(off)
    parts = [qops.error((c, 0.0, 255.0), w) for c, w in zip(np.split(codes, cuts), np.split(want, cuts), strict=True)]
    whole = qops.error((codes, 0.0, 255.0), want)
    close(sum(parts), whole)
    assert abs(whole.worst.value - whole.worst.reference) == whole.max


def test_a_report_of_many_blocks_is_that_of_one(rng):
    x = rng.normal(size=100_003).astype(np.float32)
    t = qops.quantize(x)
    report = qops.error(t, x)
    off = (t.data.astype(float) - t.zero_point) * t.scale - x
    off /= t.scale
    assert report.worst.index == (int(np.abs(off).argmax()),)
    assert report.max == pytest.approx(np.abs(off).max(), rel=1e-9)
    assert report.mean == pytest.approx(np.abs(off).mean(), rel=1e-9)
    assert report.bias == pytest.approx(off.mean(), rel=1e-6)
    assert report.rms == pytest.approx(np.sqrt((off**2).mean()), rel=1e-9)
    assert report.histogram.counts.sum() == report.count == x.size


def test_reports_of_other_tensors_add_up_too():
    one, other = qops.error((np.uint8([1]), 0.0, 255.0), 0.5), qops.error((np.uint8([3]), 0.0, 510.0), 0.0)
    both = one + other
    assert (both.max, both.mean, both.count, both.worst) == (3.0, 1.75, 2, other.worst)
    assert math.isnan(both.lsb)
    far = qops.error((np.uint8([3]), 0.0, 255.0), 253.0) + qops.error((np.uint8([3]), 0.0, 255.0), 504.0)
    counts, edges = far.histogram
    found = {(edges[i], edges[i + 1]): n for i, n in enumerate(counts.tolist()) if n}
    assert len(found) == 2
    assert [lo <= off < hi for (lo, hi), off in zip(found, (-501, -250), strict=True)] == [True, True]
    assert (one + one).lsb == 1.0
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 1


def test_channels_are_measured_each_in_its_own_lsb(rng):
    x = (rng.normal(size=(3, 50)) * [[1.0], [1e-6], [1e6]]).astype(np.float32)
    for axis, view in ((0, x), (1, np.ascontiguousarray(x.T)), (1, x.T)):
        t = qops.quantize(view, axis=axis)
        report = qops.error(t, view)
        assert 0.4 < report.max <= 0.5 + 2**-13
        assert report.lsb.shape == t.scale.shape
        rows = [qops.error(qops.quantize(row), row) for row in x]
        total = rows[0] + rows[1] + rows[2]
        for name in ("max", "mean", "rms", "bias", "noise"):
            assert getattr(report, name) == pytest.approx(getattr(total, name), rel=1e-9)
    assert qops.error(qops.quantize(x, axis=0), 0.0).count == 150


@pytest.mark.parametrize("own", [(), (1,), (1, 1, 1), (4,), (3, 1), (2, 1, 1), (3, 4), (2, 1, 4), (2, 3, 1), (2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_ranges_of_any_shape_are_those_of_their_elements(own, order, rng):
    """The same as elements one by one, each with the range that broadcasting gives it."""
    codes = np.asarray(rng.integers(0, 256, (2, 3, 4)).astype(np.uint8), order=order)
    lo = rng.uniform(-2, -1, own).astype(np.float32)
    hi = rng.uniform(3, 9, own).astype(np.float32)
    want = rng.uniform(-2, 9, codes.shape)
    report = qops.error((codes, lo, hi), want)
    each = [q.ravel() for q in np.broadcast_arrays(codes, lo, hi, want)]
    total = sum(qops.error((q, a, b), w) for q, a, b, w in zip(*each, strict=True))
    close(report, total)
    at = report.worst.index
    low, step = (np.broadcast_to(x, codes.shape)[at] for x in (np.float64(lo), (np.float64(hi) - lo) / 255))
    value = low + codes[at] * step
    assert report.worst == Worst(at, pytest.approx(value, abs=1e-12), want[at])


def test_channels_zero_wide_are_measured_where_they_are_exact():
    lo, hi = np.float32([[1.0], [0.0]]), np.float32([[1.0], [255.0]])
    codes = np.uint8([[0, 9], [3, 4]])
    assert qops.error((codes, lo, hi), [[1.0, 1.0], [3.0, 6.0]]).max == 2.0
    with pytest.raises(ValueError, match="t: its range is zero wide"):
        qops.error((codes, lo, hi), [[1.0, 1.5], [3.0, 4.0]])
