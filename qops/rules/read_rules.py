"""Rules of hardware and compilers whose source was read and which were never run: `READ_RULES`."""

from __future__ import annotations

from typing import NamedTuple

from qops._readable import shows_fields
from qops.rules.fitted import FittedRule
from qops.rules.table import TABLE

__all__ = ["READ_RULES", "ReadRule"]


@shows_fields
class ReadRule(NamedTuple):
    """One row of `READ_RULES`.

    Attributes
    ----------
    rule : str or FittedRule
        What `requantize` takes as its rule: a name in `TABLE`, or a rule by its parts.
    systems : str
        Who computes it by its source, and when that was read.
    """

    rule: str | FittedRule
    systems: str

    @property
    def formula(self) -> str:
        """What it computes: the formula of the row of `TABLE`, or the parts of the rule in words."""
        return TABLE[self.rule].formula if isinstance(self.rule, str) else str(self.rule)


_READ = "{}, read on 2026-11-28, not run"
_ROWS: tuple[tuple[str, str | FittedRule, str], ...] = (
    (
        "nvdla",
        FittedRule(15, second="half_away"),
        "NVDLA, NV_NVDLA_HLS_shiftrightsu.v: a multiplier of 16 bits with its sign, which is given",
    ),
    ("gemmini", "fp32-even", "Gemmini, gemmini_params.h: ACC_SCALE, a float32, half even, without a zero point"),
    (
        "gemmini-shift",
        FittedRule(1, second="half_even"),
        "Gemmini, gemmini_params.h: ROUNDING_RIGHT_SHIFT, half even",
    ),
    (
        "xuantie",
        FittedRule(31, split="after", first_shift=32, first="floor", second="half_up"),
        "XuanTie SHL (csi-nn2) on RVV: vmulh, vssra with vxrm 0, vnclip",
    ),
    *(
        (
            f"tpu-mlir-cv18xx-{rounding}",
            rule,
            "Sophgo tpu-mlir, MathUtils.cpp: MultiplierShift for CV18xx, acc * multiplier / 2**right_shift in float32, "
            f"{rounding.replace('-', '_')} (its other modes have no row)",
        )
        for rounding, rule in (("half-even", "tosa-inexact"), ("half-away", "fp32-away"))
    ),
    ("tpu-mlir-tflite", "tflite-double", "Sophgo tpu-mlir, MathUtils.cpp: MultiplierShift, TFLite"),
    *(
        (
            f"tpu-mlir-{rounding.replace('_', '-')}",
            FittedRule(31, second=rounding),
            f"Sophgo tpu-mlir, MathUtils.cpp: MultiplierShift, one shift of 64 bits, {rounding}",
        )
        for rounding in ("half_up", "half_away", "half_even", "half_down", "half_toward_zero", "truncate", "floor")
    ),
    *(
        (
            f"tpu-mlir-qdm-{rounding.replace('_', '-')}",
            FittedRule(31, split="after", first_shift=31, first="half_up", second=rounding),
            f"Sophgo tpu-mlir, MathUtils.cpp: MultiplierShift, QDM, half up at 31, then {rounding}",
        )
        for rounding in ("half_up", "half_away", "half_even", "half_down", "half_toward_zero")
    ),
)
READ_RULES = {name: ReadRule(rule, _READ.format(words)) for name, rule, words in _ROWS}
"""Rules by their sources alone, by name. `qops.explain` tries them where no system that was run gives all integers."""
