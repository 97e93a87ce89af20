"""qops.codes: each row stands for the values that its formula says, and kernels have the same rows."""

from fractions import Fraction

import numpy as np
import pytest
from qops._kernels.arrays.codes import code_type_of_dtype

import qops
from qops import QTensor, codes


@pytest.mark.parametrize("row", codes.TABLE.values(), ids=lambda row: row.name)
def test_every_row_reads_its_codes_as_its_formula_says(row):
    """Min + (q - lowest) * step, or q * step: the values, the scale and the error, all of one step."""
    ends = (-3.0, 3.0) if row.symmetric else (-3.0, 2.1)
    wide = np.linspace(row.lowest, row.highest, 300).round().astype(row.dtype)
    t = QTensor(wide, *ends, row.name)
    assert t.code_type is row
    assert t == QTensor(wide, *ends, row)
    step = Fraction(float(np.float32(ends[1]))) - Fraction(float(np.float32(ends[0])))
    step /= row.steps
    base = 0 if row.symmetric else Fraction(float(np.float32(ends[0]))) - row.lowest * step
    exact = [float(int(q) * step + base) for q in wide]
    assert t.scale == pytest.approx(float(step), rel=1e-15)
    np.testing.assert_allclose(t.dequantize(), exact, rtol=0, atol=3 * 2.0**-20)
    report = qops.error(t, exact)
    assert report.lsb == t.scale
    assert report.max <= min(0.5, (row.steps + 1) * 2.0**-23)
    assert row.lowest <= t.zero_point <= row.highest
    assert abs(t.zero_point * step + base) <= step / 2


def test_kernels_know_the_rows_that_a_dtype_means_by_itself():
    """They have a table of their own, which they read without Python."""
    for dtype in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?":
        got = code_type_of_dtype(np.zeros(1, dtype))
        try:
            row = codes.of_dtype(dtype)
        except TypeError:
            assert got["steps"] == 0, dtype
        else:
            assert got == {name: getattr(row, name) for name in ("lowest", "highest", "steps", "symmetric")}
