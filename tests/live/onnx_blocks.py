"""Random chains of products of floats by dequantized weights, of which onnxruntime makes MatMulNBits."""

import tempfile
from pathlib import Path

import numpy as np
from cpu import COLUMN
from draws import Pair, pick
from elsewhere import call
from onnx_networks import Network

from qops import models

F32 = np.float32
SIZES = (1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 70, 100, 128, 257)
UNMODELLED = "not modelled"


def product(net, rng, x, k):
    """A MatMul or Gemm, perhaps with a bias; gives also its columns."""
    n, dtype, each = int(pick(rng, SIZES)), pick(rng, (np.int8, np.uint8)), rng.random() < 0.5
    row = np.iinfo(dtype)
    w = rng.integers(row.min, row.max, (k, n), dtype, endpoint=True)
    scale = rng.uniform(0.001, 0.1, n if each else ()).astype(F32)
    zero = rng.integers(row.min // 9, row.max // 9, scale.shape, dtype)
    numbers = [net.constant(scale), *([net.constant(zero)] if rng.random() < 0.7 else [])]
    weights = net.node("DequantizeLinear", net.constant(w), *numbers, **({"axis": 1} if each else {}))
    bias = net.constant(rng.normal(0, 1, n).astype(F32))
    kind = pick(rng, ("MatMul", "Gemm", "Gemm with a bias", "MatMul and Add"))
    y = net.node(kind.split()[0], x, weights, *([bias] if "bias" in kind else []))
    y = net.node("Add", y, bias) if "Add" in kind else y
    return net.node("Relu", y) if rng.random() < 0.3 else y, n


def chain(rng):
    """One to three products, on data of all magnitudes, with zeros or of one magnitude alone."""
    net, k = Network(int(pick(rng, (13, 17, 19, 21, 22, 23)))), int(pick(rng, SIZES))
    x, size = net.input([None, k]), (int(rng.integers(1, 20)), k)
    data = rng.normal(0, 10.0 ** rng.integers(-5, 5), size).astype(F32)
    way = rng.random()
    if way < 0.2:
        data = np.sign(data)
    elif way < 0.4:
        data[rng.random(size) < 0.7] = 0
    y, count = x, int(rng.integers(1, 4))
    for _ in range(count):
        y, k = product(net, rng, y, k)
    content = net.model(y).SerializeToString()

    def ours(feeds):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "graph.onnx")
            path.write_bytes(content)
            graph = models.load(path, runtime=COLUMN)
        assert [op.kind for op in graph.ops if op.kind != "Relu"] == ["MatMulNBits"] * count
        return [found + F32(0) for fed in feeds for found in graph.run(fed).values()]

    def system(feeds):
        return [found + F32(0) for found in call("system_onnxruntime", "run", content, feeds)]

    return Pair(system, ours, {"count": count}, unmodelled=UNMODELLED, fed={x: data})
