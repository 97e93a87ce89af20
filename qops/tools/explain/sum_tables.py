"""What libraries on kinds of CPU make of the sums of a product of matrices: the rules of the kind "accumulate"."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.isa.machines import MACHINES
from qops.rules.accumulate import Accumulate
from qops.rules.sum_rules import ACCUMULATE, SumLayer

__all__ = ["SumTable", "sum_tables"]

Array = NDArray[Any]
_ORT = "ort_avx2", "ort_neon"
_NEON = "optimized_neon", "xnnpack_neon"
_ONEDNN = {"avx2": "AVX2, without VNNI", "avx512": "AVX-512, without VNNI"}


class SumTable(NamedTuple):
    """Who computes sums in one way.

    Attributes
    ----------
    systems : str
        The library and the CPU.
    sums : callable
        codes (M, K), weights (K, N) -> their product, without zero points. It refuses types that the library refuses.
    """

    systems: str
    sums: Callable[[Array, Array], Array]


def sum_tables() -> dict[str, SumTable]:
    """Give the rules by name: those of `qops.rules.ACCUMULATE`, and columns of onnxruntime, LiteRT and oneDNN.

    Returns
    -------
    dict of str to SumTable
        What is exact is one rule.
    """
    from qops.onnx.runtimes import COLUMNS  # loads this room

    matrix = SumLayer((), (), (), (), 1, 0, 0, 0)
    found = {
        name: SumTable(row.systems, partial(_by_rule, name))
        for name, row in ACCUMULATE.items()
        if name == "exact" or not row.is_exact(matrix)
    }
    for name in _ORT:
        ops = "MatMulInteger, QLinearMatMul, and QLinearConv, whose rows are what is under its windows"
        found[name] = SumTable(f"{COLUMNS[name].system}: {ops}", partial(_by_onnxruntime, name))
    for name in _NEON:
        words = f"LiteRT 2.3 on 64-bit ARM without dot products, {name}: FULLY_CONNECTED, CONV_2D"
        found[name] = SumTable(words, _wrapped)
    for isa, cpu in _ONEDNN.items():
        words = f"oneDNN 3.13 gemm_u8s8s32, gemm_s8s8s32, x86 with {cpu}"
        found[f"gemm-{isa}"] = SumTable(words, partial(_by_onednn, isa))
    return found


def _by_rule(rule: str, x: Array, w: Array) -> Array:
    return Accumulate(w, rule=rule)(x)


def _by_onnxruntime(runtime: str, x: Array, w: Array) -> Array:
    from qops.onnx import matmul_integer

    return matmul_integer(x, w, runtime=runtime)


def _by_onednn(isa: str, x: Array, w: Array) -> Array:
    from qops.onednn import gemm_s8s8s32, gemm_u8s8s32

    return (gemm_u8s8s32 if x.dtype == np.uint8 else gemm_s8s8s32)(x, w, isa=isa)


def _wrapped(x: Array, w: Array) -> Array:
    return MACHINES["neon"].dot(x[:, np.newaxis], np.ascontiguousarray(w.T))
