"""The node tests that the onnx package has of its own operators: codes are equal, and what is refused says why."""

import re
import warnings
from importlib import import_module

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from qops.models import load

QUANTIZED = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
PRODUCTS = ("QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger")
OTHERS = (
    "AveragePool",
    "Dropout",
    "LeakyRelu",
    "MaxPool",
    "Pow",
    "SpaceToDepth",
    "ConvTranspose",
    "LayerNormalization",
)
FEWEST = {
    "QuantizeLinear": 6,
    "DequantizeLinear": 5,
    "AveragePool": 15,
    "Pow": 8,
    "SpaceToDepth": 3,
    "Dropout": 4,
    "LayerNormalization": 0,
}
REFUSALS = {
    "QuantizeLinear": r"(FLOAT|U?INT[24])\w*, which qops does not read",
    "DequantizeLinear": r"(FLOAT|U?INT[24])\w*, which qops does not read",
    "Dropout": "it may train, and then drops values at random",
    "MaxPool": "it has 2 results, where qops gives 1",
    "LayerNormalization": "it has 3 results, where qops gives 1",
    "ConvTranspose": "with auto_pad or output_shape is not read",
}
TYPED_BY_HAND = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-4}
"""Results that the package has with four digits."""
ULPS = 16 * np.finfo(np.float32).eps


def array(x):
    return numpy_helper.to_array(x) if isinstance(x, TensorProto) else np.asarray(x)


def cases(kind):
    """What a module of the package adds to its list when it is imported; to collect all takes a minute."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it computes there what it expects
        from onnx.backend.test.case import node

        import_module(f"{node.__name__}.{kind.lower()}")
    found = [case for case in node._NodeTestCases if any(one.op_type == kind for one in case.model.graph.node)]
    return [case for case in found if case.data_sets]


def read(path):
    """Give the graph of a file, or None and why it is refused."""
    try:
        return load(path), ""
    except ValueError as why:
        return None, str(why)


@pytest.mark.parametrize("kind", [*QUANTIZED, *PRODUCTS, *OTHERS])
def test_node_tests(tmp_path, kind):
    path, exact = tmp_path / "node.onnx", 0
    for case in cases(kind):
        path.write_bytes(case.model.SerializeToString())
        given, expected = (list(map(array, part)) for part in case.data_sets[0])
        graph, refusal = read(path)
        if graph is None:
            assert re.search(REFUSALS[kind], refusal), f"{case.name}: {refusal}"
            continue
        names = [one.name for one in case.model.graph.input]
        found = graph.run({name: x for name, x in zip(names, given, strict=True) if name in graph.inputs})
        for output, wanted in zip(case.model.graph.output, expected, strict=True):
            y = found[output.name]
            assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype), case.name
            if y.dtype.kind == "f":
                scale = np.abs(wanted[np.isfinite(wanted)], dtype=np.float64).max(initial=1e-30)
                eps = ULPS if y.dtype == np.float32 else float(np.finfo(y.dtype).eps)
                near = TYPED_BY_HAND.get(case.name, eps * scale)
                np.testing.assert_allclose(y, wanted, rtol=0, atol=near, err_msg=case.name)
            else:
                assert np.array_equal(y, wanted), case.name
        exact += 1
    assert exact >= FEWEST.get(kind, 1)
