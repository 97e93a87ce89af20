"""What an installed qops can check by itself: results recorded from real systems, and every SIMD tier."""

import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qops import nnlib, onednn, rules, tensorflow
from qops._kernels.machine import host, tiers
from qops.frontdoor.add import quantized_add_8p8to8, quantized_add_8p8to32
from qops.frontdoor.matmul import matmul
from qops.frontdoor.mul import quantized_mul_8x8to8, quantized_mul_8x8to32
from qops.frontdoor.quantize import dequantize, quantize
from qops.frontdoor.requantize import requantize_32to8

__all__ = ["CALLS", "golden", "lanes", "selftest"]

Arguments = dict[str, Any]
LENGTHS = (*range(1, 140, 3), 255, 256, 257, 4099)


def _triple(i: Arguments, data: str, low: str, high: str) -> tuple[Any, ...]:
    return i[data], i[low], i[high]


def _both(op: Callable[..., Any]) -> Callable[[Arguments, Arguments], Any]:
    return lambda i, attrs: op(_triple(i, "a", "a_min", "a_max"), _triple(i, "b", "b_min", "b_max"))


def _gemm(i: Arguments, attrs: Arguments) -> Any:
    op = onednn.gemm_u8s8s32 if attrs["kind"] == "u8s8" else onednn.gemm_s8s8s32
    names = ("transa", "transb", "alpha", "ao", "bo", "beta", "offsetc", "version", "isa")
    given = {name: attrs[name] for name in names if name in attrs}
    given |= {new: i[old] for new, old in (("c", "C_in"), ("co", "co")) if old in i}
    return (op(i["A"], i["B"], **given),)


def _requantize(i: Arguments, attrs: Arguments) -> Any:
    ends = {name: attrs[name] for name in ("zero_point", "qmin", "qmax")}
    return (rules.requantize(i["acc"], attrs["rule"], scale=attrs["scale"], dtype=np.int8, **ends),)


def _rules_add(i: Arguments, attrs: Arguments) -> Any:
    scales = {f"{name}_scale": attrs[f"{name}_scale"] for name in "aby"}
    zeros = {f"{name}_zero_point": attrs[f"{name}_zp"] for name in "aby"}
    return (rules.add(i["a"], i["b"], attrs["rule"].removeprefix("add/"), **scales, **zeros),)


CALLS: dict[str, Callable[[Arguments, Arguments], Any]] = {
    "nnlib/QuantizedAdd_8p8to32": _both(nnlib.quantized_add_8p8to32),
    "nnlib/QuantizedMul_8x8to8": _both(nnlib.quantized_mul_8x8to8),
    "nnlib/QuantizedMatMul_8x8to32": _both(nnlib.quantized_matmul_8x8to32),
    "nnlib/QuantizeDownAndShrinkRange_32to8": lambda i, attrs: nnlib.quantize_down_and_shrink_range_32to8(
        _triple(i, "x", "in_min", "in_max")
    ),
    "onednn/gemm": _gemm,
    "rules/litert_add": _rules_add,
    "rules/xnnpack_requantize_qs8": _requantize,
    "tensorflow/QuantizeV2": lambda i, attrs: tensorflow.quantize_v2(**i, **attrs),
    "tensorflow/QuantizedAdd": lambda i, attrs: tensorflow.quantized_add(
        _triple(i, "x", "min_x", "max_x"), _triple(i, "y", "min_y", "max_y")
    ),
    "tensorflow/Requantize": lambda i, attrs: tensorflow.requantize(
        _triple(i, "input", "input_min", "input_max"), i["requested_output_min"], i["requested_output_max"], **attrs
    ),
}
"""How the golden cases of an op are run, from their inputs and attributes. Results are in the order of the outputs."""


def golden() -> Iterator[tuple[str, bool]]:
    """Run the golden cases that are packaged.

    Yields
    ------
    tuple of (str, bool)
        The name of a case, and whether every bit is what the real system returned.
    """
    with (files("qops.tools") / "selftest.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        for case in json.loads(str(arrays["cases"])):
            inputs, outputs = (_looked_up(case[part], arrays) for part in ("inputs", "outputs"))
            found = CALLS[case["of"]](inputs, case["attrs"])
            yield f"{case['of']} {case['id']}", all(map(_same, found, outputs.values()))


def _looked_up(values: Arguments, arrays: Any) -> Arguments:
    return {name: arrays[value] if isinstance(value, str) else value for name, value in values.items()}


def _same(one: ArrayLike, other: ArrayLike) -> bool:
    found, wanted = np.asarray(one), np.asarray(other)
    return found.shape == wanted.shape and found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


def lanes() -> Iterator[tuple[str, bool]]:
    """Run ops of every kind on the tier in use, and again in plain loops.

    Yields
    ------
    tuple of (str, bool)
        The name of an op and the length of its data, and whether both gave the same bits.
    """
    tier = tiers.name()
    for n in LENGTHS:
        for name, call in _calls(n).items():
            found = [np.asarray(part).tobytes() for part in call()]
            tiers.use("plain")
            try:
                wanted = [np.asarray(part).tobytes() for part in call()]
            finally:
                tiers.use(tier)
            yield f"{name} of {n}", found == wanted


def _calls(n: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(n)
    a, b = ((rng.integers(0, 256, n, np.uint8), -1.0, high) for high in (2.0, 5.0))
    c = (rng.integers(-(2**31), 2**31, n).astype(np.int32), -3.0, 3.0)
    real, square = rng.normal(0, 3, n).astype(np.float32), (np.uint8(rng.integers(0, 256, (n % 67, 37))), -1.0, 1.0)
    weights = (np.int8(rng.integers(-128, 128, (37, 29))), -1.0, 1.0)
    return {
        "quantize": lambda: quantize(real),
        "dequantize": lambda: (dequantize(a),),
        "quantized_add_8p8to8": lambda: quantized_add_8p8to8(a, b),
        "quantized_add_8p8to32": lambda: quantized_add_8p8to32(a, b),
        "quantized_mul_8x8to8": lambda: quantized_mul_8x8to8(a, b),
        "quantized_mul_8x8to32": lambda: quantized_mul_8x8to32(a, b),
        "requantize_32to8": lambda: requantize_32to8(c),
        "matmul": lambda: matmul(square, weights),
        "nnlib.quantized_add_8p8to8": lambda: nnlib.quantized_add_8p8to8(a, b),
        "nnlib.quantize_down_and_shrink_range_32to8": lambda: nnlib.quantize_down_and_shrink_range_32to8(c),
        "tensorflow.requantize": lambda: tensorflow.requantize(c, -1.0, 2.0),
        "rules.requantize": lambda: (rules.requantize(c[0], "tflite-double", scale=3e-8, dtype=np.int8),),
    }


def host_says() -> str:
    """Say how the host has set the floating point of this thread.

    Returns
    -------
    str
        The rounding mode, and what becomes 0 if it is subnormal.
    """
    flushed = " and ".join(f"subnormal {name}" for name in host.flushes())
    return f"rounds floating point {host.rounding()}, {f'{flushed} become 0' if flushed else 'keeps subnormal numbers'}"


def selftest() -> bool:
    """Check the golden cases and the ops on every tier that this CPU has, and print what was checked.

    The first line says how the host has set floating point. Where it does not round to nearest, nothing is run, because
    every op would raise FloatingPointError.

    Returns
    -------
    bool
        Whether all of it gave the bits that it must.
    """
    print(f"host: {host_says()}")
    if host.rounding() != "to nearest":
        return False
    before, right = tiers.name(), True
    try:
        for tier in tiers.available():
            tiers.use(tier)
            for what, check in (("golden cases", golden), ("calls beside the plain loops", lanes)):
                found = list(check())
                wrong = [name for name, same in found if not same]
                print(f"{tier}: {len(found) - len(wrong)} of {len(found)} {what} give the same bits")
                print(*(f"  wrong: {name}" for name in wrong), sep="\n", end="\n" if wrong else "")
                right &= not wrong
    finally:
        tiers.use(before)
    return right
