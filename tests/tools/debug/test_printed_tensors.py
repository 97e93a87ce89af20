"""Dumps that are one file: printed logs, and what TFLM's layer_by_layer_output_tool writes."""

import flatbuffers
import numpy as np
import planted
import pytest
import small_network

import qops
from qops.models.tflite.layer_by_layer import layers_of
from qops.tools.debug.printed_tensors import log_of


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The file of a network, its graph, and what a device without faults dumps."""
    path = tmp_path_factory.mktemp("small") / "small.tflite"
    graph, x = small_network.file(path)
    return path, graph, planted.device(graph, x, {})


def as_onnxruntime(dump):
    """As a build of onnxruntime with onnxruntime_DEBUG_NODE_INPUTS_OUTPUTS prints tensors."""
    text = " Placement: CPUExecutionProvider\n"
    for i, (name, codes) in enumerate(dump.items()):
        rows = codes.reshape(-1, codes.shape[-1])
        text += f"-----------\n{'In' if i == 0 else 'Out'}put 0 Name: {name}\n"
        text += f" Shape: {{{','.join(map(str, codes.shape))}}}\n"
        text += "\n".join(", ".join(map(str, row)) for row in rows.tolist()) + "\n\n\n"
    return text


def as_c(dump):
    return "".join(
        f"static const int8_t {name}[{codes.size}] = {{\n  {', '.join(map(str, codes.ravel().tolist()))}\n}};\n"
        for name, codes in dump.items()
    )


def as_printf(dump):
    """One line a tensor, among other lines of a log."""
    lines = [f"I (312) main: {name}: {' '.join(map(str, codes.ravel().tolist()))}" for name, codes in dump.items()]
    return "boot: 1.2\nInvoke took 12 ms\n" + "\n".join(line.partition("main: ")[2] for line in lines) + "\ndone\n"


@pytest.mark.parametrize("form", [as_onnxruntime, as_c, as_printf])
def test_tensors_that_are_printed(small, tmp_path, form):
    path, _, dump = small
    for suffix in ("log", "txt"):
        (tmp_path / f"device.{suffix}").write_text(form(dump))
        found = qops.debug(path, device=tmp_path / f"device.{suffix}")
        assert found.first is None
        assert all(row.differ == 0 for row in found.layers)
    (tmp_path / "device.log").write_text(form({**dump, "sum": dump["sum"] ^ 1}))
    assert qops.debug(path, device=tmp_path / "device.log").first.output == "sum"


def test_what_a_log_says_beside():
    text = """temperature: 21.5
x: 1, 2
 3
ready
4
loss = nan inf -1e-3
state: on
y:0: [5
6]
x = {1, 2, 3}
step: 1
step: 2
wait: ...
"""
    found = log_of(text)
    assert {name: array.tolist() for name, array in found.items() if name != "loss"} == {
        **{"temperature": [21.5], "x": [1, 2, 3], "y:0": [5, 6], "step": [2]},
    }
    np.testing.assert_array_equal(found["loss"], [np.nan, np.inf, -1e-3])
    with pytest.raises(ValueError, match="'x' is there 2 times, with other numbers"):
        log_of("x: 1 2\nx: 1 3")
    with pytest.raises(ValueError, match="'x' is shortened"):
        log_of("x:\n1, ... 3")


def test_a_log_without_tensors_is_refused(small, tmp_path):
    (tmp_path / "device.log").write_text("nothing\nto see")
    with pytest.raises(ValueError, match=r"^device: device.log: no tensor is printed in it, as in 'NAME: 1, 2, 3'$"):
        qops.debug(small[0], device=tmp_path / "device.log")


NUMBERS = {"float32": 0, "int32": 2, "int8": 9, "int16": 7}


class Writer:
    """Writes a ModelTestData of TFLM's layer_by_layer_schema.fbs."""

    def __init__(self):
        self.b = flatbuffers.Builder(0)

    def vector(self, places):
        self.b.StartVector(4, len(places), 4)
        for place in reversed(places):
            self.b.PrependUOffsetTRelative(place)
        return self.b.EndVector()

    def tensor(self, index, codes):
        data = self.b.CreateByteVector(codes.tobytes())
        self.b.StartObject(7)
        self.b.PrependUint32Slot(1, index, 0)
        self.b.PrependInt8Slot(3, NUMBERS[codes.dtype.name], 0)
        self.b.PrependUOffsetTRelativeSlot(4, data, 0)
        self.b.PrependUint32Slot(5, codes.nbytes, 0)
        return self.b.EndObject()

    def table(self, *vectors):
        self.b.StartObject(2)
        for slot, vector in enumerate(vectors):
            self.b.PrependUOffsetTRelativeSlot(slot, vector, 0)
        return self.b.EndObject()

    def file(self, inputs, outputs):
        first, rest = ([self.tensor(*one) for one in part] for part in (inputs, outputs))
        subgraph = self.table(self.vector(rest))
        self.b.Finish(self.table(self.vector(first), self.vector([subgraph])))
        return bytes(self.b.Output())


def test_the_file_of_tflms_debugger(small, tmp_path):
    path, graph, dump = small
    places = {name: i for i, name in enumerate(graph.tensors)}
    numbered = [(places[name], codes) for name, codes in dump.items()]
    file = Writer().file(numbered[:1], numbered[1:])
    (tmp_path / "device.tflm").write_bytes(file)
    found = qops.debug(path, device=tmp_path / "device.tflm")
    assert found.first is None
    assert all(row.differ == 0 for row in found.layers)
    wrong = [(i, codes ^ 1 if i == places["sum"] else codes) for i, codes in numbered]
    (tmp_path / "device.tflm").write_bytes(Writer().file(wrong[:1], wrong[1:]))
    assert qops.debug(path, device=tmp_path / "device.tflm").first.output == "sum"


def test_a_damaged_file_of_tflms_debugger_is_refused(tmp_path, rng):
    """Cut, or with other bytes: it is read, or refused by its name."""
    file = Writer().file([(0, np.int8([1, 2]))], [(3, np.int16([[4], [5]])), (7, np.float32([0.5]))])
    assert {key: x.tolist() for key, x in layers_of(file).items()} == {"0": [1, 2], "3": [4, 5], "7": [0.5]}
    for size in range(0, len(file), 3):
        with pytest.raises(ValueError, match="not what TFLM's layer_by_layer_output_tool writes"):
            layers_of(file[:size])
    refused = 0
    for _ in range(2000):
        other = bytearray(file)
        other[rng.integers(len(file))] = rng.integers(256)
        try:
            assert sum(x.nbytes for x in layers_of(bytes(other)).values()) <= 3 * len(file)
        except ValueError:
            refused += 1
    assert refused > 100
