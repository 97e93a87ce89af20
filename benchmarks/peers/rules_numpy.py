"""The numpy forms of the rules: their formulas, a pass for each operation."""

import numpy as np

from benchmarks.case import Candidate, shared
from benchmarks.rules import QUANTIZE, REFERENCES
from benchmarks.rules_pairs import ADD, MUL


def form(formula, dtype):
    """Give a maker of candidates for the formula."""

    def make(**arrays):
        out = shared(next(iter(arrays.values())).size, dtype)
        return Candidate(lambda: np.copyto(out, formula(**arrays), casting="unsafe"), lambda: out, 0)

    return make


FORMS = {
    **{f"rules_{rule}": {"formula": form(formula, np.int8)} for rule, formula in REFERENCES.items()},
    **{f"rules_quantize_{rule}": {"formula": form(formula, np.uint8)} for rule, formula in QUANTIZE.items()},
    **{f"rules_add_{rule}": {"formula": form(formula, np.uint8)} for rule, formula in ADD.items()},
    **{f"rules_mul_{rule}": {"formula": form(formula, np.uint8)} for rule, formula in MUL.items()},
}
