"""The main job: every claim holds, a broken one is told, and what is compared is what it says."""

import numpy as np
import pytest

import analysis.__main__ as main
from analysis import claims, hunt, network, network_error, rules_apart
from analysis.network_int8 import EXACT, FRONT_DOOR, SATURATING, VARIANTS, quantize, run_int8
from qops import rules, tensorflow

pytestmark = pytest.mark.long  # all that the analysis measures


@pytest.fixture(autouse=True)
def measured_once(monkeypatch, found):
    monkeypatch.setattr(main, "measure", lambda *_: found)


def test_check_passes_and_draws_nothing(tmp_path, capsys):
    assert main.main(["--check", "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert "BROKEN" not in told.out + told.err
    assert not (tmp_path / "out").exists()


def test_every_sentence_is_measured_and_nothing_else(found):
    assert set(claims.measured(found)) == set(claims.SENTENCES)
    for sentence in claims.SENTENCES.values():
        assert len({"at_most", "at_least"} & set(sentence)) == 1
        assert set(sentence) <= {"op", "system", "text", "at_most", "at_least"}
    assert [c.text for c in claims.claims(found)] == [s["text"] for s in claims.SENTENCES.values()]


@pytest.mark.parametrize("at_least", [False, True])
def test_check_fails_on_every_claim_once_it_is_broken(monkeypatch, capsys, found, at_least):
    true = [c for c in claims.claims(found) if c.at_least is at_least]
    beyond = 1e-9 if at_least else -1e-9
    broken = [c._replace(limit=c.measured + beyond) for c in true]
    assert broken
    for one in broken:
        monkeypatch.setattr(main, "claims", lambda _, one=one: [one])
        assert main.main(["--check"]) == 1
        assert f"BROKEN: {one.text}" in capsys.readouterr().err


def test_check_fails_when_an_op_is_worse(monkeypatch, capsys, found):
    rows = found["sweep_error"].rows
    assert rows[0].op == "add into 8 bits, qops 8p8to8, guess none"
    worse = found["sweep_error"]._replace(rows=[rows[0]._replace(max_lsb=0.61, info=3), *rows[1:]])
    monkeypatch.setattr(main, "measure", lambda *_: {**found, "sweep_error": worse})
    assert main.main(["--check"]) == 1
    assert capsys.readouterr().err.count("BROKEN") == 2


def test_check_fails_when_the_network_is_worse(monkeypatch, capsys, found):
    plain, contrast = found["network_error"]
    exact = plain.of(EXACT.name)
    blind = exact._replace(off=exact.off + 3, run=exact.run._replace(values=[np.roll(exact.run.logits, 1, axis=1)]))
    worse = plain._replace(results=[blind, *plain.results[1:]])
    monkeypatch.setattr(main, "measure", lambda *_: {**found, "network_error": [worse, contrast]})
    assert main.main(["--check"]) == 1
    assert capsys.readouterr().err.count("BROKEN") == 2


def test_nothing_measured_is_not_a_claim_that_holds():
    assert not claims.Claim("", float("nan"), 1.0).holds
    assert not claims.Claim("", float("nan"), 1.0, at_least=True).holds


@pytest.fixture(scope="module")
def unlike(found):
    """Give the share of accumulators at which a rule's code is not the nearest, by situation and rule."""
    situations = found["rules_apart"].situations
    return {name: dict(zip(rules_apart.NAMES, shares, strict=True)) for name, shares in situations.items()}


def test_two_rules_differ_as_often_as_the_other_way_round(found):
    for values in found["rules_apart"].matrices.values():
        np.testing.assert_array_equal(values, values.T)


def test_the_nearest_rule_never_differs_from_itself(unlike):
    assert not any(shares[rules_apart.NEAREST] for shares in unlike.values())


def test_ties_are_where_roundings_differ(unlike):
    above, below = unlike["ties above 0"], unlike["ties below 0"]
    assert above["fp32-even"] == below["fp32-even"] == 0.5, "every other tie goes to the even code"
    assert (above["rndnu"], below["rndnu"]) == (0, 1), "up is away from 0 above it, and not below"


def test_two_roundings_differ_from_one_just_short_of_a_tie(unlike):
    assert unlike["just short of a tie, above 0"]["tflite-double"] == 1
    assert 0 < unlike["network"]["tflite-double"] < 1


def test_rules_that_wrap_or_have_a_lowest_code_differ_beyond_int32(unlike):
    beyond = {name for name, share in unlike["saturated, left shift"].items() if share}
    told = {name for name, rule in rules.TABLE.items() if rule.wraps or rule.beyond == "lowest"}
    assert beyond - told == {"q31", "torch-acl"}, "which are for scales below 1"
    assert told - beyond == {"gemmlowp-legacy"}


@pytest.fixture(scope="module", params=[0, 1], ids=["plain", "contrast"])
def learned(request, found):
    """Give what was measured of a network, what its layers read of the training images, and the test images."""
    m = found["network_error"][request.param]
    return m, network.run_float(m.layers, network.digits()[0].images), m.test.images


def test_network_is_learned_again_bit_for_bit(found):
    for m, contrast in zip(found["network_error"], (False, True), strict=True):
        for layer, again in zip(m.layers, network.learn(network.digits()[0], contrast), strict=True):
            assert np.array_equal(layer.weights, again.weights)
            assert np.array_equal(layer.bias, again.bias)


def test_network_in_float_is_what_the_formulas_say(learned):
    m, _, images = learned
    x = images[:2].astype(np.float64)
    for layer in m.layers[:2]:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = [padded[:, :, y : y + 8, z : z + 8] for y in range(3) for z in range(3)]
        taps = layer.weights.reshape(len(layer.bias), x.shape[1], 9)
        total = sum(np.einsum("nchw,oc->nohw", w, taps[..., i]) for i, w in enumerate(windows))
        x = np.maximum(total + layer.bias[:, None, None], 0)
    x = np.maximum.reduce([x[..., y::2, z::2] for y in (0, 1) for z in (0, 1)])
    logits = x.transpose(0, 2, 3, 1).reshape(2, -1) @ m.layers[2].weights.T + m.layers[2].bias
    assert np.abs(logits - m.logits[:2]).max() < 1e-4


def test_exact_network_is_the_same_with_s8_sources(learned):
    m, seen, images = learned
    signed = EXACT._replace(signed=True)
    logits = run_int8(*quantize(m.layers, seen, signed), images, signed).logits
    assert np.array_equal(logits, m.of(EXACT.name).run.logits)


def test_logits_move_only_where_pairs_saturate(learned):
    m, seen, images = learned
    coded, moved = quantize(m.layers, seen, SATURATING), np.abs(m.of(SATURATING.name).moved).max(axis=1)
    order = np.argsort(moved)
    for i in order[[*range(8), *range(-8, 0)]]:
        one = run_int8(*coded, images[i : i + 1], SATURATING)
        assert sum(s.counts.sum() for s in one.saturated) > 0 or moved[i] == 0
    assert moved[order[0]] == 0 < moved[order[-1]]


def test_the_front_door_is_level_with_the_exact_machine_in_every_layer(learned):
    m, *_ = learned
    for (_, mine), (_, other) in zip(m.of(FRONT_DOOR.name).by_layer, m.of(EXACT.name).by_layer, strict=True):
        assert 0.1 < mine < 1.1 * other


def test_codes_of_the_variants_have_the_bits_they_are_named_for(learned):
    m, seen, _ = learned
    for v in VARIANTS:
        q_a, layers = quantize(m.layers, seen, v)
        tops = {int(np.abs(row).max()) for layer in layers for row in layer.weights.astype(int)}
        assert tops == {63 if v.name == "7-bit weights" else 127}
        assert q_a.values == (127 if v.name == "7-bit activations" else 255)  # images reach 1.0


def test_digits_read_differently_are_shown_first(learned):
    m, *_ = learned
    reads = np.stack([m.logits.argmax(axis=1), *(r.read for r in m.results)])
    unlike = (reads != reads[0]).any(axis=0)[network_error.disputed(m)]
    assert not (unlike[1:] & ~unlike[:-1]).any()
    assert sorted(network_error.disputed(m)) == list(range(len(m.test.labels)))


def test_every_op_that_nnlib_and_tensorflow_share_is_compared(found):
    compared = {c.pair.tensorflow for c in found["systems_apart"]}
    alone = {
        "quantized_batch_norm_with_global_normalization",
        "quantized_instance_norm",
        "quantized_reshape",
        "quantized_resize_bilinear",
        "requantization_range_per_channel",
        "requantize_per_channel",
        "uniform_quantized_add",
        "uniform_quantized_clip_by_value",
    }
    names = {"".join(part.capitalize() for part in name.split("_")) for name in set(tensorflow.__all__) - alone}
    assert {name.replace("Conv2D", "Conv2d").replace("MatMul", "Matmul") for name in compared} == names


def test_what_systems_have_apart_goes_with_the_reasons(found):
    for c in found["systems_apart"]:
        assert c.same == (not c.off.any())
        assert c.same or len(c.apart) > 1, c.pair.name
        assert c.explained > 0.95, c.pair.name
        assert [a.alike for a in c.apart if not a.alike] == [""], c.pair.name
    pool = next(c for c in found["systems_apart"] if c.pair.tensorflow == "QuantizedAvgPool")
    assert set(pool.off.round(3).ravel()) == {0, 1}  # a mean that is truncated is never higher
    bias = next(c for c in found["systems_apart"] if c.pair.tensorflow == "QuantizedBiasAdd")
    reals = bias.pair.steps[0].nnlib.reals
    assert bias.off[reals < -0.1].mean() > 10 * abs(bias.off[reals > 0.1].mean())  # truncated sums below 0 are too high


def test_check_fails_when_two_systems_no_longer_agree(monkeypatch, capsys, found):
    worse = [
        c._replace(apart=[c.apart[0]._replace(share=0.5, largest=2.0), *c.apart[1:]]) for c in found["systems_apart"]
    ]
    monkeypatch.setattr(main, "measure", lambda *_: {**found, "systems_apart": worse})
    assert main.main(["--check"]) == 1
    assert capsys.readouterr().err.count("BROKEN") == 3


def test_each_method_lands_where_its_page_says(found):
    for curve in found["observer_error"]:
        ends = {method: sqnr for method, (_, sqnr) in curve.found.items()}
        assert ends["mse"] > max(curve.sqnr) - 0.05
        if "one value" in curve.name:
            assert ends["mse"] > max(ends["percentile"], ends["entropy"]) + 3
        else:
            assert min(ends["percentile"], ends["entropy"]) > max(curve.sqnr) - 0.5


def test_every_planted_fault_is_found_in_its_layer_with_its_cause(found):
    causes = ("shift-floor", "fp32-even", "scales of channels shifted by one", "the bias left out", "the dump is NCHW")
    hunted = found["hunt"]
    assert [one.named for one in hunted] == [fault.layer for fault in hunt.FAULTS]
    for one, cause in zip(hunted, causes, strict=True):
        assert cause in one.hunt.first.cause
        shares = [row.share for row in one.hunt.layers]
        assert [i for i, share in enumerate(shares) if share] == [one.fault.layer]
