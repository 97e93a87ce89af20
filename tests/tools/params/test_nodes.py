"""`params` of files of one node: operators of floats, and those that move elements, have a row and no error."""

import numpy as np
import pytest
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
