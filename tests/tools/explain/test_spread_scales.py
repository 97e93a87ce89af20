"""`explain` takes what `rules.quantize` takes: scales and zero points of channels, rows and blocks."""

import numpy as np
import pytest

import qops
from qops import rules
from qops.tools.explain.dump_file import read_dump
from qops.tools.explain.verdicts import rules_of

SHAPE = (12, 300)


def drawn(rng, axis, block):
    x = rng.normal(0, 2, SHAPE).astype(np.float32)
    shape = SHAPE[axis] if block is None else tuple(-(-n // block) if i == axis else n for i, n in enumerate(SHAPE))
    scale = rng.uniform(0.01, 0.05, shape).astype(np.float32)
    return x, {"scale": scale, "zero_point": rng.integers(-20, 21, shape), "axis": axis, "block": block}


@pytest.mark.parametrize("rule", ["div-away", "div-truncate"])
@pytest.mark.parametrize(("axis", "block"), [(0, None), (1, None), (1, 32), (0, 5)])
def test_the_rule_is_named(rng, rule, axis, block):
    x, numbers = drawn(rng, axis, block)
    x[:, ::7] = x[:, ::7].round(1)
    y = rules.quantize(x, rule, dtype="int8", **numbers)
    found = qops.explain(x, y, kind="quantize", probe=True, **numbers)
    assert rule in found.exact
    assert ("div-away" in found.exact) == (rule == "div-away")
    y[3, 4] ^= 1
    assert rule not in qops.explain(x, y, kind="quantize", **numbers).exact


def test_ties_decide_and_the_probe_has_a_scale_for_each_input(rng):
    x, numbers = drawn(rng, 0, None)
    y = rules.quantize(x, "div-even", dtype="int8", **numbers)
    found = qops.explain(x, y, kind="quantize", probe=True, **numbers)
    of = found.separated.numbers
    assert of["scale"].shape == of["zero_point"].shape == found.probe.shape
    again = [
        rules.quantize(found.probe, r, dtype="int8", scale=of["scale"], zero_point=of["zero_point"], axis=0)
        for r in ("div-even", "div-away")
    ]
    assert (again[0] != again[1]).any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"zero_point": 0}, "zero_point left out"),
        ({"scale": "first"}, "one scale for all: that of the first"),
        ({"scale": "reversed"}, "scales in reverse order"),
    ],
)
def test_mistakes_of_channels_are_named(rng, change, words):
    x, numbers = drawn(rng, 0, None)
    scale = numbers["scale"]
    made = {"first": np.full_like(scale, scale[0]), "reversed": scale[::-1]}
    device = numbers | {name: made.get(value, value) for name, value in change.items()}
    y = rules.quantize(x, "div-even", dtype="int8", **device)
    found = qops.explain(x, y, kind="quantize", **numbers)
    assert not found.exact
    assert words in {v.before for v in found.mistakes}


def test_a_file_holds_blocks(rng, tmp_path):
    x, numbers = drawn(rng, 1, 32)
    y = rules.quantize(x, "div-even", dtype="int8", **numbers)
    np.savez(tmp_path / "dump.npz", kind="quantize", x=x, y=y, **numbers)
    assert "div-even" in rules_of(read_dump(tmp_path / "dump.npz"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"axis": 1}, "scale: shape"),
        ({"axis": None, "scale": np.ones(7)}, "axis: missing"),
        ({"axis": None, "block": 4}, "axis: "),
        ({"scale": [0.0] + [1.0] * 11}, "scale: expected numbers above 0"),
        ({"zero_point": [300] * 12}, "zero_point: .* is no code"),
        ({"zero_point": [0.5] * 12}, "zero_point: expected integers"),
        ({"block": 0}, "block: "),
    ],
)
def test_bad_numbers_are_named(rng, change, text):
    x, numbers = drawn(rng, 0, None)
    with pytest.raises((ValueError, TypeError), match=f"^{text}"):
        qops.explain(x, np.zeros(SHAPE, np.int8), kind="quantize", **numbers | change)
