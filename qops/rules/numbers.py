"""What accumulators are requantized by: real scales and integers of the caller, checked."""

from qops._kernels.stage.given import given_integers, row_named
from qops._kernels.stage.rules import Numbers, Words
from qops.rules.table import TABLE, Rule

__all__ = [
    "FLOATS",
    "SINGLES",
    "WORDS",
    "Numbers",
    "given_integers",
    "rule_of",
]

SINGLES = {"float32", "31 bits as a float32"}
"""Multipliers of rules that compute in float32."""
FLOATS = {*SINGLES, "float64", "float64 of a float32"}
"""Multipliers of rules that compute in floats."""
WORDS = {name: Words(row) for name, row in TABLE.items()}
"""The rules of `TABLE` with their words as numbers."""


def rule_of(rule: object) -> Rule:
    """The row of a name; ValueError if there is none."""
    return row_named(rule, TABLE)
