"""Every op of TFLite that `make live` compares can be drawn: a draw that fails would compare nothing."""

import numpy as np
import pytest
import tflite_draws

ROWS = tflite_draws.ops(("reference", "optimized", "xnnpack", "tflm"))


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS)
def test_each_row_is_drawn(row):
    assert ROWS[row](np.random.default_rng(7)).arguments
