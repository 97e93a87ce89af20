import numpy as np
import onednn_twins as twins
import pytest
from onednn_prepared import prepare

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Sum
from qops.onednn.machine import MACHINES, machine

F = np.float32
SRC = np.random.default_rng(6).integers(-128, 128, (3, 21)).astype(np.int8)
WEIGHTS = np.random.default_rng(7).integers(-128, 128, (5, 21)).astype(np.int8)
BIAS = np.random.default_rng(8).integers(-99, 99, 5).astype(np.float32)


def test_old_versions_add_the_bias_before_the_scale(rng):
    oscale = rng.uniform(1e-3, 5e-3, 5).astype(F)
    got = onednn.inner_product(SRC, WEIGHTS, BIAS, dst_dt="u8", attr=Attr(oscale=Scales(oscale, 1 << 1)), version="2.6")
    acc = twins.matrix(SRC, WEIGHTS.T, False)
    want = [[twins.store((F(v) + b) * s, "u8") for v, b, s in zip(row, BIAS, oscale, strict=True)] for row in acc]
    assert got.tolist() == want


@pytest.mark.parametrize(("version", "split"), [("3.2", False), ("3.13", True)])
def test_new_versions_scale_in_their_own_order(rng, version, split):
    src_scale, wei = F(0.0613), rng.uniform(1e-2, 5e-2, 5).astype(F)
    attr = Attr(src_scale=src_scale, wei_scale=Scales(wei, 1 << 0), dst_scale=F(0.7))
    got = onednn.inner_product(SRC, WEIGHTS, BIAS, dst_dt="f32", attr=attr, version=version)
    acc = twins.matrix(SRC, WEIGHTS.T, False).astype(F)
    scaled = acc * src_scale * wei if split else acc * (src_scale * wei)
    assert np.array_equal(got, (scaled + BIAS) * (F(1) / F(0.7)))


def test_weights_format_decides_between_blocks_and_none_on_avx512():
    src = np.zeros((2, 385), np.uint8)
    weights = np.full((3, 385), 127, np.int8)
    src[:, 192:194] = 255  # a pair from k = 0, cut by a block that starts at 193
    run = {f: onednn.inner_product(src, weights, weights_format=f, isa="avx512", version="3.2") for f in ("oi", "any")}
    assert set(run["any"].ravel()) == {32767}
    assert set(run["oi"].ravel()) == {64770}


@pytest.mark.parametrize(("rows", "want"), [(1, 32767), (2, 64770)])
def test_one_row_is_a_vector_in_any_format(rows, want):
    """Bits of 2.6.3: GEMM's second block of 386 starts between the two codes, a vector has no blocks."""
    src = np.zeros((rows, 386), np.uint8)
    src[:, 192:194] = 255
    got = onednn.inner_product(src, np.full((3, 386), 127, np.int8), isa="avx512", version="2.6")
    assert set(got.ravel().tolist()) == {want}


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_a_sum_after_another_post_op_takes_gemm_to_the_exact_reference(version, isa):
    """Bits of all three libraries."""
    src, weights, old = np.full((2, 4), 255, np.uint8), np.full((3, 4), 127, np.int8), np.full((2, 3), 5, np.int32)
    m = machine(version, isa)
    for multiply, w, kind in ((onednn.inner_product, weights, m.ip_any), (onednn.matmul, weights.T, m.matmul)):
        for ops, ref in (([Eltwise(), Sum()], kind == "gemm"), ([Sum(), Eltwise()], False)):
            how = {"attr": Attr(post_ops=ops), "isa": isa, "version": version}
            op, _ = prepare(multiply, w, **how)
            for got in (multiply(src, w, dst_in=old, **how), op(src, dst_in=old)):
                assert set(got.ravel().tolist()) == {65539 if m.saturates and not ref else 129545}


def test_s32_via_f32_on_3_13_avx2_only():
    src, weights = np.full((1, 1300), 255, np.uint8), np.full((1, 1300), 63, np.int8)
    weights[0, 0] = 62
    exact = 255 * 63 * 1300 - 255
    run = {v: int(onednn.inner_product(src, weights, isa="avx2", version=v)[0, 0]) for v in ("3.2", "3.13")}
    assert run == {"3.2": exact, "3.13": int(F(exact))}
    assert exact != int(F(exact))


@pytest.mark.parametrize("version", ["2.6", "3.2", "3.13"])
def test_brgemm_of_an_s8_source_passes_through_f32(version):
    """Bits of all three libraries."""
    src, weights = np.full((2, 1300), 127, np.int8), np.full((2, 1300), -127, np.int8)
    weights[:, 0] = -126
    got = [onednn.inner_product(src, weights, weights_format=f, version=version)[0, 0] for f in ("any", "oi")]
    assert got == [-20967572, -20967572 if version == "3.13" else -20967573]
    unsigned = onednn.inner_product(src.view(np.uint8), -weights, version=version)
    assert set(unsigned.ravel().tolist()) == {20967573}


def test_post_ops_keep_their_order():
    old = np.full((3, 5), 100, np.int32)
    first = onednn.inner_product(SRC, WEIGHTS, attr=Attr(post_ops=[Sum(), Eltwise()]), dst_in=old)
    last = onednn.inner_product(SRC, WEIGHTS, attr=Attr(post_ops=[Eltwise(), Sum()]), dst_in=old)
    acc = twins.matrix(SRC, WEIGHTS.T, False)
    assert np.array_equal(first, np.maximum(acc + 100, 0))
    assert np.array_equal(last, np.maximum(acc, 0) + 100)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(weights=WEIGHTS[:, :20]), ValueError, r"weights: expected shape \(5, 21\), got \(5, 20\)"),
        (dict(bias=BIAS[:4]), ValueError, r"bias: expected 5 values.*\(4,\)"),
        (dict(bias=BIAS.astype(float)), TypeError, "bias: expected float32, .*got float64"),
        (dict(dst_dt="s16"), ValueError, "dst_dt: expected one of .*got 's16'"),
        (dict(weights_format="io"), ValueError, "weights_format: expected one of"),
        (dict(attr=Attr(oscale=1.0)), ValueError, "oscale: not known to version '3.13'"),
        (dict(attr=Attr(src_scale=1.0), version="2.6"), ValueError, "src_scale: not known to version '2.6'"),
        (dict(attr=Attr(src_zp=1)), ValueError, "src_zp: not supported here, got 1"),
        (dict(attr=Attr(wei_scale=Scales(np.ones(5), 2))), ValueError, "wei_scale: expected mask 0 or 1, got 2"),
        (dict(attr=Attr(wei_scale=Scales(np.ones(4), 1))), ValueError, "wei_scale: expected 5 values.*got 4"),
        (dict(attr=Attr(src_scale=Scales(np.ones(3), 1))), ValueError, "src_scale: expected mask 0, got 1"),
        (dict(attr=Attr(post_ops=[Sum()])), ValueError, "dst_in: expected the destination"),
        (
            dict(attr=Attr(post_ops=[Sum()]), dst_in=np.zeros((3, 5))),
            TypeError,
            "dst_in: expected int32, got float64",
        ),
        (dict(attr={"src_scale": 1}), TypeError, "attr: expected a qops.onednn.Attr"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.inner_product(**{"src": SRC, "weights": WEIGHTS, **options})
