"""oneDNN's prepared ops: the golden bits, what they show, what they keep of what they are given."""

import json
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import onednn_prepared
import pytest
from adaptors import onednn as adaptors
from equal import equal
from npz import read_npz

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Window

GOLDEN = Path(__file__).parents[1] / "golden/onednn"


@pytest.mark.long
@pytest.mark.parametrize("name", ["conv", "gemm", "ip", "matmul"])
def test_prepared_ops_give_the_golden_bits(monkeypatch, name):
    for function in onednn_prepared.OPS:
        monkeypatch.setattr(onednn, function.__name__, partial(onednn_prepared.run, function))
    arrays, cases = read_npz(GOLDEN / f"{name}.npz"), json.loads((GOLDEN / f"{name}.json").read_text())
    for case in cases:
        inputs = {key: arrays[value] if isinstance(value, str) else value for key, value in case["inputs"].items()}
        attrs = case["attrs"] | {key: case[key] for key in ("lib", "isa") if key in case}
        got = adaptors.ADAPTORS[name](inputs, attrs)
        for key, value in case["outputs"].items():
            equal(got[key], arrays[value], why=case["id"])
            assert got[key].dtype == arrays[value].dtype
    assert cases


A, B = np.arange(6, dtype=np.uint8).reshape(2, 3), np.arange(-6, 6, dtype=np.int8).reshape(3, 4)
BIAS, CO = np.float32([1, -2, 3, 0.5]), np.int32([9, -9, 0, 1])
SCALED = {"dst_dt": "u8", "attr": Attr(src_scale=0.5, wei_scale=Scales([1, 2, 3, 4], 1), post_ops=[Eltwise()])}
OPS = {
    "GemmU8S8S32(<int8>, ao=1, offsetc='R', co=np.int32([9, -9, 0, 1]))": (
        lambda: onednn.GemmU8S8S32(B, ao=1, offsetc="R", co=CO),
        A,
    ),
    "GemmS8S8S32(<int8>, alpha=0.5, isa='avx2')": (
        lambda: onednn.GemmS8S8S32(B, alpha=0.5, isa="avx2"),
        A.view(np.int8),
    ),
    "InnerProduct(<int8>, bias=np.float32([1.0, -2.0, 3.0, 0.5]), dst_dt='u8', attr=Attr(src_scale=Scales(0.5), "
    "wei_scale=Scales([1.0, 2.0, 3.0, 4.0], mask=1), post_ops=(Eltwise(alg='relu', alpha=0.0, scale=1.0),)))": (
        lambda: onednn.InnerProduct(B.T, BIAS, **SCALED),
        A,
    ),
    "MatMul(<int8>, bias=np.int32([9, -9, 0, 1]), attr=Attr(src_zp=3), isa='avx512', version='3.2')": (
        lambda: onednn.MatMul(B, CO, attr=Attr(src_zp=3), isa="avx512", version="3.2"),
        A,
    ),
    "Convolution(<int8>, bias=np.float32([1.0, -2.0, 3.0, 0.5]), window=Window(pad_l=(1, 0)), "
    "dst_dt='f32', isa='avx2')": (
        lambda: onednn.Convolution(
            B.T.reshape(4, 3, 1, 1), BIAS, window=Window(pad_l=(1, 0)), dst_dt="f32", isa="avx2"
        ),
        A.T.reshape(1, 3, 2, 1),
    ),
}


@pytest.mark.parametrize("words", OPS)
def test_an_op_shows_how_it_is_made_and_pickles(words):
    make, x = OPS[words]
    op = make()
    again = pickle.loads(pickle.dumps(op))
    for each in (op, again):
        in_one_line = re.sub(r"\n\s*(?=\))|(?<=\()\n\s*", "", repr(each)).replace("\n   ", "")
        assert re.sub(r"np\.int8\(\[\[.*?\]\]+\)", "<int8>", in_one_line) == words
        assert np.array_equal(each(x), op(x))
        assert each.shape_of(x.shape) == op(x).shape


@pytest.mark.parametrize("words", OPS)
def test_what_the_caller_changes_afterwards_changes_no_op(words, monkeypatch):
    make, x = OPS[words]
    want = make()(x)
    given = {"B": B.copy(), "BIAS": BIAS.copy(), "CO": CO.copy()}
    for name, array in given.items():
        monkeypatch.setitem(globals(), name, array)
    op = make()
    assert np.array_equal(op(x), want)
    for array in given.values():
        array[...] = 77
    assert np.array_equal(op(x), want)
    assert np.array_equal(pickle.loads(pickle.dumps(op))(x), want)
    assert not np.array_equal(make()(x), want)
    own = op.b if hasattr(op, "b") else op.weights
    assert not own.flags.writeable


HUGE = 2**40
EMPTY = {
    "k": np.zeros((HUGE, 0), np.int8),
    "n": np.zeros((0, HUGE), np.int8),
    "groups": np.zeros((HUGE, 0, 1, 1, 1), np.int8),
    "outputs": np.zeros((HUGE, 0, 1, 1), np.int8),
    "inputs": np.zeros((0, HUGE, 1, 1), np.int8),
    "batch": np.zeros((HUGE, 0, 3), np.int8),
}


@pytest.mark.parametrize("isa", ["avx2", "avx512", "vnni"])
@pytest.mark.parametrize("kind", EMPTY)
def test_weights_without_elements_are_prepared_at_once_however_long_their_axes(kind, isa):
    w = EMPTY[kind]
    if w.ndim == 2:
        a, shape = np.zeros((0, len(w)), np.uint8), (0, w.shape[1])
        assert onednn.GemmU8S8S32(w, alpha=0.5, isa=isa)(a).shape == shape
        assert onednn.GemmS8S8S32(w, isa=isa)(a.view(np.int8)).shape == shape
        assert onednn.MatMul(w, isa=isa)(a).shape == shape
        assert onednn.InnerProduct(w, isa=isa).weights.shape == w.shape
    elif w.ndim == 3:
        assert onednn.MatMul(w, isa=isa)(np.zeros((1, 0, 0), np.uint8)).shape == (HUGE, 0, 3)
    else:
        assert onednn.Convolution(w, isa=isa).weights.size == 0


@pytest.mark.parametrize("isa", ["avx2", "vnni"])
def test_threads_share_an_op(isa):
    rng = np.random.default_rng(3)
    weights = rng.integers(-128, 128, (16, 8, 3, 3), np.int8)
    how = {"dst_dt": "u8", "attr": Attr(src_scale=0.02, dst_zp=9), "isa": isa}
    images = [
        rng.integers(0, 256, (1, 8, size, 9), np.uint8).view(t) for size in (3, 8, 20) for t in (np.uint8, np.int8)
    ]
    want = [onednn.convolution(x, weights, **how) for x in images]
    op = onednn.Convolution(weights, **how)
    with ThreadPoolExecutor(4) as pool:
        for got, known in zip(pool.map(op, images * 20), want * 20, strict=True):
            assert np.array_equal(got, known)
