"""What rows of TFLite's operators say that no golden case tells: options, versions, and that none lacks its formula."""

import numpy as np
import pytest
import tflite

from qops.models import load
from qops.models.tensor import Tensor
from qops.models.tflite import choices, floats
from qops.models.tflite.file import Operator, read_tflite
from qops.models.tflite.kinds import KINDS
from qops.models.tflite.writer import tflite_bytes

TABLES = {name.lower(): name for name in dir(tflite.BuiltinOptions) if not name.startswith("_")}
SHARED = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), "Pool2DOptions"),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), "ReducerOptions"),
}
"""Tables of options that do not have the name of one operator."""


def fields_of(table):
    """The fields of a table of the schema, by the names of the functions that write them."""
    prefix = f"{table}Add"
    return [name.removeprefix(prefix) for name in dir(tflite) if name.startswith(prefix)]


@pytest.mark.parametrize("kind", KINDS)
def test_options_are_those_of_the_schema(kind):
    """A table without fields may be left out."""
    table = SHARED.get(kind) or TABLES.get(f"{kind.replace('_', '')}options".lower(), "")
    assert KINDS[kind].schema in ({table} if table and fields_of(table) else {table, ""})


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.schema])
def test_each_option_that_is_written_is_read(kind, tmp_path):
    x, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xy")
    for field in fields_of(KINDS[kind].schema):
        value = [3, 1] if field in ("NewShape", "SqueezeDims") else 1
        file = tmp_path / f"{field}.tflite"
        file.write_bytes(tflite_bytes([x, y], [Operator(kind, [x], [y], {field: value}, [])], [x], [y]))
        (found,) = read_tflite(file).operators
        assert (found.kind, np.array_equal(found.options[field], value)) == (kind, True), field


OTHER_VERSIONS = {
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D"), 3),
    "FULLY_CONNECTED": 4,
    **dict.fromkeys(("HARD_SWISH", "NEG", "PRELU", "RELU_0_TO_1", "RELU_N1_TO_1"), 1),
    **dict.fromkeys(("CAST", "DIV", "ELU", "EXPAND_DIMS", "FLOOR_DIV", "REDUCE_PROD", "RESHAPE", "SHAPE"), 1),
    **dict.fromkeys(("ASSIGN_VARIABLE", "READ_VARIABLE", "TFLite_Detection_PostProcess", "RANGE"), 1),
    **dict.fromkeys((*choices.KINDS, *floats.KINDS), 1),
}
"""Versions but for 2: those of layers of int8 are as LiteRT's ``op_version.cc`` says; for the first line of those that
have 1, LiteRT 2.3 has no other, and it refuses files that say one."""


def test_versions_are_those_that_litert_has():
    assert {kind: row.version for kind, row in KINDS.items()} == {kind: OTHER_VERSIONS.get(kind, 2) for kind in KINDS}
    x, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xy")
    for kind, row in KINDS.items():
        model = tflite.Model.GetRootAs(tflite_bytes([x, y], [Operator(kind, [x], [y], {}, [])], [x], [y]), 0)
        assert model.OperatorCodes(0).Version() == row.version, kind


WITHOUT_FORMULA = {
    *("ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "CAST", "FLOOR_DIV", "READ_VARIABLE", "REDUCE_PROD", "SHAPE"),
    *("POW", "RANGE", "SVDF", "TFLite_Detection_PostProcess", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
}
"""Those of integers, of variables, and with states, and POW, whose floats LiteRT multiplies step by step."""


def test_every_other_operator_has_a_formula_in_real_numbers():
    assert {kind for kind, row in KINDS.items() if not (row.real or row.moves)} == WITHOUT_FORMULA


@pytest.mark.parametrize("kind", ["ADD", "MUL"])
def test_a_constant_of_one_number_beside_a_result_of_unknown_rank(kind, tmp_path):
    """Converters write () as the shape of what they do not know; audio front ends have many such tensors."""
    x, y = Tensor("x", (1, 3), "float32"), Tensor("y", (), "float32")
    c = Tensor("c", (), "float32", data=np.float32(2))
    file = tmp_path / "m.tflite"
    file.write_bytes(tflite_bytes([x, c, y], [Operator(kind, [x, c], [y], {}, [])], [x], [y]))
    graph = load(file)
    found = graph.run(np.float32([[1, 2, 3], [4, 5, 6]]))["y"]
    wanted = {"ADD": [[3, 4, 5], [6, 7, 8]], "MUL": [[2, 4, 6], [8, 10, 12]]}
    assert found.tolist() == wanted[kind]


def test_logistic_of_floats_is_right_to_its_last_digits_at_both_ends(tmp_path):
    x, y = (Tensor(name, (1, 4), "float32") for name in "xy")
    file = tmp_path / "m.tflite"
    file.write_bytes(tflite_bytes([x, y], [Operator("LOGISTIC", [x], [y], {}, [])], [x], [y]))
    data = np.float32([[-80, -10.407881, 0, 30]])
    found = load(file).run(data)["y"]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-data.astype(np.float64))), rtol=2e-7)
