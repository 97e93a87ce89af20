"""What qops claims about errors: the sentences of `claims.toml`, each with the value that is measured here."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis import nnlib_error, ops_error, photograph, sweep_error
from analysis.network_int8 import EXACT, FRONT_DOOR, SATURATING, VARIANTS, Measured
from analysis.ranges import hold_zero
from analysis.requantize_error import RATIOS
from analysis.summary import Claim
from analysis.systems import ALONE, CHAIN, FUSED, PRODUCTS
from analysis.systems_apart import Compared

SENTENCES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("claims.toml").read_text("utf-8"))


def claims(found: Mapping[str, Any]) -> list[Claim]:
    """Every claim, in the order of the file, from what each view (by its stem) measured."""
    value = measured(found)
    return [
        Claim(c["text"], float(value[key]), *_limit(c), c["op"], c.get("system", "")) for key, c in SENTENCES.items()
    ]


def _limit(sentence: Mapping[str, Any]) -> tuple[float, bool]:
    at_least = "at_least" in sentence
    return float(sentence["at_least" if at_least else "at_most"]), at_least


def measured(found: Mapping[str, Any]) -> dict[str, float]:
    """The value of every claim by its key."""
    return {
        **of_adds(found),
        **of_sweep(found["sweep_error"]),
        **of_codes(found),
        **of_ops(found["ops_error"]),
        **of_nnlib(found["nnlib_error"]),
        **of_photograph(found["photograph"]),
        **of_network(found["network_error"]),
        **of_systems(found["systems_apart"]),
    }


def of_adds(found: Mapping[str, Any]) -> dict[str, float]:
    """Adds by the ratio of the ranges, and by the guess."""
    curves, guesses = found["add_ratio_error"], found["add_guess_error"]
    ratio = {c.system.name: c.largest() for c in curves if c.kind.startswith("one-sided")}
    narrow = [s for s in guesses[0].sums if s.passes > 1]
    return {
        "add8_ratio": max(ratio[FUSED[0].name]),
        "add8_narrow_guess": guesses[0].free.report.sqnr - min(s.report.sqnr for s in narrow),
    }


def of_sweep(found: sweep_error.Measured) -> dict[str, float]:
    """Adds and products of all pairs of codes of many ranges."""
    fused, chain, product = (found.of(s) for s in (FUSED[0], CHAIN[0], PRODUCTS[0]))
    wide = {s.op: found.of(s) for s in ALONE}
    return {
        "add8_largest": max(r.max_lsb for r in fused),
        "add8_passes": max(r.info for r in fused),
        "chain_largest": max(r.max_lsb for r in chain if hold_zero(*r.ranges)),
        "sub8_largest": max(r.max_lsb for r in wide["subtract into 8 bits"]),
        "sub32_largest": max(r.max_lsb for r in wide["subtract into 32 bits"]),
        "mul8_largest": max(r.max_lsb for r in product),
        "mul8_passes": max(r.info for r in product),
        "add32_largest": max(r.max_lsb for r in wide["add into 32 bits"]),
        "mul32_largest": max(r.max_lsb for r in wide["multiply into 32 bits"]),
    }


def of_codes(found: Mapping[str, Any]) -> dict[str, float]:
    """Values and accumulators taken to codes."""
    steps, quantized, requantized = found["multiply_shift_error"], found["quantize_error"], found["requantize_error"]
    ours = quantized.curves[0]
    theirs = {c.name: c.beyond for c in requantized.curves}["TensorFlow Requantize"]
    return {
        "requantize_within": requantized.within,
        "requantize_beyond": requantized.beyond,
        "requantize_wraps": theirs[RATIOS.index(2**9)],
        "quantize_largest": max(*ours.largest, ours.picture.max),
        "quantize_zero": quantized.zero_back,
        "factor_alone": max(steps.factor_alone),
        "shift_half_up": max(steps.by_factor["half_up"]),
        "shift_floor": max(steps.by_factor["floor"]),
        **{f"shift_{r}": steps.by_bits[r][7].max for r in ("half_away", "half_even", "truncate")},
    }


def of_ops(found: Sequence[ops_error.Measured]) -> dict[str, float]:
    """Layers, pools, joins and functions."""
    by_claim = {m.op.claim: m for m in found}
    errors = by_claim["dequantize"].errors
    parts = max(e.found.max * e.found.lsb / max(map(abs, e.operands[0])) for e in errors)
    return {key: m.largest for key, m in by_claim.items()} | {"dequantize": parts * 2**21}


def of_nnlib(found: Sequence[nnlib_error.Measured]) -> dict[str, float]:
    """Ops of nnlib that networks run, where 0 is on a code, and what is added where it is not."""
    by_claim = {m.op.claim: m for m in found}
    between = by_claim["nnlib_tanh"].largest(nnlib_error.BETWEEN)
    return {key: m.largest(*nnlib_error.ON_A_CODE) for key, m in by_claim.items()} | {"nnlib_between": between}


def of_photograph(scenes: Sequence[photograph.Measured]) -> dict[str, float]:
    """The photograph."""
    near, blur, far = scenes
    fused, flat, spec = (s.name for s in FUSED)
    return {
        "exposures_fused": near.of(fused).report.sqnr,
        "exposures_chain": near.of(CHAIN[0].name).report.sqnr,
        "exposures_bad_guess": near.of(fused, "bad").report.max,
        "exposures_bad_guess_nnlib": near.of(flat, "bad").report.max,
        "blur_fused": blur.of(fused).report.max,
        "far_fused": far.of(fused).report.max,
        "far_spec": far.of(spec).report.max,
    }


def of_network(networks: Sequence[Measured]) -> dict[str, float]:
    """The network that reads digits."""
    plain, contrast = networks
    exact, front = ([m.of(v.name) for m in networks] for v in (EXACT, FRONT_DOOR))
    saturating = plain.of(SATURATING.name)
    moved = {r.variant.name: np.abs(r.moved).mean() for r in contrast.results}
    return {
        "digits_exact_accuracy": max(m.lost(r) for m, r in zip(networks, exact, strict=True)),
        "digits_exact_logits": max(np.abs(r.off).max() for r in exact),
        "digits_front_accuracy": max(m.lost(r) for m, r in zip(networks, front, strict=True)),
        "digits_front_logits": max(np.abs(r.off).max() for r in front),
        "digits_saturating_logits": np.abs(saturating.moved).max(),
        "digits_saturating_pairs": max(saturating.shares()),
        "digits_saturating_accuracy": plain.lost(saturating),
        "digits_remedies": max(s for m in networks for v in VARIANTS[2:] for s in m.of(v.name).shares()[:2]),
        "digits_contrast": moved[SATURATING.name] / moved["7-bit weights"],
    }


def of_systems(found: Sequence[Compared]) -> dict[str, float]:
    """Ops of nnlib beside those of TensorFlow."""
    exact = ("MatMul_8x8to32", "Conv2d_8x8to32", "Relu_8", "ReluX_8", "MaxPool_8")
    by_name = {c.pair.tensorflow: c.apart for c in found}
    products = by_name["QuantizedMul"]
    return {
        "systems_same": max(c.apart[0].share for c in found if c.pair.nnlib in exact),
        "systems_products": max(products[0].largest, products[1].share),
        "systems_largest": max(c.apart[0].largest for c in found),
        "systems_means": by_name["QuantizedAvgPool"][0].share,
        "systems_requantize": by_name["Requantize"][1].share,
        "systems_explained": min(c.explained for c in found),
    }
