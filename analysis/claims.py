"""What qops says about errors: the sentences of `claims.toml`, each with the value measured here."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from analysis import mul_error, network_error, photograph_error
from analysis.network_int8 import EXACT, SATURATING, VARIANTS
from analysis.requantize_error import RATIOS
from analysis.systems import CHAIN, FUSED
from analysis.systems_apart import Compared

SENTENCES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("claims.toml").read_text("utf-8"))


class Claim(NamedTuple):
    """A sentence; it holds while the value measured is at most (`at_least`: at least) the limit."""

    text: str
    measured: float
    limit: float
    at_least: bool = False
    op: str = ""
    system: str = ""

    @property
    def holds(self) -> bool:
        """Whether the sentence is true of what was measured; NaN is not."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


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
        **of_products(found["mul_error"]),
        **of_codes(found),
        **of_photograph(found["photograph"]),
        **of_network(found["network_error"]),
        **of_systems(found["systems_apart"]),
    }


def of_adds(found: Mapping[str, Any]) -> dict[str, float]:
    """Adds of all pairs of codes, and guesses."""
    pairs, curves, guesses = found["add_error"], found["add_ratio_error"], found["add_guess_error"]
    ratio = {c.system.name: c.largest() for c in curves if c.kind.startswith("one-sided")}
    narrow = [s for s in guesses[0].sums if s.passes > 1]
    return {
        "add8_largest": pairs.largest,
        "add8_passes": pairs.passes,
        "add8_ratio": max(ratio[FUSED[0].name]),
        "add8_narrow_guess": guesses[0].free.report.sqnr - min(s.report.sqnr for s in narrow),
        "add32_largest": pairs.rounded,
        "chain_largest": pairs.chain,
    }


def of_products(products: mul_error.Measured) -> dict[str, float]:
    """Products of all pairs of codes."""
    return {"mul8_largest": products.largest, "mul8_passes": products.passes, "mul32_largest": products.rounded}


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
    }


def of_photograph(scenes: Sequence[photograph_error.Measured]) -> dict[str, float]:
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


def of_network(networks: Sequence[network_error.Measured]) -> dict[str, float]:
    """The network that reads digits."""
    plain, contrast = networks
    exact = [m.of(EXACT.name) for m in networks]
    saturating = plain.of(SATURATING.name)
    moved = {r.variant.name: np.abs(r.moved).mean() for r in contrast.results}
    return {
        "digits_exact_accuracy": max(m.lost(r) for m, r in zip(networks, exact, strict=True)),
        "digits_exact_logits": max(np.abs(r.off).max() for r in exact),
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
