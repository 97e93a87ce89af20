"""The integer loops of three adds of uint8 codes, with the mistakes that a port may make in them, and in C."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops.codes import TABLE

__all__ = ["FORMS", "Form", "Integers"]

Integers: TypeAlias = dict[str, int]
Wide: TypeAlias = NDArray[np.int64]
_CODES = TABLE["u8"]
_TRUNCATES, _NO_WRAP, _NO_SAT = "shifts toward zero", "x does not wrap", "x not saturated to 16 bits"


class Form(NamedTuple):
    """One add.

    Attributes
    ----------
    x : callable
        (integers, a, b) -> x, the value before the last step.
    last : callable
        (integers, x) -> codes before they saturate.
    flags : tuple of str
        Names of mistakes. A mistake is made if the integers hold its name with a value of 1.
    c : str
        The functions ``add_x`` and ``add_y`` in C, in which INTEGERS stands for the arguments.
    systems : str
        Who adds so.
    """

    x: Callable[[Integers, Wide, Wide], Wide]
    last: Callable[[Integers, Wide], Wide]
    flags: tuple[str, ...]
    c: str
    systems: str

    def run(self, i: Integers, a: NDArray[np.uint8], b: NDArray[np.uint8]) -> tuple[Wide, NDArray[np.uint8]]:
        """Give x and the codes."""
        x = self.x(i, a.astype(np.int64), b.astype(np.int64))
        return x, np.clip(self.last(i, x), _CODES.lowest, _CODES.highest).astype(np.uint8)


def _shift(i: Integers, v: Any, n: int) -> Any:
    return np.sign(v) * (np.abs(v) >> n) if i.get(_TRUNCATES) else v >> n


def _wrap(v: Any) -> Any:
    return ((v + 2**15) & (2**16 - 1)) - 2**15


def _frontdoor_x(i: Integers, a: Wide, b: Wide) -> Wide:
    return ((a << 8) * i["ka"] >> 16) + ((b << 8) * i["kb"] >> 16) + i["offset"]


def _flat_x(i: Integers, a: Wide, b: Wide) -> Wide:
    return np.asarray(_shift(i, a * i["ka"] + b * i["kb"], i["first_shift"]))


def _flat_last(i: Integers, x: Wide) -> Wide:
    moved = x + i["offset"]
    moved = moved if i.get(_NO_SAT) else np.clip(moved, -(2**15), 2**15 - 1)
    return np.asarray(_shift(i, moved + i["half"], i["right_shift"]))


def _spec_x(i: Integers, a: Wide, b: Wide) -> Wide:
    x = _shift(i, (a - 128) * i["ialpha"] + i["first_half"], i["first_shift"]) + _wrap(b + i["ikappa"])
    return np.asarray(x if i.get(_NO_WRAP) else _wrap(x))


def _spec_last(i: Integers, x: Wide) -> Wide:
    return np.asarray(_wrap(_shift(i, x * i["recip"] + i["half"], i["right_shift"]) - i["offset"]))


_C_HEAD = """static int32_t shifted(int32_t v, int32_t n)
{
    return v >= 0 ? v >> n : ~(~v >> n);
}

static int32_t clamped(int32_t v, int32_t lo, int32_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}
"""
_C_FRONTDOOR = """
static int32_t add_x(int32_t a, int32_t b, INTEGERS)
{
    (void)right_shift;
    return (int32_t)((uint32_t)(a << 8) * (uint32_t)ka >> 16) + (int32_t)((uint32_t)(b << 8) * (uint32_t)kb >> 16)
        + offset;
}

static int32_t add_y(int32_t x, INTEGERS)
{
    (void)ka, (void)kb, (void)offset;
    return clamped(shifted(x, right_shift), 0, 255);
}
"""
_C_FLAT = """
static int32_t add_x(int32_t a, int32_t b, INTEGERS)
{
    (void)offset, (void)right_shift, (void)half;
    return shifted(a * ka + b * kb, first_shift);
}

static int32_t add_y(int32_t x, INTEGERS)
{
    (void)ka, (void)kb, (void)first_shift;
    return clamped(shifted(clamped(x + offset, -32768, 32767) + half, right_shift), 0, 255);
}
"""
_C_SPEC = """
static int32_t wrapped(int32_t v)
{
    return (int32_t)(((uint32_t)v + 32768u) & 65535u) - 32768;
}

static int32_t add_x(int32_t a, int32_t b, INTEGERS)
{
    (void)recip, (void)offset, (void)half, (void)right_shift;
    return wrapped(shifted((a - 128) * ialpha + first_half, first_shift) + wrapped(b + ikappa));
}

static int32_t add_y(int32_t x, INTEGERS)
{
    (void)ialpha, (void)ikappa, (void)first_half, (void)first_shift;
    return clamped(wrapped(shifted(x * recip + half, right_shift) - offset), 0, 255);
}
"""
FORMS = {
    "frontdoor": Form(
        _frontdoor_x,
        lambda i, x: _shift(i, x, i["right_shift"]),
        (_TRUNCATES,),
        _C_HEAD + _C_FRONTDOOR,
        "qops.quantized_add_8p8to8 with a range",
    ),
    "nnlib-flat": Form(
        _flat_x,
        _flat_last,
        (_TRUNCATES, _NO_SAT),
        _C_HEAD + _C_FLAT,
        "nnlib's QuantizedAdd_8p8to8, the kernel for operands of equal shapes",
    ),
    "nnlib-spec": Form(
        _spec_x,
        _spec_last,
        (_TRUNCATES, _NO_WRAP),
        _C_HEAD + _C_SPEC,
        "nnlib's QuantizedAdd_8p8to8, the speculative kernel",
    ),
}
"""The adds by name."""
