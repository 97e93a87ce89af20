"""The names of rules, as every table, `qops.explain` and every dump spell them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from qops.checks import choice

__all__ = ["row_named", "rule_named"]

Row = TypeVar("Row")


def rule_named(rule: Any, table: Collection[str]) -> str:
    """Give the name of a rule of a table; ValueError, which says the right name for one with its op before it."""
    if isinstance(rule, str) and rule not in table:
        alone = rule.rpartition("/")[2]
        if alone in table:
            raise ValueError(f"rule: {rule!r} is spelt {alone!r}, without its op")
    return choice(rule, "rule", table)


def row_named(rule: Any, table: Mapping[str, Row]) -> Row:
    """Give the row of a rule of a table; ValueError as `rule_named`."""
    try:
        return table[rule]
    except (KeyError, TypeError):
        return table[rule_named(rule, table)]
