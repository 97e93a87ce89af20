"""`explain` names what another kind of CPU computed: the sums of each row of the page of CPUs, and rules of columns."""

import re

import numpy as np
import pytest

import qops
from docs import cpus
from qops import onnx, rules, tflite
from qops.__main__ import main
from qops.tflite.kernels import KERNELS
from qops.tflite.types import OF_CPUS
from qops.tools.explain.sum_tables import sum_tables
from qops.tools.explain.verdicts import systems_of

CPU = {"wraps": "64-bit ARM without dot products", "**saturates**": "without VNNI"}
LOSES = [
    pytest.param(row, types, id=f"{row.column}-{row.op.split(',')[0]}-{name}")
    for row in cpus.table_of_systems()
    if row.op != "QLinearConv"
    for name, types in cpus.TYPES.items()
    if cpus.found(row, types) in CPU
]


def extremes(shape, dtype, seed):
    """Codes of a type, most of which are its ends."""
    draw, info = np.random.default_rng(seed), np.iinfo(dtype)
    others = draw.integers(info.min, info.max, shape, dtype, endpoint=True)
    ends = np.where(draw.random(shape) < 0.5, info.min, info.max)
    return np.where(draw.random(shape) < 0.8, ends, others).astype(dtype)


def test_each_kind_of_row_is_among_those_that_lose():
    assert len(LOSES) >= 18
    assert {str(param.values[0].system).split()[0] for param in LOSES} >= {"onnxruntime", "torch", "OpenVINO", "LiteRT"}


@pytest.mark.parametrize(("row", "types"), LOSES)
def test_sums_are_named_with_the_cpu(row, types):
    x, w = extremes((6, cpus.K), types[0], 1), extremes((cpus.K, 5), types[1], 2)
    sums = np.asarray(row.sums(x, w)).astype(np.int32)
    assert (sums != x.astype(np.int32) @ w.astype(np.int32)).any()
    told = qops.explain(x, sums, kind="accumulate", b=w)
    assert "exact" not in told.exact
    column = {"avx2": "gemm-avx2", "avx512": "gemm-avx512"}.get(row.column, row.column)
    assert CPU[cpus.found(row, types)] in told.systems[column]


@pytest.mark.parametrize("runtime", ["ort_avx2", "ort_neon"])
def test_the_sums_of_a_convolution_are_those_of_rows_under_its_windows(runtime):
    """The codes of QLinearConv are those of the sums that are named so, rounded half even."""
    rows, filters = extremes((40, 18), np.uint8, 3), extremes((18, 4), np.int8, 4)
    image = np.ascontiguousarray(rows.reshape(40, 6, 3).swapaxes(1, 2))  # six taps of three channels
    weights = np.ascontiguousarray(filters.T.reshape(4, 6, 3).swapaxes(1, 2))
    y = onnx.qlinear_conv(image, 1.0, 0, weights, 1.0, 0, 2048.0, np.uint8(128), runtime=runtime)[:, :, 0]
    codes = [
        rules.requantize(sums.astype(np.int32), "fp32-even", scales=(1.0, 1.0, 2048.0), zero_point=128, dtype="uint8")
        for sums in (sum_tables()[runtime].sums(rows, filters), sum_tables()["exact"].sums(rows, filters))
    ]
    assert np.array_equal(y, codes[0])
    assert not np.array_equal(y, codes[1])


def test_zero_points_and_axes_in_front():
    x, w = extremes((2, 3, 32), np.uint8, 5), extremes((32, 4), np.int8, 6)
    how = {"x_zero_point": 7, "w_zero_point": -3}
    for rule in ("exact", "fbgemm-avx2"):
        sums = rules.accumulate(x, w, **how, dtype="int32", rule=rule)
        told = qops.explain(x, sums, kind="accumulate", b=w, **how)
        assert told.exact[0] == rule
        off = qops.explain(x, sums + np.int32(1), kind="accumulate", b=w, **how)
        assert (off.exact, off.mistakes, off.nearest[:0]) == ([], [], [])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"x": np.zeros((2, 3), np.int16)}, "x"),
        ({"b": np.zeros((3, 2), np.int32)}, "b"),
        ({"b": np.zeros((4, 2), np.int8)}, "x, b"),
        ({"b": np.zeros(3, np.int8)}, "x, b"),
        ({"b": None}, "b"),
        ({"y": np.zeros((2, 2), np.int8)}, "y"),
        ({"y": np.zeros((2, 3), np.int32)}, "y"),
        ({"scale": 0.5}, "scale"),
        ({"probe": True}, "probe"),
    ],
)
def test_bad_input(change, name):
    given = {"x": np.zeros((2, 3), np.int8), "y": np.zeros((2, 2), np.int32), "b": np.zeros((3, 2), np.int8)}
    with pytest.raises((TypeError, ValueError), match=f"^{name}: "):
        qops.explain(**{**given, **change}, kind="accumulate")


def test_a_file_and_a_page(tmp_path, capsys):
    x, w = extremes((4, 32), np.uint8, 7), extremes((32, 4), np.int8, 8)
    sums = onnx.matmul_integer(x, w, runtime="ort_avx2")
    np.savez(tmp_path / "sums.npz", kind="accumulate", x=x, y=sums, b=w)
    assert main(["explain", str(tmp_path / "sums.npz")]) == 0
    assert "ort_avx2" in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "sums.npz"), "--html"]) == 0
    assert "onnxruntime on x86 with AVX2, without VNNI" in capsys.readouterr().out


FACTS = [
    pytest.param(kernel, fact, rule, id=f"{kernel}-{fact}")
    for kernel, desk in OF_CPUS.items()
    for fact, rule in KERNELS[kernel]._asdict().items()
    if isinstance(rule, str) and rule in rules.TABLE and getattr(KERNELS[desk], fact) != rule
]


@pytest.mark.parametrize(("kernel", "fact", "rule"), FACTS)
def test_a_rule_that_a_column_of_litert_has_and_the_desk_has_not_names_its_cpu(kernel, fact, rule):
    assert re.search(r"LiteRT[^;]* on 64-bit ARM", systems_of("mul" if fact == "mul" else "requantize", rule))


ACC = np.arange(-4000, 4001, 3, dtype=np.int32)
CODES = np.arange(-128, 128, dtype=np.int8)
PAIRS = CODES.repeat(256), np.tile(CODES, 256)
SCALES = {"a_scale": 0.3, "a_zero_point": 3, "b_scale": 0.21, "b_zero_point": -4, "y_scale": 0.07, "y_zero_point": 2}


def connected(kernel, dtype):
    """The codes of a layer of two rows whose sums are `ACC`, and the zero point."""
    zero = 128 if dtype == np.uint8 else 0
    x, w = (np.full((n, 1), zero + 1, dtype) for n in (2, ACC.size))
    how = {"x_scale": 0.75, "x_zero_point": zero, "w_scale": 0.25, "y_scale": 4.0, "y_zero_point": zero}
    how |= {"w_zero_point": zero, "w_type": dtype.__name__}
    return tflite.fully_connected(x, w, ACC - 1, **how, kernel=kernel)[0], zero


@pytest.mark.parametrize(
    ("kernel", "desk", "dtype"),
    [
        ("optimized_arm", "optimized", np.int8),
        ("optimized_neon", "optimized", np.int8),
        ("xnnpack_arm", "xnnpack", np.uint8),
        ("xnnpack_neon", "xnnpack", np.uint8),
    ],
)
def test_layers_of_litert_on_arm(kernel, desk, dtype):
    y, zero = connected(kernel, dtype)
    assert (y != connected(desk, dtype)[0]).any()
    told = qops.explain(ACC, y, in_scale=0.75, w_scale=0.25, out_scale=4.0, zero_point=zero)
    assert any("on 64-bit ARM" in words for words in told.systems.values())


def columns_of_pairs():
    def of_onnx(op, runtime):
        def call(a, b):
            numbers = [v for x in "aby" for v in (SCALES[f"{x}_scale"], np.int8(SCALES[f"{x}_zero_point"]))]
            return op(a, *numbers[:2], b, *numbers[2:], runtime=runtime)

        return call

    for runtime in ("ort_arm", "ort_neon"):
        yield "add", of_onnx(onnx.qlinear_add, runtime), of_onnx(onnx.qlinear_add, "ort")
        yield "mul", of_onnx(onnx.qlinear_mul, runtime), of_onnx(onnx.qlinear_mul, "ort")
    for kernel in ("xnnpack_arm", "xnnpack_neon"):
        yield "mul", *(lambda a, b, k=k: tflite.mul(a, b, **SCALES, kernel=k) for k in (kernel, "xnnpack"))


@pytest.mark.parametrize(("kind", "column", "desk"), [*columns_of_pairs()])
def test_sums_and_products_of_codes_on_arm(kind, column, desk):
    y = column(*PAIRS)
    told = qops.explain(PAIRS[0], y, kind=kind, b=PAIRS[1], **SCALES)
    assert any("on 64-bit ARM" in words for words in told.systems.values())
    if (y == desk(*PAIRS)).all():  # these scales make no ties: the rules are told apart by their names alone
        assert len(told.exact) > 1
