"""Checks the arguments of `explain` and makes a `Dump` of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.nearest import did_you_mean
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, choice, number, shown
from qops.tools.explain.channel_numbers import by_element, quantized_by_element, spread_bias
from qops.tools.explain.fit_data import scale_seen
from qops.tools.explain.number_values import SCALES, checked_numbers
from qops.tools.explain.op_dump import KINDS, Dump

__all__ = ["NEEDED", "OPTIONAL", "check_spelling", "checked_kind", "dump_of"]

_ARGUMENTS = ("x", "y", "kind", "b", "probe", "fit", "op")  # of `explain`, whatever the kind
_PAIR = ("a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
_PAIR_SCALES = _PAIR[::2]
_MADE_OF = ("in_scale", "w_scale", "out_scale")
NEEDED = {  # numbers that must be given; requantize and quantize also need a scale, which is checked separately
    "requantize": (),
    "add": _PAIR,
    "mul": _PAIR,
    "quantize": (),
    "average_pool": ("kernel", "zero_point"),
    "accumulate": (),
}
_ENDS = ("qmin", "qmax")
_BIASED = "bias", "rmin", "rmax", "w_sums", "x_zero_point"
OPTIONAL = {
    "requantize": ("scale", *_MADE_OF, "integers", "zero_point", "axis", "in_zero_point", *_ENDS, *_BIASED),
    "add": ("integers", *_ENDS),
    "mul": ("integers", *_ENDS),
    "quantize": ("scale", "zero_point", "axis", "block", "rmin", "rmax", *_ENDS),
    "average_pool": ("stride", "padding", "count_padding", "x_scale", "y_scale", "y_zero_point", *_ENDS),
    "accumulate": ("x_zero_point", "w_zero_point"),
}
_OLD = {"a_zp", "b_zp", "x_zp", "y_zp"}  # zero points as they were spelt once; refused
_CODES = ("zero_point", "qmin", "qmax", "a_zero_point", "b_zero_point", "y_zero_point")


def dump_of(
    kind: str, x: Any, y: Any, b: Any, numbers: dict[str, Any], name: str = "x", may_lack_scale: bool = False
) -> Dump:
    """Check what was given of an op, and ask by name for what is missing.

    Parameters
    ----------
    kind, x, y, b, numbers
        As `qops.explain` takes them.
    name : str
        What the caller calls `x`.
    may_lack_scale : bool
        Whether a scale of requantize that is missing is read from the codes: one, or with an axis that of each channel.

    Returns
    -------
    Dump

    Raises
    ------
    TypeError, ValueError
        An unknown kind; a number that is missing, not known or no number of its sort; data of the wrong type or shape.
    """
    checked_kind(kind)
    check_spelling(numbers)
    given = {name: value for name, value in numbers.items() if value is not None}
    known = (*NEEDED[kind], *OPTIONAL[kind])
    for word in given:
        if word not in known:
            near = did_you_mean(word, (*known, *_ARGUMENTS))
            raise bad_type(word, f"{kind} has no such number, only {', '.join(known)}{near}")
    for word in NEEDED[kind]:
        if word not in given and not ("integers" in given and word in _PAIR_SCALES):
            raise bad_value(word, f"missing, {kind} cannot be explained without it")
    scales = [word for word in SCALES if word in given]
    if may_lack_scale and kind == "requantize" and not scales and "integers" not in given:
        return _with_scale_seen(x, y, b, given, name)
    if "integers" in given and scales:
        raise bad_value("integers", f"given beside {', '.join(scales)}; expected the integers, or scales")
    if kind == "requantize":
        given = _with_range(given)
        if "integers" not in given:
            _one_of(given, ("scale",), _MADE_OF)
    if kind == "quantize":
        _one_of(given, ("scale", "zero_point"), ("rmin", "rmax"))
    if kind == "average_pool" and ("y_scale" in given or "y_zero_point" in given):
        for word in ("x_scale", "y_scale", "y_zero_point"):
            if word not in given:
                raise bad_value(word, "missing, a pool that rescales has x_scale, y_scale and y_zero_point")
    source, result = as_array(x, name), as_array(y, "y")
    second = None if b is None else as_array(b, "b")
    _check_data(kind, source, result, second, name)
    typed, checked = _typed(kind, source, name), spread_bias(checked_numbers(kind, given))
    data, checked = (quantized_by_element if kind == "quantize" else by_element)(typed, checked)
    _check_codes(checked, np.iinfo(result.dtype))
    dump = Dump(kind, data, result, second, checked)
    if "out_scale" in checked and not np.isfinite(dump.scale()).all():
        raise bad_value("in_scale, w_scale, out_scale", "in_scale * w_scale / out_scale is beyond every float")
    return dump


def _with_scale_seen(x: Any, y: Any, b: Any, given: dict[str, Any], name: str) -> Dump:
    """Give a dump of requantize with the scale that its codes show; with an axis, one for each channel."""
    dump = dump_of("requantize", x, y, b, {**given, "scale": 1.0}, name)
    sums, zero = dump.acc.astype(np.int64) - (dump.numbers.get("in_zero_point") or 0), given.get("zero_point") or 0
    if "axis" not in given:
        return dump.but(scale=scale_seen(sums, dump.y, zero), scale_is_seen=True)
    axis = dump.numbers["axis"]
    if not -sums.ndim <= axis < sums.ndim:
        raise bad_value("axis", f"{axis} is no axis of {name}, shape {sums.shape}")
    rows = zip(*(np.moveaxis(v.reshape(sums.shape), axis, 0) for v in (sums, dump.y)), strict=True)
    return dump.but(scale=np.array([scale_seen(v, codes, zero) for v, codes in rows]), scale_is_seen=True)


def _with_range(given: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a requantization with a range, or a real bias; a range also has a scale and a zero point."""
    if "bias" in given and "in_scale" not in given:
        raise bad_value("bias", "a real bias is added between scales, expected in_scale, w_scale and out_scale as well")
    if "rmin" not in given and "rmax" not in given:
        return given
    for word in ("rmin", "rmax", "in_scale", "w_scale"):
        if word not in given:
            raise bad_value(word, "missing beside a range")
    lo, hi = number(given["rmin"], "rmin"), number(given["rmax"], "rmax")
    if not lo < hi:
        raise bad_value("rmin", f"{lo} is not below rmax, {hi}")
    step = (hi - lo) / 255
    return {"out_scale": step, "zero_point": min(max(round(-lo / step), 0), 255)} | given


def checked_kind(word: str) -> str:
    """Give the kind of an op, if it is one.

    Parameters
    ----------
    word : str
        What a caller or a file says.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        It is no kind.
    """
    if isinstance(word, str) and word == "avgpool":
        raise bad_value("kind", "'avgpool' is spelt 'average_pool'")
    return choice(word, "kind", KINDS)


def check_spelling(names: Iterable[str]) -> None:
    """Refuse zero points as they were spelt once.

    Parameters
    ----------
    names : iterable of str
        The names of what is given.

    Raises
    ------
    TypeError
        One is spelt so.
    """
    for name in names:
        if name in _OLD:
            raise bad_type(name, f"is spelt {name[0]}_zero_point")


def _check_codes(numbers: dict[str, Any], info: "np.iinfo[Any]") -> None:
    """Check that zero points and ends are codes, and that no range has min > max."""
    for word in _CODES:
        if word in numbers and not info.min <= np.min(numbers[word]) <= np.max(numbers[word]) <= info.max:
            raise bad_value(word, f"{shown(numbers[word])} is no code of y, {info.dtype}")
    for low, high in (_ENDS, ("rmin", "rmax")):
        if low in numbers and high in numbers and numbers[low] > numbers[high]:
            raise bad_value(low, f"{numbers[low]} is above {high}, {numbers[high]}")
    if "rmin" in numbers and info.bits != 8:
        raise bad_type("y", f"rmin and rmax are of codes of 8 bits, got {info.dtype}")


def _one_of(given: dict[str, Any], first: tuple[str, ...], second: tuple[str, ...]) -> None:
    """Check that all numbers of one of two groups are given, and none of the other."""
    groups = [[name for name in names if name in given] for names in (first, second)]
    if groups[0] and groups[1]:
        reason = f"given beside {', '.join(groups[1])}; expected {' and '.join(first)}, or the others"
        raise bad_value(groups[0][0], reason)
    for name in second if groups[1] else first:
        if name not in given:
            raise bad_value(name, f"missing, expected {' and '.join(first)}, or {', '.join(second)}")


def _check_data(kind: str, x: NDArray[Any], y: NDArray[Any], b: Any, name: str) -> None:
    if y.dtype.kind not in "iu" or y.dtype.itemsize > 4 or y.dtype == np.uint32:
        more = "; np.array(y, 'int8') gives codes a type, as dtype does in a json dump" if y.dtype == np.int64 else ""
        raise bad_type("y", f"expected codes of int8, uint8, int16, uint16 or int32, got {y.dtype}{more}")
    if x.dtype.kind not in ("f" if kind == "quantize" else "iu"):
        raise bad_type(name, f"expected {'float32 values' if kind == 'quantize' else 'integers'}, got {x.dtype}")
    if y.size == 0:
        raise bad_value("y", "has no elements, so nothing to explain")
    if (b is None) != (kind not in ("add", "mul", "accumulate")):
        raise bad_value(
            "b", f"{'missing' if b is None else 'given'}, {kind} has {'two operands' if b is None else 'one'}"
        )
    if kind == "accumulate":
        _check_product(x, y, b, name)
        return
    if kind in ("add", "mul", "average_pool"):
        if x.dtype not in (np.int8, np.uint8, np.int16):
            raise bad_type(name, f"expected int8 or uint8 or int16 codes, got {x.dtype}")
        for codes, word in ((y, "y"), (b, "b")):
            if codes is not None and codes.dtype != x.dtype:
                raise bad_type(word, f"expected {x.dtype} codes as {name}, got {codes.dtype}")
    if kind != "average_pool" and x.size != y.size:
        raise bad_value("y", f"{y.size} elements, shape {y.shape}, for the {x.size} of {name}, shape {x.shape}")


def _check_product(x: NDArray[Any], y: NDArray[Any], w: NDArray[Any], name: str) -> None:
    """Check codes (..., K), weights (K, N) and their sums (..., N)."""
    for codes, word in ((x, name), (w, "b")):
        if codes.dtype not in (np.int8, np.uint8):
            raise bad_type(word, f"expected int8 or uint8 codes, got {codes.dtype}")
    if y.dtype != np.int32:
        raise bad_type("y", f"expected sums of int32, got {y.dtype}")
    if x.ndim == 0 or w.ndim != 2 or x.shape[-1] != len(w):
        raise bad_value(f"{name}, b", f"shapes {x.shape} and {w.shape} do not fit a matrix product")
    if y.size != x.size // len(w) * w.shape[1]:
        raise bad_value(
            "y", f"shape {y.shape}, the product of {x.shape} and {w.shape} has {(*x.shape[:-1], w.shape[1])}"
        )


def _typed(kind: str, x: NDArray[Any], name: str) -> NDArray[Any]:
    if kind == "quantize":
        if np.isnan(x).any():
            raise bad_value(name, "has NaN, for which no rule has a code")
        with np.errstate(over="ignore"):
            return x.astype(np.float32, copy=False)
    if kind != "requantize":
        return x
    least, most = int(x.min()), int(x.max())
    if min(least, -most - 1) >= -(2**31):
        return x.astype(np.int32, copy=False)
    if max(-least, most) >= 2**48:
        raise bad_value(name, f"48 bits do not hold its values, {least} to {most}")
    return x.astype(np.int64)
