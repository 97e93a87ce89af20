import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Sum

F = np.float32
EDGES = F(
    [
        -np.inf,
        -3e9,
        -2147483648,
        -128.5,
        -128,
        -1.5,
        -0.5,
        -0.0,
        1e-40,
        0.5,
        1.5,
        2.5,
        127.5,
        254.5,
        255.5,
        2147483520,
        2147483648,
        3e9,
        np.inf,
    ]
)


@pytest.mark.parametrize("dt", ["u8", "s8", "s32"])
def test_f32_saturates_and_rounds_half_to_even(dt):
    finite = EDGES[np.isfinite(EDGES)]
    assert onednn.reorder(finite, dt).tolist() == [twins.store(v, dt) for v in finite]
    low, high = {"u8": (0, 255), "s8": (-128, 127), "s32": (-(2**31), 2147483520)}[dt]
    assert onednn.reorder(EDGES[[0, -1]], dt).tolist() == [low, high]


def test_integers_are_clamped_without_f32():
    x = np.int32([-(2**31), -129, 128, 256, 2**24 + 1, 2**31 - 1])
    assert np.array_equal(onednn.reorder(x, "s32"), x)
    assert onednn.reorder(x, "u8").tolist() == [0, 0, 128, 255, 255, 255]
    assert onednn.reorder(x, "s8").tolist() == [-128, -128, 127, 127, 127, 127]


@pytest.mark.parametrize("dt", ["u8", "s8", "s32", "f32"])
def test_formula_of_both_conventions(dt):
    x = np.arange(-128, 127).astype(np.int8)
    scale = F(0.37)
    old = onednn.reorder(x, dt, attr=Attr(oscale=scale, src_zp=7, dst_zp=-3), version="2.6")
    new = onednn.reorder(x, dt, attr=Attr(src_scale=scale, dst_scale=0.7, src_zp=7, dst_zp=-3))
    centred = x.astype(F) - F(7)
    assert old.tolist() == [twins.store(v * scale + F(-3), dt) for v in centred]
    assert new.tolist() == [twins.store(v * scale * (F(1) / F(0.7)) + F(-3), dt) for v in centred]


def test_scales_run_along_their_mask_and_sum_is_not_fused():
    x, old = np.arange(12, dtype=np.int32).reshape(4, 3), np.full((4, 3), 3, F)
    scales = F([0.1, 0.2, 0.3])
    attr = Attr(oscale=Scales(scales, 1 << 1), post_ops=[Sum(0.7)])
    got = onednn.reorder(x, "f32", attr=attr, dst_in=old, version="2.6")
    assert np.array_equal(got, x.astype(F) * scales + F(0.7) * old)


@pytest.mark.parametrize(("version", "quotient"), [("3.2", 0.9999999403953552), ("3.13", 1.0)])
def test_sum_comes_before_dst_scale_which_plain_code_of_3_13_divides_by(version, quotient):
    """Bits of 3.2.0 and 3.13.2."""

    def run(src, old=None, **attr):
        return onednn.reorder(np.int8(src), "f32", attr=Attr(**attr), dst_in=old, version=version).tolist()

    got = run([2, 80], F([40, 0]), src_scale=0.5, dst_scale=41.0, post_ops=[Sum()])
    assert got == [0.9999999403953552, 0.9756097197532654]
    assert run([41], F([0]), dst_scale=41.0, post_ops=[Sum(0.5)]) == [quotient]
    assert run([41, 41], src_scale=1.0, dst_scale=Scales([41.0, 1.0], 1)) == [quotient, 41.0]


def test_s32_overflows_in_vectors_of_2_6():
    """Bits of all three libraries."""

    def run(n, version, dst_in=None, **attr):
        src = np.full(n, 3e9, F)
        return set(onednn.reorder(src, "s32", attr=Attr(**attr), dst_in=dst_in, version=version).tolist())

    for n in (3, 4, 75, 116, 126):
        assert run(n, "2.6") == {-(2**31) if n % 4 == 0 else 2147483520}
        assert run(n, "2.6", oscale=2.0) == run(n, "3.2") == run(n, "3.13") == {2147483520}
        assert run(n, "2.6", post_ops=[Sum()], dst_in=np.zeros(n, np.int32)) == {2147483520}


def test_float32_to_float32_of_32_merges_its_scales_before_a_sum():
    """What oneDNN 3.2.0 and 3.13.2 gave."""
    src, old = F([1.1, -123.456]), F([4, 6])
    merged, summed = Attr(src_scale=0.37, dst_scale=0.87), Attr(dst_scale=0.87, post_ops=[Sum(0.3)])
    gave = {
        "3.2": ([0.4678161144256592, -52.504276275634766], [2.4643678665161133, -140.1034393310547]),
        "3.13": ([0.4678160846233368, -52.504276275634766], [2.6436784267425537, -139.83447265625]),
    }
    for version, (one, two) in gave.items():
        assert onednn.reorder(src, "f32", attr=merged, version=version).tolist() == one
        assert onednn.reorder(src, "f32", attr=summed, dst_in=old, version=version).tolist() == two


def test_nan_passes_to_f32_only():
    assert np.isnan(onednn.reorder(F([np.nan]), "f32")).all()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src=F([np.nan])), ValueError, "src: expected numbers, got nan"),
        (dict(src=np.zeros(1)), TypeError, "src: expected float32, .*got float64"),
        (dict(dst_dt="i8"), ValueError, "dst_dt: expected one of"),
        (dict(attr=Attr(oscale=2.0)), ValueError, "oscale: not supported here"),
        (dict(attr=Attr(dst_scale=2.0), version="2.6"), ValueError, "dst_scale: not supported here"),
        (dict(attr=Attr(wei_zp=2)), ValueError, "wei_zp: not supported here, got 2"),
        (dict(attr=Attr(post_ops=[Eltwise()])), ValueError, "post_ops: expected at most one Sum"),
        (dict(attr=Attr(src_scale=Scales([1, 2], 1))), ValueError, "src_scale: expected 3 values with mask 1, got 2"),
        (dict(attr=Attr(src_scale=Scales([1, 2], 2))), ValueError, "src_scale: expected a mask of .*got 2"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.reorder(**{"src": np.zeros(3, F), "dst_dt": "u8", **options})


def test_out_may_be_what_the_sum_reads_and_lie_in_any_order(rng):
    x, old = rng.normal(0, 50, (4, 6)).astype(np.float32), rng.integers(-128, 128, (6, 4)).astype(np.int8).T
    how = {"attr": Attr(src_scale=0.5, post_ops=[Sum(0.25)])}
    want = onednn.reorder(x, "s8", dst_in=old, **how)
    assert onednn.reorder(x, "s8", dst_in=old, out=old, **how) is old
    assert np.array_equal(old, want)


def test_what_the_sum_reads_may_be_unaligned(rng):
    x, old = rng.normal(0, 50, (2, 4, 6)).astype(np.float32)
    odd = np.zeros(old.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(old.shape)
    odd[...] = old
    how = {"attr": Attr(post_ops=[Sum(0.25)])}
    assert np.array_equal(onednn.reorder(x, "f32", dst_in=odd, **how), onednn.reorder(x, "f32", dst_in=old, **how))
