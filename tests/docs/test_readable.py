"""The page of operators that can be read: what it says of an operator is what a file of it does."""

import re

from docs import readable, stage
from qops.models.onnx.kinds import KINDS as NODES
from qops.models.tflite.kinds import KINDS as OPERATORS


def rows(text, title):
    """Operator -> its three cells, of the table under a title."""
    part = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (\S+)(?: \(com\.microsoft\))? \| (\w*) \| (\w*) \| (\w*) \|$", part, re.M)
    return {kind: cells for kind, *cells in found if kind != "operator"}


def test_each_operator_has_its_row():
    page = stage.pages()[readable.PAGE]
    assert rows(page, "TFLite").keys() == OPERATORS.keys()
    assert rows(page, "ONNX").keys() == NODES.keys()
    assert "{tflite}" not in page
    assert "{onnx}" not in page


def test_cells_are_those_of_operators_that_are_known():
    page = stage.pages()[readable.PAGE]
    tflite, onnx = rows(page, "TFLite"), rows(page, "ONNX")
    assert tflite["CONV_2D"] == ["yes", "yes", ""]
    assert tflite["SVDF"] == tflite["ARG_MAX"] == ["yes", "", ""]
    assert tflite["RESHAPE"] == onnx["Transpose"] == ["", "", "yes"]
    assert tflite["LOG"] == ["yes", "yes", ""]
    assert onnx["Exp"] == ["", "yes", ""]
    assert onnx["QLinearConv"] == ["yes", "", ""]
    assert all("yes" in cells for cells in (*tflite.values(), *onnx.values()))
    assert "QLinearAdd (com.microsoft)" in page
