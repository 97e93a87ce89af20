"""What the README says about errors, word for word, each with the value measured here and its limit."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from analysis import mul_error, network_error, photograph_error, requantize_error
from analysis.network_int8 import EXACT, SATURATING, VARIANTS
from analysis.ranges import MANY
from analysis.requantize_error import RATIOS
from analysis.systems import CHAIN, FUSED
from analysis.systems_apart import Compared


class Claim(NamedTuple):
    """A sentence of the README; it holds while the value measured is at most (`at_least`: at least) the limit."""

    text: str
    measured: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the sentence is true of what was measured; NaN is not."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def claims(found: Mapping[str, Any]) -> list[Claim]:
    """Every claim, from what each view (by its stem) measured."""
    return [
        *add_claims(found),
        *mul_claims(found["mul_error"]),
        *code_claims(found),
        *photograph_claims(found["photograph"]),
        *saturation_claims(found["requantize_error"]),
        *network_claims(found["network_error"]),
        *system_claims(found["systems_apart"]),
    ]


def add_claims(found: Mapping[str, Any]) -> list[Claim]:
    """Every claim about adds of all pairs of codes, and guesses."""
    pairs, curves, guesses = found["add_error"], found["add_ratio_error"], found["add_guess_error"]
    ratio = {c.system.name: c.largest() for c in curves if c.kind.startswith("one-sided")}
    narrow = [s for s in guesses[0].sums if s.passes > 1]
    return [
        Claim(
            f"quantized_add_8p8to8: at most 0.6 LSB over all 65,536 pairs of codes of {MANY} pairs of ranges",
            pairs.largest,
            0.6,
        ),
        Claim("quantized_add_8p8to8: at most 2 passes over the data", pairs.passes, 2),
        Claim("quantized_add_8p8to8: at most 0.6 LSB for ranges up to 4096 to 1", max(ratio[FUSED[0].name]), 0.6),
        Claim(
            "a guess too narrow costs a second pass and less than 0.1 dB",
            guesses[0].free.report.sqnr - min(s.report.sqnr for s in narrow),
            0.1,
        ),
        Claim(
            "quantized_add_8p8to32: at most 0.5 + 2**-7 LSB over all pairs of codes of the same ranges",
            pairs.rounded,
            0.5 + 2**-7,
        ),
        Claim(
            "quantized_add_8p8to32, then requantize_32to8: at most 0.51 LSB where both ranges hold 0", pairs.chain, 0.51
        ),
    ]


def mul_claims(products: mul_error.Measured) -> list[Claim]:
    """Every claim about products of all pairs of codes."""
    return [
        Claim(
            f"quantized_mul_8x8to8: at most 0.5 + 2**-4 LSB over all pairs of codes, {products.ranges} pairs of ranges",
            products.largest,
            0.5 + 2**-4,
        ),
        Claim("quantized_mul_8x8to8: at most 2 passes over the data", products.passes, 2),
        Claim("quantized_mul_8x8to32: at most 0.5 + 2**-7 LSB over the same", products.rounded, 0.5 + 2**-7),
    ]


def code_claims(found: Mapping[str, Any]) -> list[Claim]:
    """Every claim about taking values and accumulators to codes."""
    steps, quantized, requantized = found["multiply_shift_error"], found["quantize_error"], found["requantize_error"]
    ours = quantized.curves[0]
    return [
        Claim("requantize_32to8: at most 0.5 + 2**-17 LSB in range", requantized.within, 0.5 + 2**-17),
        Claim("requantize_32to8: codes beyond the range saturate, at any ratio", requantized.beyond, 0.0),
        Claim("quantize: at most 0.5 + 2**-13 LSB", max(*ours.largest, ours.picture.max), 0.5 + 2**-13),
        Claim("quantize: 0 comes back as exactly 0", quantized.zero_back, 0.0),
        Claim(
            "multiply_shift, 7 bits: the factor costs at most 255 * 0.5 / 128 < 1 LSB",
            max(steps.factor_alone),
            255 * 0.5 / 128,
        ),
        Claim("multiply_shift, 7 bits, half_up: at most 1.5 LSB", max(steps.by_factor["half_up"]), 1.5),
        Claim("multiply_shift, 7 bits, floor: less than 2 LSB", max(steps.by_factor["floor"]), 2.0),
    ]


def photograph_claims(scenes: Sequence[photograph_error.Measured]) -> list[Claim]:
    """Every claim about the photograph."""
    near, blur, far = scenes
    fused, chain = FUSED[0].name, CHAIN[0].name
    return [
        Claim("two exposures added: SQNR of 51 dB, fused", near.of(fused).report.sqnr, 51.0, at_least=True),
        Claim("two exposures added: SQNR of 51 dB, as a chain", near.of(chain).report.sqnr, 51.0, at_least=True),
        Claim("two exposures added with a bad guess: at most 0.6 LSB", near.of(fused, "bad").report.max, 0.6),
        Claim(
            "two exposures added with a bad guess: nnlib clips, off by hundreds of LSB",
            near.of(FUSED[1].name, "bad").report.max,
            200,
            at_least=True,
        ),
        Claim("picture and blur added: at most 0.6 LSB, fused", blur.of(fused).report.max, 0.6),
        Claim("exposures 7.5 stops apart: qops at most 0.6 LSB", far.of(fused).report.max, 0.6),
        Claim(
            "exposures 7.5 stops apart: nnlib's spec form wraps int16, off by more than 200 LSB",
            far.of(FUSED[2].name).report.max,
            200,
            at_least=True,
        ),
    ]


def saturation_claims(requantized: requantize_error.Measured) -> list[Claim]:
    """What another system does beyond the output range."""
    theirs = {c.name: c.beyond for c in requantized.curves}["TensorFlow Requantize"]
    return [
        Claim(
            "TensorFlow's Requantize wraps where the input range is 600 times the output range, off by 255 LSB",
            theirs[RATIOS.index(2**9)],
            255,
            at_least=True,
        ),
    ]


def network_claims(networks: Sequence[network_error.Measured]) -> list[Claim]:
    """Every claim about the network that reads digits."""
    plain, contrast = networks
    exact = [m.of(EXACT.name) for m in networks]
    saturating = plain.of(SATURATING.name)
    remedied = [s for m in networks for v in VARIANTS[2:] for s in m.of(v.name).shares()[:2]]
    moved = {r.variant.name: np.abs(r.moved).mean() for r in contrast.results}
    return [
        Claim(
            "digits in exact int8: at most 0.5 points of accuracy lost to float",
            max(m.lost(r) for m, r in zip(networks, exact, strict=True)),
            0.5,
        ),
        Claim("digits in exact int8: logits at most 2 LSB off", max(np.abs(r.off).max() for r in exact), 2.0),
        Claim(
            "digits, plain filters: saturation moves logits by more than 5 LSB",
            np.abs(saturating.moved).max(),
            5.0,
            at_least=True,
        ),
        Claim(
            "digits, plain filters: less than 0.2 % of the pairs of any layer saturate", max(saturating.shares()), 0.002
        ),
        Claim(
            "digits, plain filters: saturation loses less than 1 point of accuracy to float",
            plain.lost(saturating),
            1.0,
        ),
        Claim(
            "digits, halved weights, 7-bit weights or activations: no pair of a convolution saturates",
            max(remedied),
            0.0,
        ),
        Claim(
            "digits, contrast filters: saturation moves logits less, on average, than 7-bit weights do",
            moved[SATURATING.name] / moved["7-bit weights"],
            1.0,
        ),
    ]


def system_claims(found: Sequence[Compared]) -> list[Claim]:
    """Every claim about nnlib beside TensorFlow."""
    exact = ("MatMul_8x8to32", "Conv2d_8x8to32", "Relu_8", "ReluX_8", "MaxPool_8")
    by_name = {c.pair.tensorflow: c for c in found}
    return [
        Claim(
            "nnlib beside TensorFlow: the same codes from MatMul, Conv2d, Relu, ReluX and MaxPool",
            max(c.apart[0].share for c in found if c.pair.nnlib in exact),
            0.0,
        ),
        Claim(
            "nnlib beside TensorFlow: the same products from Mul_8x8to32, in codes 128 times as large",
            max(by_name["QuantizedMul"].apart[0].largest, by_name["QuantizedMul"].apart[1].share),
            0.0,
        ),
        Claim("nnlib beside TensorFlow: 1 LSB apart at most", max(c.apart[0].largest for c in found), 1 + 2**-10),
        Claim(
            "nnlib beside TensorFlow: 40 % of the codes of AvgPool differ, as TensorFlow truncates means",
            by_name["QuantizedAvgPool"].apart[0].share,
            0.4,
            at_least=True,
        ),
        Claim(
            "nnlib beside TensorFlow: 0.5 % of the codes of Requantize differ, if both have one range",
            by_name["Requantize"].apart[1].share,
            0.005,
        ),
        Claim(
            "nnlib beside TensorFlow: the reasons given account for 95 % of every mean difference",
            min(c.explained for c in found),
            0.95,
            at_least=True,
        ),
    ]
