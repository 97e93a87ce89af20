"""The numpy forms of the rules of requantization: their formulas, a pass for each operation."""

import numpy as np

from benchmarks.case import Candidate, shared
from benchmarks.rules import REFERENCES


def form(formula):
    """Give a maker of candidates for the formula."""

    def make(x):
        out = shared(x.size, np.int8)
        return Candidate(lambda: np.copyto(out, formula(x), casting="unsafe"), lambda: out, 0)

    return make


FORMS = {f"rules_{rule}": {"formula": form(formula)} for rule, formula in REFERENCES.items()}
