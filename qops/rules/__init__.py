"""The integer arithmetic of many systems as named rules, bit for bit.

requantize, integers            accumulators to codes by a rule of `TABLE`; the multiplier and shift it makes of a scale
add, mul, average_pool          two tensors of codes by a rule of `ADD` or `MUL`; windows by one of `AVERAGE_POOL`
quantize, choose_range          float32 to codes by a rule of `QUANTIZE`; scale and zero point by one of `RANGE_RULES`
real_scale, quantize_multiplier, reduced_multiplier         how systems form a real scale, and integers of it
emit, fewest_bits               a rule in C; the smallest multiplier and shift that are exact over a range

The tables map the name of a rule to its formula and to the systems that use it; ``print(TABLE)`` explains the first.
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
