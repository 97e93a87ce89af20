"""One good call of every front-door op, for the tests that hold for all of them."""

import inspect

import numpy as np

import qops
from qops import affine, fixedpoint
from qops._kernels.core import tiers as isa

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
CODES_32 = np.arange(-3, 3, dtype=np.int32).reshape(2, 3) * 300_000_000
REALS = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
OTHER = np.uint8([[200, 10, 255], [0, 1, 77]])

ARGUMENTS = {
    "quantize": {"x": REALS, "min": -1.0, "max": 2.0},
    "dequantize": {"t": (CODES, -1.0, 2.0)},
    "quantized_add_8p8to32": {"a": (CODES, -1.0, 2.0), "b": (OTHER, 0.0, 3.0)},
    "quantized_add_8p8to8": {"a": (CODES, -1.0, 2.0), "b": (OTHER, 0.0, 3.0), "guess": (0.0, 1.0)},
    "requantization_range": {"t": (CODES_32, -4.0, 4.0)},
    "requantize_32to8": {"t": (CODES_32, -4.0, 4.0), "min": -1.0, "max": 1.5},
    "multiply_shift": {"x": CODES, "factor": 0.3, "bits": 7},
    "error": {"t": (CODES, -1.0, 2.0), "reference": REALS},
    "fixedpoint.multiply_shift": {"x": CODES_32, "multiplier": 1 << 30, "right_shift": 32},
    "fixedpoint.quantize_multiplier": {"factor": 0.3},
    "affine.holding_zero": {"min": -1.0, "max": 2.0},
    "affine.exact": {"min": -1.0, "max": 1.55},
    "affine.max_abs": {"limit": 2.0},
    "affine.symmetric": {"limit": 2.0},
}
"""Good arguments of each op."""

OUTPUTS = {
    "quantize": np.uint8,
    "dequantize": np.float32,
    "quantized_add_8p8to32": np.int32,
    "quantized_add_8p8to8": np.uint8,
    "requantize_32to8": np.uint8,
    "multiply_shift": np.int32,
    "fixedpoint.multiply_shift": np.int32,
}
"""Type of `out` of each op that takes one."""


def function(name):
    module, _, attribute = name.rpartition(".")
    return getattr({"": qops, "affine": affine, "fixedpoint": fixedpoint}[module], attribute)


def own_functions(module):
    """The public functions that a module defines, or that a package exports."""
    names = getattr(module, "__all__", None) or vars(module)
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    own = {name: f for name, f in found.items() if inspect.isfunction(inspect.unwrap(f))}
    return own if hasattr(module, "__all__") else {n: f for n, f in own.items() if f.__module__ == module.__name__}


def names():
    """Every front-door op: the functions that qops exports, and those of its two modules of rules."""
    inner = [f"{m.__name__.split('.')[-1]}.{name}" for m in (affine, fixedpoint) for name in own_functions(m)]
    return [*own_functions(qops), *inner]


def first_array(result):
    """The array of a result: a QTensor's codes, or the array itself."""
    return result.data if isinstance(result, qops.QTensor) else result


def same(one, two):
    """Bit equality of two results."""
    if type(one) is tuple:
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            same(left, right)
    elif isinstance(one, qops.ErrorReport):
        assert one[:6] == two[:6]
        assert one.worst == two.worst
        np.testing.assert_array_equal(one.histogram.counts, two.histogram.counts)
    elif isinstance(one, qops.QTensor):
        np.testing.assert_array_equal(one.data, two.data, strict=True)
        assert one[1:] == two[1:]
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, two, strict=True)
    else:
        assert one == two


def on_every_tier(op, *arguments, **keywords):
    """The result of a call, the same bits from the plain loop and from every SIMD body that this CPU has."""
    before, results = isa.name(), []
    try:
        for tier in isa.available():
            isa.use(tier)
            results.append(op(*arguments, **keywords))
    finally:
        isa.use(before)
    for other in results[1:]:
        same(other, results[0])
    return results[0]
