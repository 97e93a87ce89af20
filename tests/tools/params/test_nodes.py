"""`params` of files of one node: operators of floats, and those that move elements, have a row and no error."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_networks import residual
from onnx_nodes import NODES, one

from qops.__main__ import main
from qops.models import load
from qops.tools.params.params import params


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize(
    ("kind", "inputs", "how"),
    [pytest.param(*node, id=f"{i}-{node[0]}") for i, node in enumerate(NODES) if np.size(node[1][0])],
)
def test_operators_of_floats_have_a_row_and_no_error(tmp_path, kind, inputs, how, runtime):
    """Sizes that are an input of the model are read at run time."""
    path = tmp_path / "one.onnx"
    path.write_bytes(one(kind, inputs, **how)[0].SerializeToString())
    found = params(load(path, runtime=runtime), "onnxruntime")
    (layer,) = found.layers
    assert layer.op == kind
    assert kind in repr(found)
    found.write(tmp_path)


@pytest.mark.parametrize(("runtime", "kind"), [("onnx", "Conv"), ("ort", "QLinearConv")])
def test_the_command_reads_a_file_as_the_runtime_that_it_is_told(tmp_path, capsys, runtime, kind):
    model, _ = residual()
    (tmp_path / "one.onnx").write_bytes(model.SerializeToString())
    words = ["params", "--port", "onnxruntime", "--runtime", runtime, "-o", str(tmp_path / "c")]
    assert main([*words, str(tmp_path / "one.onnx")]) == 0
    assert f" {kind}: " in capsys.readouterr().out


BY_CODE = (
    *("Abs", "Ceil", "Clip", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log"),
    *("Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Softplus", "Softsign", "Sqrt", "Tanh"),
)


@pytest.mark.parametrize("kind", BY_CODE)
def test_an_operator_of_floats_that_reads_codes_is_a_table(tmp_path, kind):
    codes = np.arange(256, dtype=np.uint8)
    how = {"opset": 20} if kind == "Gelu" else {"opset": 18} if kind == "Mish" else {}
    (tmp_path / "one.onnx").write_bytes(one(kind, [codes], dtype=TensorProto.UINT8, **how)[0].SerializeToString())
    graph = load(tmp_path / "one.onnx")
    (layer,) = params(graph, "onnxruntime").layers
    assert layer.code
    (table,) = (x for x in layer.constants.values() if np.size(x) == codes.size)
    np.testing.assert_array_equal(table, *graph.run(codes).values())
