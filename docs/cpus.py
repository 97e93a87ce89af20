"""The page of sums on CPUs: exact, saturates or wraps, by system, CPU and types; its column computes each entry."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qops import onednn, onnx, rules, tflite
from qops.onnx.runtimes import COLUMNS

TEXT = Path(__file__).parent / "text"
K = 64
TYPES = {"u8 x s8": ("uint8", "int8"), "s8 x s8": ("int8", "int8"), "u8 x u8": ("uint8", "uint8")}
"""Data by weights."""


class Row(NamedTuple):
    """A system, what multiplies, and how it sums codes of the types."""

    system: str
    op: str
    column: str
    sums: Callable[[Any, Any], Any]


def extremes(x_type: str, w_type: str) -> Iterator[tuple[Any, Any]]:
    """Rows of the highest and of the lowest codes, by columns of both."""
    of_x, of_w = np.iinfo(x_type), np.iinfo(w_type)
    w = np.stack([np.full(K, of_w.min), np.full(K, of_w.max)], 1).astype(w_type)
    for code in (of_x.min, of_x.max):
        yield np.full((2, K), code, x_type), w


def found(row: Row, types: tuple[str, str]) -> str:
    """What becomes of the largest sums: "exact", "saturates" or "wraps"; "-" where the system has no such types."""
    lost = []
    for x, w in extremes(*types):
        try:
            lost.append(np.asarray(row.sums(x, w), np.int64) - x.astype(np.int64) @ w.astype(np.int64))
        except (TypeError, ValueError):
            return "-"
    off = np.stack(lost)
    return "exact" if not off.any() else "wraps" if not (off % 2**16).any() else "**saturates**"


def convolved(x: Any, w: Any, call: Callable[..., Any]) -> Any:
    """Sums of a convolution whose windows are rows: K / 2 channels and two taps."""
    image = x.reshape(len(x), 2, K // 2).swapaxes(1, 2)
    filters = w.T.reshape(w.shape[1], 2, K // 2).swapaxes(1, 2)
    return call(np.ascontiguousarray(image), np.ascontiguousarray(filters))[:, :, 0]


def fully_connected(kernel: str) -> Callable[[Any, Any], Any]:
    """Sums of TFLite's layer: codes of 16 bits that are far apart tell them, 65,536 to a step."""

    def sums(x: Any, w: Any) -> Any:
        if x.dtype != np.int8 or w.dtype != np.int8:
            raise TypeError("x: TFLite multiplies int8 by int8")
        scales = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 65536.0, "y_zero_point": 0}
        exact = x.astype(np.int64) @ w.astype(np.int64)
        y = tflite.fully_connected(x, w.T.copy(), **scales, kernel=kernel)
        return exact + (y - np.rint(exact / 65536).astype(np.int64)) * 65536

    return sums


def table_of_systems() -> list[Row]:
    """The rows, from the columns and the rules of this package."""
    made = []
    for name, column in COLUMNS.items():
        if column.is_ort:
            of = column.system.replace("onnxruntime on", "onnxruntime 1.32,")
            made += [
                Row(
                    of, "MatMulInteger, QLinearMatMul", name, lambda x, w, n=name: onnx.matmul_integer(x, w, runtime=n)
                ),
                Row(of, "QLinearConv", name, lambda x, w, n=name: convolved(x, w, lambda a, b: qlinear_conv(a, b, n))),
            ]
    for name, rule in rules.ACCUMULATE.items():
        if name != "exact":
            said = rule.systems.split(";")[0]
            made.append(Row(said, "matrix", name, lambda x, w, n=name: rules.accumulate(x, w, rule=n)))
            conv = partial(rules.accumulate_conv, rule=name)
            made.append(Row(said, "convolution", name, lambda x, w, conv=conv: convolved(x, w, conv)))
    for isa in ("avx2", "avx512", "vnni"):
        made.append(Row(f"oneDNN 3.13, x86 with {isa}", "matrix", isa, lambda x, w, n=isa: gemm(x, w, n)))
    x86, arm = ("optimized", "xnnpack", "xnnpack_avx2"), ("optimized_arm", "xnnpack_arm")
    for kernel in (*x86, *arm, "optimized_neon", "xnnpack_neon"):
        made.append(Row("LiteRT 2.3", "FULLY_CONNECTED", kernel, fully_connected(kernel)))
    return made


def qlinear_conv(x: Any, w: Any, runtime: str) -> Any:
    """Sums of a QLinearConv: its codes tell how many steps of 65,536 or less they are off."""
    step = 8192.0
    exact = onnx.conv_integer(x, w).astype(np.int64)
    zero = 128 if x.dtype == np.uint8 else 0
    y = onnx.qlinear_conv(x, 1.0, 0, w, 1.0, 0, step * 2, zero, runtime=runtime).astype(np.int64) - zero
    off = y - np.clip(np.rint(exact / (step * 2)), -128, 127)
    return exact + off.astype(np.int64) * 16384


def gemm(x: Any, w: Any, isa: str) -> Any:
    """Sums of oneDNN's product."""
    call = onednn.gemm_u8s8s32 if x.dtype == np.uint8 else onednn.gemm_s8s8s32
    return call(x, w, isa=isa)


def page() -> str:
    """The page with its table."""
    lines = []
    for row in table_of_systems():
        cells = " | ".join(found(row, types) for types in TYPES.values())
        lines.append(f"| {row.system} | {row.op} | `{row.column}` | {cells} |\n")
    head = f"| system and CPU | op | name here | {' | '.join(TYPES)} |\n| {' | '.join(['---'] * (3 + len(TYPES)))} |\n"
    return (TEXT / "trust/cpus.md").read_text("utf-8").replace("{table}", head + "".join(lines))
