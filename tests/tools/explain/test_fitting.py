"""A rule that no table has is fitted, runs in `rules.requantize` and in C, and says what would decide."""

import json
import subprocess

import numpy as np
import pytest

import qops
from qops import rules
from qops.__main__ import main
from qops.rules import FittedRule
from qops.tools.explain.arguments import dump_of
from qops.tools.explain.fit_data import channels_of
from qops.tools.explain.fit_search import _ends_of

pytestmark = pytest.mark.long
SCALE, ZERO = 0.00333, -3
KNOWN = {"scale": SCALE, "zero_point": ZERO}
HARDWARE = {
    "a multiplier of 16 bits, a product of 48, one rounding": FittedRule(16),
    "11 bits, floored": FittedRule(11, second="floor"),
    "9 bits, of which the last is cut": FittedRule(9, made="floor", second="half_even"),
    "a shift alone": FittedRule(1, second="half_away"),
    "the accumulator shifted first": FittedRule(20, split="before", first_shift=4, first="half_up", second="floor"),
    "two steps": FittedRule(15, split="after", first_shift=-2, first="truncate", second="floor"),
    "inside": FittedRule(24, second="truncate", zero_point="inside"),
    "clamped first": FittedRule(13, second="floor", clamp="before"),
}


def drawn(count=4000):
    draw = np.random.default_rng(8)
    return draw.integers(-60_000, 60_000, count).astype(np.int32)


def by_hand(rule, x, m, n, zero_point):
    """The rule in Python's integers."""

    def rounded(v, k, how):
        whole, rest = v >> k, v & ((1 << k) - 1)
        twice, one = 2 * rest, 1 << k
        up = {
            "floor": False,
            "truncate": v < 0 and rest > 0,
            "half_up": twice >= one,
            "half_away": twice > one or (twice == one and v >= 0),
            "half_even": twice > one or (twice == one and whole % 2 == 1),
        }[how]
        return whole + (up and k > 0)

    k = max(0, min(n, n + rule.first_shift if rule.first_shift < 0 else rule.first_shift))
    k = 0 if rule.split == "once" else k
    v = rounded(x, k, rule.first) * m if rule.split == "before" else x * m
    v = rounded(v, k, rule.first) if rule.split == "after" else v
    if rule.zero_point == "inside":
        return min(max(rounded(v + (zero_point << (n - k)), n - k, rule.second), -128), 127)
    v = rounded(v, n - k, rule.second)
    v = min(max(v, -128), 127) if rule.clamp == "before" else v
    return min(max(v + zero_point, -128), 127)


def integers_of(rule, scale=SCALE):
    return rules.Requantize(rule, scale=scale).integers


@pytest.mark.parametrize("name", HARDWARE)
def test_a_rule_by_its_parts_is_what_it_says(name):
    rule, x = HARDWARE[name], drawn(600)
    m, n = integers_of(rule)
    assert m.bit_length() == rule.bits
    got = rules.requantize(x, rule, scale=SCALE, zero_point=ZERO)
    assert got.tolist() == [by_hand(rule, v, m, n, ZERO) for v in x.tolist()]
    assert np.array_equal(got, rules.Requantize(rule, integers=(m, n), zero_point=ZERO)(x))


@pytest.mark.parametrize("name", HARDWARE)
def test_hardware_that_no_table_has_is_fitted(name):
    rule, x = HARDWARE[name], drawn()
    y = rules.requantize(x, rule, scale=SCALE, zero_point=ZERO)
    found = qops.explain(x, y, scale=SCALE, zero_point=ZERO, fit=True)
    if found.exact:  # so many bits that the data have no code which tells
        assert name.startswith("a multiplier of 16 bits")
        return
    assert found.fit.found
    for one in found.fit.found:
        how = {"scale": SCALE} if one.integers is None else {"integers": one.integers}
        assert np.array_equal(rules.requantize(x, one.rule, zero_point=ZERO, **how), y)
    probe = found.fit.probe
    answers = {rules.requantize(probe, one.rule, scale=SCALE, zero_point=ZERO).tobytes() for one in found.fit.found}
    assert len(answers) == len(found.fit.found), "the probe tells each from each"


def test_the_published_multiplier_of_16_bits_is_found_where_the_data_tell():
    rule, x = HARDWARE["a multiplier of 16 bits, a product of 48, one rounding"], np.arange(-2_000_000, 2_000_000, 97)
    scale = 0.0123456
    y = rules.requantize(x, rule, scale=scale, dtype="int16")
    found = qops.explain(x, y, scale=scale, fit=True)
    assert not found.exact
    assert rule in [one.rule for one in found.fit.found]


@pytest.mark.parametrize("given", [{"scale": SCALE * 1.01}, {}])
def test_a_scale_that_is_not_known_is_fitted(given):
    rule, x = HARDWARE["11 bits, floored"], drawn()
    y = rules.requantize(x, rule, scale=SCALE, zero_point=ZERO)
    found = qops.explain(x, y, zero_point=ZERO, fit=True, **given)
    assert found.fit.found[0].rule.second == "floor"
    m, n = found.fit.found[0].integers
    assert abs(m / 2**n / SCALE - 1) < 0.002
    assert np.array_equal(rules.requantize(x, found.fit.found[0].rule, integers=(m, n), zero_point=ZERO), y)


def test_channels_have_a_multiplier_each():
    rule, x = HARDWARE["11 bits, floored"], drawn(4000).reshape(500, 8)
    scale = np.linspace(0.001, 0.004, 8)
    y = rules.requantize(x, rule, scale=scale, zero_point=ZERO)
    found = qops.explain(x, y, scale=scale, zero_point=ZERO, fit=True)
    for one in found.fit.found:
        assert np.array_equal(rules.requantize(x, one.rule, scale=scale, zero_point=ZERO), y)
    assert rule.second in {one.rule.second for one in found.fit.found}


def test_nothing_is_fitted_to_noise_or_to_a_few_integers():
    x = drawn()
    y = np.random.default_rng(2).integers(-128, 128, x.shape).astype(np.int8)
    found = qops.explain(x, y, scale=SCALE, fit=True)
    assert found.fit.found == []
    assert not found.nearest, "what differs in most integers is not near"
    assert "no rule is near" in str(found)
    few = np.int8([0, 9, -9, 5, 1, 100])
    found = qops.explain(x[:6] // 100, few, scale=SCALE, fit=True)
    assert "too few data to fit" in found.fit.words
    assert "6 integers are too few" in str(found)
    with pytest.raises(ValueError, match=r"^scale: missing, and \d codes between the ends are too few"):
        qops.explain(x[:6] // 100, few, fit=True)


def test_the_c_of_a_fitted_rule_gives_its_codes(tmp_path):
    x, calls, bodies = drawn(300), [], []
    for rule in HARDWARE.values():
        m, n = integers_of(rule)
        text = rules.emit(rule)
        bodies.append(text if not bodies else text[text.index("#ifndef" if "#ifndef" in text else "static int32_t") :])
        name = rule.name.replace("-", "_")
        calls.append(f'for (int i = 0; i < 300; i++) printf("%d ", (int){name}(x[i], {m}, {n}, {ZERO}, -128, 127));')
    data = ", ".join(map(str, x.tolist()))
    main_text = f"int main(void) {{ static const int64_t x[] = {{{data}}}; {' '.join(calls)} return 0; }}"
    (tmp_path / "t.c").write_text("#include <stdio.h>\n" + "\n".join([*bodies, main_text]))
    cc = ["cc", "-std=c11", "-Wall", "-Werror", str(tmp_path / "t.c"), "-o", str(tmp_path / "t")]
    subprocess.run(cc, check=True, timeout=60)
    out = subprocess.run([str(tmp_path / "t")], check=True, capture_output=True, text=True, timeout=60).stdout
    wanted = [rules.requantize(x, rule, scale=SCALE, zero_point=ZERO) for rule in HARDWARE.values()]
    assert out.split() == [str(v) for v in np.concatenate(wanted).tolist()]


def test_the_command_fits_and_writes_a_probe(tmp_path, capsys):
    x = drawn()
    y = rules.requantize(x, HARDWARE["11 bits, floored"], scale=SCALE, zero_point=ZERO)
    np.savez(tmp_path / "dump.npz", kind="requantize", acc=x, y=y, scale=SCALE, zero_point=ZERO)
    asked = ["explain", str(tmp_path / "dump.npz"), "--fit", "--probe", str(tmp_path / "probe.npz")]
    assert main([*asked, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["fit"]
    assert "more inputs would decide" in told["words"]
    assert {rule["second"] for rule in told["rules"]} == {"floor"}
    assert np.load(tmp_path / "probe.npz")["acc"].size >= 1
    assert main([*asked, "--html"]) == 1
    assert "<h2>Fitted</h2>" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bits": 33}, "rule.bits"),
        ({"second": "up"}, "rule.second"),
        ({"first": "floor"}, "rule.first"),
        ({"split": "twice"}, "rule.split"),
        ({"zero_point": "there"}, "rule.zero_point"),
    ],
)
def test_words_that_are_not_known(change, words):
    with pytest.raises(ValueError, match=rf"^{words}: expected"):
        rules.requantize([1], FittedRule(16)._replace(**change), scale=0.5)
    with pytest.raises(ValueError, match=r"^acc: 62 bits"):
        rules.requantize([2**40], FittedRule(32), scale=0.5)
    with pytest.raises(ValueError, match=r"^bias: "):
        rules.requantize([1], FittedRule(16), scale=0.5, bias=1.0)


def test_how_the_scale_was_formed_is_fitted():
    """Scales whose product in float32 is not the double one: the integers of a multiplier tell."""
    rule = FittedRule(31, second="floor", scales="f32-product")
    three = 0.0371, 0.0193, 0.2113
    x = np.arange(-(2**30), 2**30, 2**30 // 1500, dtype=np.int64).astype(np.int32)
    y = rules.requantize(x, rule, scales=three, dtype="int32")
    assert (y != rules.requantize(x, rule._replace(scales="double"), scales=three, dtype="int32")).any()
    found = qops.explain(x, y, **dict(zip(("in_scale", "w_scale", "out_scale"), three, strict=True)), fit=True)
    assert {one.rule.scales for one in found.fit.found} <= {"f32-product", "f32"}
    for one in found.fit.found:
        assert np.array_equal(rules.requantize(x, one.rule, scales=three, dtype="int32"), y)
    assert "the scale formed as f32-product" in str(rule)


@pytest.mark.parametrize("given", [{"scale": np.linspace(0.001, 0.004, 8) * 1.012}, {"axis": 1}])
def test_channels_whose_scales_are_not_known_are_fitted(given):
    rule, x = FittedRule(13, second="floor"), drawn(16_000).reshape(2000, 8)
    scale = np.linspace(0.001, 0.004, 8)
    y = rules.requantize(x, rule, scale=scale, zero_point=ZERO)
    found = qops.explain(x, y, zero_point=ZERO, fit=True, **given)
    assert found.fit.found
    assert found.fit.found[0].rule.second == "floor"
    assert "one pair for each of 8 channels" in str(found)
    assert np.array_equal(found.fit.found[0].integers[0].shape, (8,))
    for one in found.fit.found:
        assert np.array_equal(rules.requantize(x, one.rule, integers=one.integers, zero_point=ZERO), y)
    json.dumps(found.as_dict())


def test_the_multiplier_of_the_fewest_bits_is_found():
    rule, x = FittedRule(9, second="truncate"), np.arange(-300_000, 300_000, 7)
    y = rules.requantize(x, rule, scale=0.0123456, dtype="int16")
    found = qops.explain(x, y, scale=0.0125, fit=True)
    first = found.fit.found[0]
    wanted = integers_of(rule, 0.0123456)
    assert first.rule.bits <= 9
    assert first.integers[0] / 2 ** first.integers[1] == wanted[0] / 2 ** wanted[1]


def test_codes_that_fall_are_told():
    x, y = np.arange(-400, 400), (np.arange(-400, 400) // 4).clip(-120, 120).astype(np.int8)
    y[500] -= 9
    found = qops.explain(x, y, scale=0.2501, fit=True)
    assert found.fit.words.startswith(
        "no rule with a scale above 0 gives these integers, as they fall: acc 99 gave 24, "
    )


def test_the_command_fits_a_scale_that_is_not_there(tmp_path, capsys):
    x = drawn()
    y = rules.requantize(x, HARDWARE["11 bits, floored"], scale=SCALE, zero_point=ZERO)
    np.savez(tmp_path / "dump.npz", kind="requantize", acc=x, y=y, zero_point=ZERO)
    assert main(["explain", str(tmp_path / "dump.npz")]) == 2
    assert "scale: missing" in capsys.readouterr().err
    assert main(["explain", str(tmp_path / "dump.npz"), "--fit", "--probe", str(tmp_path / "probe.npz")]) == 1
    assert "fitted" in capsys.readouterr().out
    with np.load(tmp_path / "probe.npz") as probe:
        assert "scale" not in probe
        assert probe["acc"].size >= 1


def test_scales_of_a_fitted_rule_are_checked():
    with pytest.raises(ValueError, match=r"^scales: expected \(in_scale, w_scale, out_scale\), got"):
        rules.requantize([1], FittedRule(16), scales=(0.1, 0.2, None))
    with pytest.raises(ValueError, match=r"^scales: expected finite numbers above 0"):
        rules.requantize([1], FittedRule(16), scales=(0.1, 0.2, 0.0))
    with pytest.raises(ValueError, match=r"^rule.scales: expected one of"):
        rules.requantize([1], FittedRule(16, scales="f16"), scale=0.5)


@pytest.mark.parametrize("clamp", ["after", "before"])
@pytest.mark.parametrize("split", ["once", "after", "before"])
def test_codes_bound_a_scale_that_is_roughly_known(rng, split, clamp):
    """Ends that leave out the scale of the device would lose it; ends as wide as the guess would search long."""
    first = {} if split == "once" else {"split": split, "first_shift": 8, "first": "half_away"}
    acc, scale = rng.integers(-(2**22), 2**22, 20_000).astype(np.int32), 0.0071
    for rounding in ("floor", "half_up", "truncate"):
        rule = rules.FittedRule(31, second=rounding, clamp=clamp, **first)
        y = rules.requantize(acc, rule, scale=scale, zero_point=-300, dtype=np.int16)
        (data,) = channels_of(dump_of("requantize", acc, y, None, {"scale": scale, "zero_point": -300}))
        low, high = _ends_of(data, scale * 1.01, 0.02, 8 if split == "before" else 0)
        assert low <= scale <= high
        assert high - low < 4e-4 * scale


def biased(x, m, n, added, rounding, zero_point=ZERO):
    """A scale and a real bias in the integers of a port, in Python's integers."""
    floored = {"half_up": 1 << n >> 1, "floor": 0}[rounding]
    codes = [((v * m + added + floored) >> n) + zero_point for v in x.tolist()]
    return np.clip(codes, -128, 127).astype(np.int8)


@pytest.mark.parametrize("given", [{"scale": SCALE}, {"scale": SCALE * 1.01}, {}])
@pytest.mark.parametrize(("steps", "rounding"), [(3.37, "half_up"), (-40.21, "floor")])
def test_a_real_bias_that_is_not_given_is_fitted(given, steps, rounding):
    m, n = round(SCALE * 2**30), 30
    x, added = drawn(20_000), round(steps * 2**30)
    y = biased(x, m, n, added, rounding)
    found = qops.explain(x, y, zero_point=ZERO, fit=True, **given)
    assert found.exact == []
    assert "with a real bias" in found.fit.words
    first = found.fit.found[0]
    half = {"half_up": 0, "floor": 0.5}[rounding] - {"half_up": 0, "floor": 0.5}[first.rule.second]
    assert abs(first.bias + half - steps) < 0.01 + (0.5 if first.rule.second not in ("half_up", "floor") else 0)
    for one in found.fit.found:
        how = {"scale": given["scale"]} if one.integers is None else {"integers": one.integers}
        assert np.array_equal(rules.requantize(x, one.rule, zero_point=ZERO, **how), y)
        assert f"INT64_C({one.rule.added})" in rules.emit(one.rule)
    assert json.loads(json.dumps(found.as_dict()))["fit"]["rules"][0]["bias"] == first.bias
    if len(found.fit.found) > 1:
        assert found.fit.probe.size
        assert "more input" in found.fit.words


@pytest.mark.parametrize("is_given", [True, False])
def test_channels_have_a_real_bias_each(is_given):
    x = drawn(24_000).reshape(3000, 8)
    in_scale, w_scale, out_scale = 0.0513, np.linspace(0.0101, 0.0307, 8), 0.1931
    bias = np.random.default_rng(5).normal(size=8)
    y = np.floor(x * (in_scale * w_scale / out_scale) + bias / out_scale) + ZERO
    y = np.clip(y, -128, 127).astype(np.int8)
    numbers = {"in_scale": in_scale, "w_scale": w_scale, "out_scale": out_scale, "zero_point": ZERO}
    found = qops.explain(x, y, **numbers, fit=True, **({"bias": bias} if is_given else {}))
    assert found.fit.found
    for one in found.fit.found:
        assert np.ndim(one.rule.added[0]) == 0
        assert len(one.rule.added) == 8
        got = rules.requantize(x, one.rule, scales=(in_scale, w_scale, out_scale), zero_point=ZERO)
        assert np.array_equal(got, y)
        assert "int64_t added," in rules.emit(one.rule)
    if is_given:
        np.testing.assert_allclose(found.fit.found[0].bias, bias / out_scale, atol=1e-3)
    with pytest.raises(ValueError, match=r"^rule.added: 8 of them do not fit axis -1"):
        rules.requantize(x[:, :7], found.fit.found[0].rule, scale=0.5)


def test_the_c_of_a_rule_with_a_bias_gives_its_codes(tmp_path):
    x, m, n, added = drawn(300), 13967, 22, -168611840
    one, several = FittedRule(14, added=added), FittedRule(14, second="truncate", added=(added, 77))
    name, other = (rule.name.replace("-", "_") for rule in (one, several))
    second = rules.emit(several)
    text = f"{rules.emit(one)}\n{second[second.index('static int32_t') :]}\n"
    calls = f"{name}(x[i], {m}, {n}, {ZERO}, -128, 127), {other}(x[i], {m}, {n}, 77, {ZERO}, -128, 127)"
    data = ", ".join(map(str, x.tolist()))
    loop = f'for (int i = 0; i < 300; i++) printf("%d %d\\n", {calls});'
    whole = f"#include <stdio.h>\n{text}int main(void) {{ static const int64_t x[] = {{{data}}}; {loop} return 0; }}"
    (tmp_path / "t.c").write_text(whole)
    cc = ["cc", "-std=c11", "-Wall", "-Werror", str(tmp_path / "t.c"), "-o", str(tmp_path / "t")]
    subprocess.run(cc, check=True, timeout=60)
    out = subprocess.run([str(tmp_path / "t")], check=True, capture_output=True, text=True, timeout=60).stdout
    got = np.array([line.split() for line in out.splitlines()], np.int64)
    assert np.array_equal(got[:, 0], rules.requantize(x, one, integers=(m, n), zero_point=ZERO))
    assert np.array_equal(got[:, 0], biased(x, m, n, added, "half_up"))
    whole_rule = rules.requantize(np.stack([x, x], 1), several, integers=(m, n), zero_point=ZERO)
    assert np.array_equal(got[:, 1], whole_rule[:, 1])


def test_what_a_rule_adds_is_checked():
    with pytest.raises(ValueError, match=r"^rule.added: expected 0 by a rule of two shifts, got 5"):
        rules.requantize([1], FittedRule(16, split="after", first_shift=3, first="floor", added=5), scale=0.5)
    with pytest.raises(TypeError, match=r"^rule.added: "):
        rules.requantize([1], FittedRule(16, added=0.5), scale=0.5)
    with pytest.raises(ValueError, match=r"^acc: 62 bits"):
        rules.requantize([2**46], FittedRule(16, added=2**61), scale=0.5)


def test_what_is_fitted_stands_without_rules_that_are_not_near():
    x = drawn(5000)
    found = qops.explain(x, biased(x, round(SCALE * 2**30), 30, round(3.37 * 2**30), "half_up"), **KNOWN, fit=True)
    said = str(found)
    assert "no rule is near: each differs in most integers" in said
    assert "a bias of 3.3" in said
    assert " differ (" not in said, "no rule that is not near is listed beside those that fit"
