"""Probes separate every two rules that are not one function; edges prove which are."""

import json

import numpy as np
import pytest

import qops
from qops import rules
from qops.__main__ import main
from qops.tools.explain import probes

PAIR = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 100, "y_scale": 0.7, "y_zero_point": 30}


@pytest.mark.parametrize("parts", [[[]], [[], [5]], [[3, 3, 1], [2, 1, 2**31 - 1], [-(2**31)]]])
def test_numbers_of_parts_are_given_in_order_and_once(parts):
    assert probes.distinct([np.array(part, np.int32) for part in parts]).tolist() == sorted(set().union(*parts))


def test_edges_are_where_every_code_begins():
    def codes_of(x):
        return rules.requantize(x, "fp32-even", scale=0.0033, zero_point=7)

    firsts, lasts = np.split(probes.edges(codes_of, -128, 127), 2)
    assert codes_of(firsts).tolist() == list(range(-127, 128))
    assert codes_of(lasts).tolist() == list(range(-128, 127))


def test_rules_that_are_left_are_separated_or_said_to_be_one_function():
    x = np.arange(-200, 200, 16, dtype=np.int32)  # too few to decide
    y = rules.requantize(x, "tflite-double", scale=0.25)
    found = qops.explain(x, y, scale=0.25, probe=True)
    assert len(found.exact) > 3
    assert 0 < found.probe.size <= 256
    answers = {r: rules.requantize(found.probe, r, scale=0.25).tobytes() for r in found.exact}
    wide = np.arange(-(2**17), 2**17, dtype=np.int32)
    functions = {r: rules.requantize(wide, r, scale=0.25).tobytes() for r in found.exact}
    assert len(set(answers.values())) >= len(set(functions.values())) > 1
    for group in found.separated.alike:
        assert len({functions[r] for r in group}) == 1


def test_channels_are_probed_each_with_its_scale(rng):
    scales = np.array([0.0, 2.0**-9, 0.0033, 0.00471])  # the first tells nothing
    x = rng.integers(-300, 300, (5, 4)).astype(np.int32)
    y = rules.requantize(x, "fp32-even", scale=scales)
    found = qops.explain(x, y, scale=scales, probe=True)
    channel, acc = found.separated.inputs["channel"], found.probe
    assert acc.shape == channel.shape
    assert channel.max() > 0
    again = {r for group in found.separated.alike for r in group[1:]}
    left = [r for r in found.exact if r not in again]
    answers = {r: rules.requantize(acc, r, scale=scales[channel]).tobytes() for r in left}
    assert len(set(answers.values())) == len(left) > 1


def test_the_nearest_are_separated_if_no_rule_fits(rng):
    x = rng.integers(-3000, 3000, 2000).astype(np.int32)
    y = rules.requantize(x, "fp32-even", scale=0.01)
    y[0] ^= 1
    found = qops.explain(x, y, scale=0.01, probe=True)
    assert not found.exact
    again = {rule for group in found.indistinguishable for rule in group[1:]}
    assert set(found.separated.separates) == {*[v.rule for v in found.excluded if v.rule not in again][:10]}
    assert found.probe.size > 0


@pytest.mark.parametrize(("kind", "op"), [("add", rules.add), ("mul", rules.mul)])
def test_pairs_of_codes(rng, kind, op):
    a, b = np.uint8([[3, 50], [100, 100]])
    rule = next(iter(rules.ADD if kind == "add" else rules.MUL))
    found = qops.explain(a, op(a, b, rule, **PAIR), kind=kind, b=b, probe=True, **PAIR)
    every = np.arange(256, dtype=np.uint8)
    pairs = np.repeat(every, 256), np.tile(every, 256)
    on_all = {op(*pairs, r, **PAIR).tobytes() for r in found.exact}
    assert found.probe.shape[1] == 2
    assert len({op(*found.probe.T.copy(), r, **PAIR).tobytes() for r in found.exact}) == len(on_all) > 1


def test_values():
    x = np.float32([0.0, 1.0])
    found = qops.explain(
        x, rules.quantize(x, "div-even", scale=0.1), kind="quantize", scale=0.1, zero_point=0, probe=True
    )
    by_hand = {r for r, row in rules.QUANTIZE.items() if row.systems == "code by hand"}
    assert set(found.exact) == {*rules.QUANTIZE} - by_hand - {"openvino", "double-div-away"}  # all tail of tflite-opt
    assert len({rules.quantize(found.probe, r, scale=0.1).tobytes() for r in found.exact}) >= 5


@pytest.mark.parametrize("numbers", [{}, {"x_scale": 0.5, "y_scale": 0.3, "y_zero_point": 9}])
@pytest.mark.parametrize("channels", [1, 19])
def test_windows(rng, numbers, channels):
    numbers = {"kernel": (2, 2), "zero_point": 3, **numbers}
    image = np.full((1, 3, 3, channels), 3, np.uint8)  # means that every rule rounds alike
    pools = {name: rule for name, rule in rules.AVERAGE_POOL.items() if rule.systems != "code by hand"}
    kept = {name: rule for name, rule in pools.items() if rule.rescales == ("y_zero_point" in numbers)}
    y = rules.average_pool(image, next(iter(kept)), **numbers)
    found = qops.explain(image, y, kind="average_pool", probe=True, **numbers)
    assert 0 < len(found.probe) <= 256
    assert found.probe.shape[1:] == (2, 3, channels)
    many = rng.integers(0, 256, (300, 2, 3, channels), dtype=np.uint8)
    left = found.exact
    answers, functions = (
        {rules.average_pool(x, rule, **numbers).tobytes() for rule in left} for x in (found.probe, many)
    )
    assert len(answers) >= len(functions) > 1


@pytest.mark.parametrize(
    ("numbers", "kernel"),
    [((0.02, 128, 0.04, 128), (2, 2)), ((0.031, 118, 0.029, 125), (2, 2)), ((0.02, 128, 0.04, 128), (7, 7))],
)
def test_windows_that_differ_in_the_rounding_of_float32_sums_alone_are_found(numbers, kernel):
    x_scale, zero, y_scale, y_zero = numbers
    named = {"kernel": kernel, "zero_point": zero, "x_scale": x_scale, "y_scale": y_scale, "y_zero_point": y_zero}
    image = np.full((1, kernel[0] + 1, kernel[1], 1), zero, np.uint8)  # its mean is 0 by every rule
    y = rules.average_pool(image, "ort", **named)
    found = qops.explain(image, y, kind="average_pool", probe=True, **named)
    ort, whole = (rules.average_pool(found.probe, r, **named) for r in ("ort", "ort-global"))
    assert {"ort", "ort-global"} <= set(found.exact)
    assert not np.array_equal(ort, whole)
    assert found.separated.alike == [["ort", "ort-arm"]]  # which differ where sums are beyond int32 alone


def test_a_range_has_a_probe_that_tells_range_rules_apart():
    x, y = np.zeros(1, np.float32), np.full(1, 85, np.uint8)
    found = qops.explain(x, y, kind="quantize", rmin=-1.0, rmax=2.0, probe=True)
    by = {"tflite": "div-away", "tensorflow-nudge": "div-even"}
    one, other = (
        rules.quantize(found.probe, rule, scale=p.scale, zero_point=p.zero_point)
        for choice, rule in by.items()
        for p in [rules.choose_range(-1.0, 2.0, choice)]
    )
    assert 0 < found.probe.size <= 256
    assert (one != other).any()


def test_a_probe_that_was_run_is_a_dump(tmp_path, capsys):
    scales = np.array([2.0**-9, 0.0033])
    acc = np.zeros((1, 2), np.int32)
    known = {"in_scale": 0.5, "w_scale": scales, "out_scale": 0.5, "zero_point": 0}
    np.savez(tmp_path / "dump.npz", acc=acc, y=acc.astype(np.int8), **known)
    assert main(["explain", str(tmp_path / "dump.npz"), "--probe", str(tmp_path / "probe.npz")]) == 0
    with np.load(tmp_path / "probe.npz") as file:
        probe = dict(file)
    probe["y"] = rules.requantize(probe["acc"], "tflite-double", scale=scales[probe["channel"]])
    np.savez(tmp_path / "answer.npz", **probe)
    capsys.readouterr()
    assert main(["explain", str(tmp_path / "answer.npz"), "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)["exact"]
    assert "tflite-double" in exact
    assert not {"tflite-single", "half-up-double", "fp32-even"} & set(exact)


def test_a_probe_that_separates_nothing_says_so():
    acc = np.arange(-30_000, 30_000)
    made = rules.requantize(acc, "tflite-double", scale=0.0033, zero_point=3)
    found = qops.explain(acc, made, scale=0.0033, zero_point=3, probe=True)
    assert str(found.separated).startswith("no input that was tried tells apart tflite-double = q31")
