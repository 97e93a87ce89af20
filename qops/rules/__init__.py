"""Which integers a system makes: requantization, element-wise, quantize and range rules by name, bit for bit.

`TABLE`, `ADD`, `MUL`, `AVERAGE_POOL`, `QUANTIZE` and `RANGE_RULES` are the rules: formulas, and who computes them.
"""

from qops.rules.accumulators import integers, requantize
from qops.rules.c_source import emit
from qops.rules.elementwise import add, mul
from qops.rules.fewest import FewestBits, Tradeoff, fewest_bits
from qops.rules.pairs import ADD, MUL, PairRule
from qops.rules.pooling import AVERAGE_POOL, PoolRule, average_pool
from qops.rules.ranges import RANGE_RULES, QuantParams, RangeRule, choose_range
from qops.rules.scales import quantize_multiplier, real_scale, reduced_multiplier
from qops.rules.table import TABLE, Rule
from qops.rules.values import QUANTIZE, QuantizeRule, quantize

__all__ = [
    "ADD",
    "AVERAGE_POOL",
    "MUL",
    "QUANTIZE",
    "RANGE_RULES",
    "TABLE",
    "FewestBits",
    "PairRule",
    "PoolRule",
    "QuantParams",
    "QuantizeRule",
    "RangeRule",
    "Rule",
    "Tradeoff",
    "add",
    "average_pool",
    "choose_range",
    "emit",
    "fewest_bits",
    "integers",
    "mul",
    "quantize",
    "quantize_multiplier",
    "real_scale",
    "reduced_multiplier",
    "requantize",
]
__dir__ = __all__.copy  # what completion offers
