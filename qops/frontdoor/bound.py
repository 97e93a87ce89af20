"""The error bounds of the front door's ops, by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Never

from numpy.typing import DTypeLike

from qops._kernels.arrays.nearest import expected_one_of
from qops._kernels.arrays.refusal import bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import shown
from qops.codes import of_dtype as _of_dtype

__all__ = ["bound"]

_8, _16, _32 = ("uint8", "int8"), ("uint16", "int16"), ("int32",)
_TABLE: dict[
    str, dict[tuple[str, ...], str]
] = {  # op: the types of the codes that it gives, by default the first one, and where their bound stands
    "add": {_8: "add.BOUND_8P8TO8", _32: "add.BOUND_8P8TO32"},
    "avg_pool": {_8: "pool.BOUND_AVG_POOL"},
    "concat": {_8: "concat.BOUND_CONCAT"},
    "conv2d": {_32: "conv2d.BOUND_CONV2D", _8: "conv2d.BOUND_CONV2D_8"},
    "lookup": {_8: "lookup.BOUND_LOOKUP"},
    "matmul": {_32: "matmul.BOUND_MATMUL", _8: "matmul.BOUND_MATMUL_8"},
    "mul": {_8: "mul.BOUND_8X8TO8", _32: "mul.BOUND_8X8TO32"},
    "pad": {_8: "pad.BOUND_PAD"},
    "quantize": {_8: "quantize.BOUND_QUANTIZE", _16: "quantize.BOUND_QUANTIZE_16"},
    "quantized_add_8p8to8": {_8[:1]: "add.BOUND_8P8TO8"},
    "quantized_add_8p8to32": {_32: "add.BOUND_8P8TO32"},
    "quantized_mul_8x8to8": {_8[:1]: "mul.BOUND_8X8TO8"},
    "quantized_mul_8x8to32": {_32: "mul.BOUND_8X8TO32"},
    "quantized_sub_8p8to8": {_8[:1]: "add.BOUND_8P8TO8"},
    "quantized_sub_8p8to32": {_32: "add.BOUND_8P8TO32"},
    "relu": {_8 + _16 + _32: "relu.BOUND_RELU"},
    "requantize": {_8: "requantize.BOUND_REQUANTIZE"},
    "requantize_32to8": {_8[:1]: "requantize.BOUND_REQUANTIZE"},
    "softmax": {_8: "softmax.BOUND_SOFTMAX"},
    "sub": {_8: "add.BOUND_8P8TO8", _32: "add.BOUND_8P8TO32"},
}


@refusing_unknown
def bound(op: str | Callable[..., Any], dtype: DTypeLike | None = None, **unknown: Never) -> float:
    """Give the largest error of an op of the front door: no valid input makes a larger one.

    The error is the distance between a result and the exact value, in LSB of the result, where the value lies within
    the result's range. The op's documentation says what the bound is made of.

    Parameters
    ----------
    op : str or function
        The op or its name: ``qops.add``, or "add".
    dtype : dtype, optional
        Type of the codes that it gives. By default, the one that it gives by default.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        An op that has no such bound, such as one of a system, or that does not give codes of this type. The error of
        `dequantize` is some roundings to float32, that of `multiply_shift` depends on the data.

    Examples
    --------
    >>> qops.bound("quantized_add_8p8to8")
    0.6
    >>> qops.bound("quantize"), qops.bound("quantize", "int16")
    (0.5001220703125, 0.53125)
    >>> qops.bound(qops.add, "int32") < 0.51
    True

    **Hazard.** A system's op of the same name has another error; it promises its bits, and no bound:

    >>> qops.bound(qops.nnlib.quantized_add_8p8to8)
    Traceback (most recent call last):
    ValueError: op: nnlib.quantized_add_8p8to8 is an op of a system and has no bound; qops.quantized_add_8p8to8 has one
    """
    if unknown:
        raise unknown_keyword(bound, unknown)
    name = _name_of(op)
    rows = _TABLE[name]
    names = [each for types in rows for each in types]
    wanted = names[0] if dtype is None else _of_dtype(dtype).dtype.name
    if wanted not in names:
        raise bad_value("op", f"{name} gives {', '.join(names)}, not {wanted}")
    (place,) = (place for types, place in rows.items() if wanted in types)
    module, _, constant = place.partition(".")
    largest: float = getattr(import_module(f"qops.frontdoor.{module}"), constant)
    return largest


def _name_of(op: object) -> str:
    """Give the name of an op of the front door; ValueError for another."""
    home, name = getattr(op, "__module__", ""), getattr(op, "__name__", op)
    system, _, alone = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if callable(op):
        system = "" if home.startswith("qops.frontdoor.") else home.removeprefix("qops.").partition(".")[0]
    if system not in ("", "qops"):
        other = f"; qops.{alone} has one" if alone in _TABLE else ""
        raise bad_value("op", f"{system}.{alone} is an op of a system and has no bound{other}")
    if alone not in _TABLE:
        raise expected_one_of("op", _TABLE, name, shown(op))
    return alone
