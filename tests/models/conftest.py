"""What tests of graphs share."""

import pytest

from qops import models


@pytest.fixture
def load(tmp_path):
    """Loads a model of the package onnx."""

    def loaded(model, runtime="onnx"):
        path = tmp_path / "network.onnx"
        path.write_bytes(model.SerializeToString())
        return models.load(path, runtime=runtime)

    return loaded
