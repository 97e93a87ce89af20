"""The codes of a fused activation, which the layer of an operator says as its kernel has them."""

import numpy as np
import pytest

from qops import models
from qops.models import Operator, Tensor, tflite_bytes


@pytest.mark.parametrize("y_scale", [np.float32(6 / 10.5), np.nextafter(np.float32(12), np.float32(13))])
@pytest.mark.parametrize("kernel", ["reference", "tflm"])
def test_the_last_code_of_relu6_is_divided_in_float32(tmp_path, y_scale, kernel):
    """6 / y_scale is 10.5 in float32 and below that in double; or below 0.5, but not with 0.5 added in float32."""
    x = Tensor("x", (1, 1), "int8", np.float32(1), np.int64(0))
    w = Tensor("w", (1, 1), "int8", np.float32(1), np.int64(0), data=np.int8([[127]]))
    y = Tensor("y", (1, 1), "int8", y_scale, np.int64(-100))
    options = {"FusedActivationFunction": 3}
    operator = Operator("FULLY_CONNECTED", [x, w, None], [y], options, [])
    path = tmp_path / "relu6.tflite"
    path.write_bytes(tflite_bytes([x, w, y], [operator], [x], [y]))
    graph = models.load(path, runtime=kernel)
    (op,) = graph.ops
    highest = op.call(np.int8([[127]]))[0].item()
    assert op.layer.numbers["qmax"] == highest
