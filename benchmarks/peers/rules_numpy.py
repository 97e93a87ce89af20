"""The numpy forms of the rules: their formulas, a pass for each operation."""

from functools import partial

import numpy as np

from benchmarks import rules_pools, rules_wide
from benchmarks.case import Candidate, shared
from benchmarks.rules import QUANTIZE, REFERENCES
from benchmarks.rules_binary import ADD, MUL


def form(formula, dtype):
    """Give a maker of candidates for the formula."""

    def make(**arrays):
        first = next(iter(arrays.values()))
        out = shared(first.size, dtype).reshape(first.shape)
        return Candidate(lambda: np.copyto(out, formula(**arrays), casting="unsafe"), lambda: out, 0)

    return make


def pool(formula):
    """Give a maker of candidates for the formula of a pool."""

    def make(x):
        out = rules_pools.blank_result(x)
        return Candidate(lambda: np.copyto(out, formula(x), casting="unsafe"), lambda: out, 0)

    return make


WIDE = rules_wide.REFERENCES
FORMS = {
    **{f"rules_{rule}": {"formula": form(formula, np.int8)} for rule, formula in REFERENCES.items()},
    **{f"rules_quantize_{rule}": {"formula": form(formula, np.uint8)} for rule, formula in QUANTIZE.items()},
    **{f"rules_add_{rule}": {"formula": form(formula, np.uint8)} for rule, formula in ADD.items()},
    **{f"rules_mul_{rule}": {"formula": form(formula, np.uint8)} for rule, formula in MUL.items()},
    **{f"rules_avg_pool_{rule}": {"formula": pool(formula)} for rule, formula in rules_pools.REFERENCES.items()},
    **{f"rules_channels_{rule}": {"formula": form(partial(rules_wide.by_channel, rule), np.int8)} for rule in WIDE},
    **{f"rules_s16_{rule}": {"formula": form(partial(rules_wide.in_16_bits, rule), np.int16)} for rule in WIDE},
    **{
        f"rules_{name}_s16_{rule}": {"formula": form(partial(exact, rule), np.int16)}
        for name, (_, exact, _) in rules_wide.PAIRS.items()
        for rule in rules_wide.ROUNDED
    },
}
