"""The plan of a graph: the same bits for a batch, its parts and threads; results that belong to the caller."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import small_network
import tflite_models as golden
from onnx_networks import drawn

from qops._kernels.machine import caches
from qops.models import Graph, Op, Operator, Tensor, load, tflite_bytes
from qops.models import plan as plans
from qops.models.tflite.kind import never
from qops.models.tflite.kinds import KINDS
from qops.tflite.kernels import KERNELS


@pytest.fixture
def tiny_caches():
    """A part of a batch then has two images."""
    sizes = caches.sizes()
    caches.use(16, 16)
    yield
    caches.use(*sizes)


def same(found, wanted):
    return found.keys() == wanted.keys() and all(np.array_equal(found[key], wanted[key]) for key in wanted)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("runtime", ["reference", "xnnpack", "tflm", "optimized_arm"])
def test_parts_and_threads_give_the_bits_of_the_whole(tmp_path, monkeypatch, tiny_caches, dtype, runtime):
    _, x = small_network.file(tmp_path / "small.tflite", dtype, images=9)
    graph = load(tmp_path / "small.tflite", runtime=runtime)
    wanted = graph.run(x, keep="all")["softmax"]
    counts, run = [], plans.RunPlan._run
    has_blocks = runtime == "optimized_arm" or (runtime, dtype) == ("xnnpack", "int16")  # its ADD
    monkeypatch.setattr(plans.RunPlan, "_run", lambda plan, inputs: counts.append(len(inputs[0])) or run(plan, inputs))
    for threads in (1, 2, 5):
        assert np.array_equal(graph.run(x, num_threads=threads)["softmax"], wanted)
        assert sorted(counts) == ([9] if has_blocks else [2, 2, 2, 3]), "no part has a single image"
        counts.clear()
    assert np.array_equal(graph.run(x[:1], num_threads=3)["softmax"], wanted[:1])
    assert counts == [1]


@pytest.mark.parametrize("kind", golden.kinds())
def test_operators_by_image_do_not_depend_on_the_batch(tmp_path, rng, kind):
    path, cases = tmp_path / "one.tflite", golden.cases(kind)
    for case in cases[0][:: max(1, len(cases[0]) // 12)]:
        content, given = golden.model(case, cases[1])
        path.write_bytes(content)
        for runtime in KERNELS:
            try:
                graph = load(path, runtime=runtime)
            except ValueError:
                continue
            if graph._plan is None or not graph._plan._image_bytes:
                continue
            order = rng.permutation(7 * len(next(iter(given.values()))))
            batch = {name: np.concatenate([x] * 7)[order] for name, x in given.items()}
            whole = graph._plan._run([batch[name] for name in graph.inputs])
            starts = range(0, len(order), 3)
            parts = [graph._plan._run([batch[name][i : i + 3] for name in graph.inputs]) for i in starts]
            if len(order) % 3 != 1:
                assert same({name: np.concatenate([part[name] for part in parts]) for name in whole}, whole)


def test_blocks_of_neighbours_are_not_parted(tmp_path, tiny_caches):
    a, b, y = (Tensor(n, (1, 3), "int8", np.float32(s), np.int64(0)) for n, s in (("a", 0.5), ("b", 0.5), ("y", 0.003)))
    add = Operator("ADD", [a, b], [y], {"FusedActivationFunction": 0}, [])
    path = tmp_path / "add.tflite"
    path.write_bytes(tflite_bytes([a, b, y], [add], [a, b], [y]))
    x = np.full((7, 3), 127, np.int8)
    found = load(path, runtime="optimized").run({"a": x, "b": x}, num_threads=2)["y"]
    assert found.ravel().tolist() == [-128] * 16 + [127] * 5, "16 neighbours of five images wrap"


def test_results_belong_to_the_caller(tmp_path):
    x, shape = (
        Tensor("x", (1, 4), "int8", np.float32(1), np.int64(0)),
        Tensor("s", (2,), "int32", data=np.int32([2, 2])),
    )
    y, c = Tensor("y", (2, 2), "int8", x.scale, x.zero_point), Tensor("c", (2,), "int8", data=np.int8([1, 2]))
    path = tmp_path / "views.tflite"
    path.write_bytes(tflite_bytes([x, shape, y, c], [Operator("RESHAPE", [x, shape], [y], {}, [])], [x], [x, y, c]))
    graph, data = load(path), np.int8([[1, 2, 3, 4]])
    found = graph.run(data)
    for array in found.values():
        array[...] = 9
    assert data.tolist() == [[1, 2, 3, 4]]
    assert graph.run(data)["c"].tolist() == [1, 2]


def test_threads_share_a_graph(tmp_path):
    graph, x = small_network.file(tmp_path / "small.tflite", images=16)
    wanted = [graph.run(one[None])["softmax"] for one in x]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = [*pool.map(lambda one: graph.run(one[None])["softmax"], x)]
            assert np.array_equal(found, wanted)


def test_a_graph_is_pickled_with_its_plan(tmp_path):
    graph, x = small_network.file(tmp_path / "small.tflite")
    assert same(pickle.loads(pickle.dumps(graph)).run(x), graph.run(x))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_bad_numbers_of_threads(threads):
    tensors = {name: Tensor(name, (None, 2), "int8", np.float32(1), np.int64(0)) for name in "xy"}
    graph = Graph("same", ("x",), ("y",), tensors, (Op("same", "SAME", ("x",), ("y",), ("x",), lambda x: (x,)),))
    with pytest.raises((TypeError, ValueError), match="num_threads"):
        graph.run(np.int8([[1, 2]]), num_threads=threads)


@pytest.mark.parametrize("runtime", ["onnx", "ort", "ort_avx2", "ort_arm"])
def test_products_of_onnx_files_share_a_batch(tmp_path, runtime):
    """Each product of codes takes the threads of a run, and gives the bits of the op that `keep` calls."""
    path, count = tmp_path / "m.onnx", 0
    for seed in range(12):
        path.write_bytes(drawn(seed)[0].SerializeToString())
        try:
            graph = load(path, runtime=runtime)
        except ValueError:  # drawn at random, some are what onnxruntime's columns refuse
            continue
        draw = np.random.default_rng(seed)
        shapes = {name: [n or 5 for n in graph.tensors[name].shape] for name in graph.inputs}
        given = {name: draw.normal(0, 2, shape).astype(graph.tensors[name].dtype) for name, shape in shapes.items()}
        wanted = graph.run(given, keep="all")
        assert same(graph.run(given, num_threads=3), {name: wanted[name] for name in graph.outputs})
        for op in graph.ops:
            if op.is_threaded:
                count += 1
                assert np.array_equal(
                    op.direct(wanted.get(op.reads[0], given.get(op.reads[0])), None, 2), wanted[op.outputs[0]]
                )
    assert count > (3 if runtime != "onnx" else -1)


BY_IMAGE = {
    *("ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MAXIMUM", "MAX_POOL_2D", "MINIMUM"),
    *("MUL", "RESHAPE", "SOFTMAX", "SUB"),
}
"""Operators that the test of batches above tries; an operator that is not among them is never given a part of one."""


def test_no_other_operator_is_given_a_part_of_a_batch():
    assert {kind for kind, row in KINDS.items() if row.by_image is not never} == BY_IMAGE


@pytest.mark.parametrize("kind", ["ADD", "SUB", "MUL", "MAXIMUM"])
def test_operators_of_numbers_without_an_axis(tmp_path, kind):
    a, y = (Tensor(name, (), "int8", np.float32(1), np.int64(0)) for name in "ay")
    b = Tensor("b", (), "int8", np.float32(1), np.int64(0), data=np.int8(3))
    path = tmp_path / "numbers.tflite"
    path.write_bytes(tflite_bytes([a, b, y], [Operator(kind, [a, b], [y], {}, [])], [a], [y]))
    found = load(path).run(np.int8(5))["y"]
    assert found == {"ADD": 8, "SUB": 2, "MUL": 15, "MAXIMUM": 5}[kind]
