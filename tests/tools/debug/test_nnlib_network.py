"""`qops.debug` of lists of prepared ops of nnlib: a range, a rule, the other chip, rescaled channels."""

from functools import partial

import numpy as np
import pytest

import qops
from qops import nnlib

rng = np.random.default_rng(7)
BIAS = np.zeros(8, np.int32), -1.0, 1.0
CODES = rng.integers(60, 140, (3, 3, 8, 8), np.uint8)
CODES[0, 0, 0, [1, 4]] = 255  # 155 codes from the zero, which a V65 rescales
FAR = CODES, -1.0, 1.55
IMAGE = qops.QTensor(rng.integers(0, 256, (1, 9, 9, 8), np.uint8), 0.0, 1.0)


def network(arch="v65", guess_max=4.0):
    depthwise = np.full((3, 3, 8, 1), 30, np.uint8), 0.0, 1.0
    return [
        nnlib.DepthwiseSupernode(depthwise, BIAS, (1, 1), "SAME", 0.0, guess_max),
        nnlib.Supernode(FAR, BIAS, (1, 1), "SAME", -3.0, 3.0, arch=arch),
        partial(nnlib.quantized_avg_pool_8, window=(3, 3), stride=(3, 3), padding="VALID"),
        nnlib.Supernode((CODES[:1, :1], -1.0, 1.55), BIAS, (1, 1), "VALID", -1.0, 1.0, arch=arch),
    ]


NAMES = ["depthwise_supernode", "supernode", "quantized_avg_pool_8", "supernode_1"]


def outputs(ops, x=IMAGE):
    made = []
    for op in ops:
        x = qops.QTensor(*op(x))
        made.append(x)
    return made


def test_the_same_ops_do_not_differ():
    found = qops.debug(network(), IMAGE, device=outputs(network()))
    assert (found.first, found.differs) == (None, False)
    assert [row.name for row in found.layers] == NAMES
    assert [row.differ for row in found.layers] == [0, 0, 0, 0]
    assert [row.rule for row in found.layers] == [
        "nnlib-supernode",
        "nnlib-supernode (v65)",
        "nnlib",
        "nnlib-supernode (v65)",
    ]
    assert found.notes == [f"supernode{n}: a v65 rescales the weights of 2 of 8 channels" for n in ("", "_1")]
    assert "no layer differs" in str(found)
    assert found.page().startswith("<!")


def test_the_other_chip_is_named_and_the_channels_that_are_rescaled():
    found = qops.debug(network(), IMAGE, device=outputs(network("v60")))
    assert found.first.layer == "supernode"
    assert found.first.cause == "computed as on another chip: nnlib-supernode (v60), not nnlib-supernode (v65)"
    assert found.first.rules == ["nnlib-supernode (v60)"]
    assert found.first.where[0].startswith("nnlib-supernode (v65): ")
    assert found.first.where[0].endswith(", in channels 1, 4")
    assert found.first.where[1] == "a v65 rescales the weights of channels 1, 4"
    assert found.layers[1].differ > 0 == found.layers[0].differ


def test_a_range_of_a_session_is_named_and_its_codes_are_right():
    ops = {"first": network(guess_max=None)[0]}
    session = nnlib.Session(ops["first"])
    session(qops.QTensor(np.full_like(IMAGE.data, 255), 0.0, 8.0))
    remembered = session(IMAGE)
    found = qops.debug(ops, IMAGE, device={"first": remembered})
    alone = ops["first"](IMAGE)
    assert remembered.max > alone.max
    assert found.first.cause == (
        f"the range is ({remembered.min}, {remembered.max}), not ({alone.min}, {alone.max}), "
        "as a node finds that has not run before; the codes are right for it"
    )
    assert found.first.rules[0] == "nnlib-supernode"


def test_another_rule_on_the_exact_sums_is_named():
    ops, dump = network("v60"), outputs(network("v60"))
    y = dump[1]
    sums, step = ops[1].sums(dump[0])
    scale = float(step) / ((y.max - y.min) / 255)
    zero = round(-y.min * 255 / (y.max - y.min))
    codes = qops.rules.requantize(sums.astype(np.int32), "shift-floor", scale=scale, zero_point=zero, dtype="uint8")
    dump[1] = qops.QTensor(codes, y.min, y.max)
    found = qops.debug(ops, IMAGE, device=dump)
    assert found.first.layer == "supernode"
    assert found.first.cause == "rounded by another rule: shift-floor"


def test_a_dump_that_no_rule_gives_and_an_op_that_is_no_node():
    dump = outputs(network())
    noise = qops.QTensor(rng.integers(0, 256, dump[1].data.shape, np.uint8), dump[1].min, dump[1].max)
    found = qops.debug(network(), IMAGE, device=[None, noise, None, None])
    assert found.first.cause.startswith("no known rule or mistake; the nearest is ")
    assert [row.differ is None for row in found.layers] == [True, False, True, True]
    pooled = qops.QTensor(dump[2].data ^ 1, dump[2].min, dump[2].max)
    found = qops.debug(network(), IMAGE, device={"quantized_avg_pool_8": pooled, "supernode": dump[1]})
    assert found.first[:3] == (NAMES[2], NAMES[2], "no cause that is known here gives these integers")
    moved = qops.QTensor(dump[2].data, dump[2].min, dump[2].max + 1)
    found = qops.debug(network(), IMAGE, device={"quantized_avg_pool_8": moved})
    assert found.first.cause == f"the range is {dump[1].min, dump[1].max + 1}, not {dump[1].min, dump[1].max}"


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"model": []}, ValueError, "model: expected ops, got none"),
        ({"model": [3]}, TypeError, "model: expected ops, or a dict"),
        ({"device": [None]}, ValueError, "device: expected 4, a tensor or None for each op, got 1"),
        ({"device": [None] * 4}, ValueError, "device: expected the tensor of an op, at least, got none"),
        ({"device": "dump.npz"}, TypeError, "device: expected a tensor for each op, by its name or in a list"),
        ({"device": {"pool": IMAGE}}, ValueError, "device: no op is called 'pool', only depthwise_supernode, "),
        ({"device": {"supernode": IMAGE.data}}, TypeError, r"device\['supernode'\]: "),
        ({"device": {"supernode_1": IMAGE}}, ValueError, r"device\['supernode_1'\]: expected shape \(1, 3, 3, 8\)"),
        ({"data": IMAGE.data}, TypeError, "data: "),
        ({"runtime": "xnnpack"}, ValueError, "runtime: expected none beside a list of ops"),
    ],
)
def test_what_does_not_fit_is_named(words, error, message):
    with pytest.raises(error, match=f"^{message}"):
        qops.debug(**{"model": network(), "data": IMAGE, **words})
