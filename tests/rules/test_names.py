"""Rules have one spelling each, that of the tables. With its op before it a rule is refused, and the name said."""

import re

import numpy as np
import pytest

from qops import rules

CODES = np.uint8([1, 2])
PAIR = {f"{name}_{word}": value for name in "aby" for word, value in (("scale", 0.5), ("zero_point", 3))}
CALLS = {
    "add/ort-x86": lambda rule: rules.add(CODES, CODES, rule, **PAIR),
    "mul/tflite-double": lambda rule: rules.mul(CODES, CODES, rule, **PAIR),
    "quantize/div-even": lambda rule: rules.quantize([0.5], rule, scale=1.0),
    "avgpool-rescale/ort": lambda rule: rules.average_pool(
        np.zeros((1, 1, 1, 1), np.uint8), rule, kernel=(1, 1), zero_point=0
    ),
    "requantize/half-up-double": lambda rule: rules.requantize([1], rule, scale=0.5),
    "choose/tflite": lambda rule: rules.choose_range(-1.0, 1.0, rule),
    "requantize/rndnu": lambda rule: rules.integers(rule, 0.5),
}


@pytest.mark.parametrize("rule", CALLS)
def test_a_rule_with_its_op_is_refused_and_the_name_is_said(rule):
    with pytest.raises(ValueError, match=f"^rule: '{rule}' is spelt '{rule.split('/')[1]}'"):
        CALLS[rule](rule)


def test_other_words_are_refused_with_the_names_that_there_are():
    with pytest.raises(ValueError, match=r"^rule: expected one of tflite-double, .* got 'add/none'"):
        rules.add(CODES, CODES, "add/none", **PAIR)


TABLES = (
    "TABLE",
    "BLOCKS",
    "ADD",
    "MUL",
    "QUANTIZE",
    "AVERAGE_POOL",
    "RANGE_RULES",
    "REAL_BIAS",
    "READ_RULES",
    "DEQUANTIZE",
    "QUANTIZE_BLOCKS",
)
NO_SYSTEM = {
    "ports by hand",
    "textbooks, code by hand",
    "a bare >>",
    "half added, then >>",
    "a division in C",
    "code by hand",
}
NO_SYSTEM |= {"power-of-two scales"}
VERSION = r"\d+\.\d+|\b[0-9a-f]{7}\b|0x\d+|2015 to 2017|read on 2026-|documentation"


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_a_formula(table):
    for name, row in getattr(rules, table).items():
        assert re.search(r"[a-z]", row.formula), name
        assert row.formula.strip() == row.formula


@pytest.mark.parametrize("table", TABLES)
def test_each_row_says_which_version_of_a_system_it_is_of(table):
    """A version, the commit of what has none, or that it is only documented."""
    for row in getattr(rules, table).values():
        assert row.systems in NO_SYSTEM or all(re.search(VERSION, part) for part in row.systems.split("; "))
