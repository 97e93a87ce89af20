"""`qops.explain` of dumps of nnlib's supernodes: the rule, the chip, and the channels that a V65 rescales."""

import numpy as np
import pytest

import qops
from qops import nnlib


def node(rng, arch="v65", channels=(0, 1, 2, 3, 4, 5), scales=None):
    codes = rng.integers(60, 140, (3, 3, 8, 6), np.uint8)
    codes[0, 0, 0, [1, 4]] = 255  # 155 codes from the zero
    w = codes[..., channels], -1.0, 1.55
    bias = rng.integers(-(2**20), 2**20, len(channels), np.int32), -512.0, 512.0
    return nnlib.Supernode(w, bias, (1, 1), "SAME", -2.0, 2.0, arch=arch, channel_scale=scales)


def image(rng, shape=(1, 9, 9, 8)):
    return qops.QTensor(rng.integers(0, 256, shape, np.uint8), -1.0, 1.0)


@pytest.mark.parametrize("scales", [None, [1.0, 0.5, 0.25, 0.7, 0.9, 0.3]])
@pytest.mark.parametrize("arch", ["v65", "v60"])
def test_a_dump_tells_the_chip_and_the_channels_that_are_rescaled(arch, scales):
    x, y = image(np.random.default_rng(5)), None
    for asked in ("v65", "v60"):
        op = node(np.random.default_rng(5), asked, scales=scales)
        y = node(np.random.default_rng(5), arch, scales=scales)(x)
        found = qops.explain(x, y, op=op)
        other = "v60" if arch == "v65" else "v65"
        assert found.exact[0] == f"nnlib-supernode ({arch})"
        assert found.systems[f"nnlib-supernode ({arch})"].startswith("Hexagon nnlib")
        assert found.notes[0].startswith(f"nnlib-supernode ({other}): ")
        assert found.notes[0].endswith("at most, in channels 1, 4")
        assert found.notes[1] == "a v65 rescales the weights of channels 1, 4"
        assert found.notes == found.as_dict()["notes"]
        assert all(note in str(found) for note in found.notes)


def test_without_channels_that_are_rescaled_both_chips_fit():
    rng = np.random.default_rng(5)
    op, x = node(rng, channels=(0, 2)), image(rng)
    found = qops.explain(x, op(x), op=op)
    assert found.exact[:2] == ["nnlib-supernode (v65)", "nnlib-supernode (v60)"]
    assert found.notes == ["a v65 rescales the weights of no channel"]


@pytest.mark.parametrize("rule", ["tflite-double", "shift-floor"])
def test_another_rule_is_found_on_the_exact_sums(rule):
    rng = np.random.default_rng(5)
    op, x = node(rng), image(rng, (1, 40, 40, 8))
    y = op(x)
    sums, step = nnlib.Supernode(op.w, op.bias, (1, 1), "SAME", arch="v60").sums(x)
    scale, zero = float(step) / ((y.max - y.min) / 255), round(-y.min * 255 / (y.max - y.min))
    codes = qops.rules.requantize(sums.astype(np.int32), rule, scale=scale, zero_point=zero, dtype="uint8")
    found = qops.explain(x, (codes, y.min, y.max), op=op)
    assert rule in found.exact
    assert not [name for name in found.exact if name.startswith("nnlib-")]


def nodes(rng):
    def codes(*shape):
        return rng.integers(0, 256, shape, np.uint8), -1.0, 1.0

    def bias(n):
        return rng.integers(-(2**20), 2**20, n, np.int32), -512.0, 512.0

    yield nnlib.DepthwiseSupernode(codes(3, 3, 8, 1), bias(8), (1, 1), "SAME"), (1, 6, 6, 8)
    yield nnlib.InputSupernode(codes(3, 3, 3, 5), bias(5), (2, 2), "SAME", 0.0), (1, 9, 9, 3)
    yield nnlib.InputSupernode(codes(3, 3, 2, 2), bias(2), (1, 1), "SAME"), (1, 9, 9, 2)
    yield nnlib.Supernode3322(codes(3, 3, 2, 2), bias(2), "SAME", -1.1, 1.0), (1, 9, 9, 2)
    yield nnlib.SuperFC(codes(1, 1, 48, 7), bias(7)), (1, 5, 1, 48)


def test_every_node_finds_its_own_rule_in_the_range_of_the_dump():
    rng = np.random.default_rng(1)
    for op, shape in nodes(rng):
        x = image(rng, shape)
        y = op(x)
        found = qops.explain(x, y, op=op)
        assert found.exact[0] == "nnlib-supernode", op
        assert found.notes == []
        off = qops.QTensor(y.data ^ (np.arange(y.data.size).reshape(y.data.shape) == 0), y.min, y.max)
        assert qops.explain(x, off, op=op).notes[0].startswith("nnlib-supernode: 1 differs, by 1 at most, in channel 0")


def test_what_does_not_fit_is_named():
    w, bias = (np.ones((1, 1, 5, 2), np.uint8), 0.0, 1.0), (np.zeros(2, np.int32), -1.0, 1.0)
    op, x = nnlib.Supernode(w, bias, (1, 1), "VALID"), (np.zeros((1, 2, 2, 5), np.uint8), 0.0, 1.0)
    with pytest.raises(ValueError, match=r"^y: expected shape \(1, 2, 2, 2\), got \(1, 2, 2, 5\)"):
        qops.explain(x, x, op=op)
    y = np.zeros((1, 2, 2, 2), np.uint8), 0.5, 1.0
    with pytest.raises(ValueError, match=r"^y: expected a range with 0, got 0.5 to 1.0"):
        qops.explain(x, y, op=op)
    with pytest.raises(TypeError, match=r"^op: expected a prepared supernode of qops.nnlib, got 3"):
        qops.explain(x, y, op=3)
    for name, value in (("scale", 0.5), ("zero_point", 3), ("probe", True), ("b", 1)):
        with pytest.raises(ValueError, match=f"^{name}: expected none beside op, which has all numbers"):
            qops.explain(x, y, op=op, **{name: value})
