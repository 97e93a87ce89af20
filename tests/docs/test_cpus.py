"""The page of sums on CPUs: its entries are computed, and change with what the columns compute."""

import numpy as np
import pytest

from docs import cpus


@pytest.fixture(scope="module")
def rows():
    return [*cpus.table_of_systems()]


@pytest.mark.parametrize(
    ("op", "column", "of_types"),
    [
        ("MatMulInteger, QLinearMatMul", "ort", ["exact", "exact", "exact"]),
        ("MatMulInteger, QLinearMatMul", "ort_avx2", ["**saturates**", "exact", "exact"]),
        ("QLinearConv", "ort_avx2", ["**saturates**", "exact", "exact"]),
        ("MatMulInteger, QLinearMatMul", "ort_neon", ["wraps", "wraps", "exact"]),
        ("convolution", "openvino-avx2", ["**saturates**", "**saturates**", "-"]),
        ("FULLY_CONNECTED", "xnnpack_neon", ["-", "wraps", "-"]),
        ("FULLY_CONNECTED", "xnnpack_arm", ["-", "exact", "-"]),
    ],
)
def test_entries_are_what_real_libraries_do(rows, op, column, of_types):
    row = next(row for row in rows if (row.op, row.column) == (op, column))
    assert [cpus.found(row, types) for types in cpus.TYPES.values()] == of_types


def test_an_entry_says_what_the_sums_are():
    def off(by):
        return cpus.Row("", "", "", lambda x, w: x.astype(np.int64) @ w.astype(np.int64) + by)

    assert [cpus.found(off(by), ("uint8", "int8")) for by in (0, 5, 65536)] == ["exact", "**saturates**", "wraps"]
