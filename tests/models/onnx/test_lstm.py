"""DynamicQuantizeLSTM: states of onnxruntime 1.32.0, what the node may leave out, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from onnx_networks import Network

F32 = np.float32
SIZE = 2


def of(*shape):
    return ((np.arange(np.prod(shape)) * 37 % 101 - 50) / 16).astype(F32).reshape(shape)


X = of(3, 2, 3)


def network(direction="forward", *, by_channel=False, dtype=np.int8, optional=True, **how):
    """A node whose weights are small enough for pairs of products to fit 16 bits."""
    count = 2 if direction == "bidirectional" else 1
    net, gates = Network(17), 4 * SIZE
    c, middle = net.constant, 0 if dtype == np.int8 else 128
    w, r = (
        c((np.arange(count * n * gates) * 29 % 61 - 30 + middle).astype(dtype).reshape(count, n, gates))
        for n in (3, SIZE)
    )
    shape = (count, gates) if by_channel else (count,)
    scales = [np.full(shape, s, F32) * (1 + np.arange(shape[-1]) % 3).astype(F32) for s in (0.01, 0.02)]
    numbers = [x for s in scales for x in (c(s), c(np.full(shape, middle, dtype)))]
    names = [
        c(of(count, 2 * gates) / 8),
        "",
        c(of(count, 2, SIZE) / 4),
        c(of(count, 2, SIZE)),
        c(of(count, 3 * SIZE) / 8),
    ]
    names = names if optional else [""] * 5
    attributes = {"hidden_size": SIZE, "direction": direction, **how}
    x = net.input(X.shape)
    inputs = [x, w, r, *names, *numbers]
    return net.model(*net.node("DynamicQuantizeLSTM", *inputs, domain="com.microsoft", results=3, **attributes))


CASES = {
    "forward": {},
    "reverse": {"direction": "reverse", "by_channel": True},
    "both": {"direction": "bidirectional", "dtype": np.uint8},
    "plain": {"optional": False, "dtype": np.uint8, "by_channel": True},
    "clipped": {"clip": 0.25},
}
STATES = np.load(Path(__file__).with_name("lstm.npz"))
"""The results of onnxruntime 1.32.0 on one thread."""
NEAR = 5e-7
"""onnxruntime approximates sigmoid and tanh in float32."""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("runtime", ["onnx", "ort", "ort_avx2"])
def test_states_are_those_of_onnxruntime(load, name, runtime):
    graph = load(network(**CASES[name]), runtime)
    assert graph.ops[-1].rule == ("ort" if runtime == "onnx" else runtime), "the standard has no such operator"
    got, real = (list(run(X).values()) for run in (graph.run, graph.real))
    for i, (y, values) in enumerate(zip(got, real, strict=True)):
        want = STATES[f"{name} {i}"]
        assert (y.shape, y.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(y, want, rtol=0, atol=NEAR)
        assert NEAR < np.abs(values - want).max() < 0.02, "which the codes of data and states are worth"


def test_results_that_nobody_asks_for_are_left_out(load):
    model = network()
    node = model.graph.node[0]
    node.output[0] = node.output[2] = ""
    del model.graph.output[2], model.graph.output[0]
    (got,) = load(model, "ort").run(X).values()
    np.testing.assert_allclose(got, STATES["forward 1"], rtol=0, atol=NEAR)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"direction": "up"}, "its direction is up"),
        ({"activations": ["Sigmoid", "Relu", "Tanh"]}, "its activations are Sigmoid, Relu, Tanh"),
        ({"input_forget": 1}, "its input_forget is 1"),
    ],
)
def test_what_qops_lacks_is_named(load, how, text):
    with pytest.raises(ValueError, match=text):
        load(network(**how))
