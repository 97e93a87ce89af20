"""The names of rules, as every table, `qops.explain` and every dump spell them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from qops.checks import choice

__all__ = ["rule_named"]


def rule_named(rule: Any, table: Collection[str]) -> str:
    """Give the name of a rule of a table; ValueError, which says the right name for one with its op before it."""
    if isinstance(rule, str) and rule not in table:
        alone = rule.rpartition("/")[2]
        if alone in table:
            raise ValueError(f"rule: {rule!r} is spelt {alone!r}, without its op")
    return choice(rule, "rule", table)
