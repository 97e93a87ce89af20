"""What onnxruntime 1.32.0 does to nodes before it fuses them: its own kinds of nodes, and its own results."""

import numpy as np
import pytest
from onnx_networks import Network

F32 = np.float32
X = F32([[-3, 0.5, 5, 7], [2, -1.75, 4, -6]])
Q, DQ, CODES = "QuantizeLinear", "DequantizeLinear", np.int8([[1, -2], [3, 1], [2, 2], [-1, 4]])


class Case(Network):
    """A network whose pairs may leave out a zero point."""

    def pair(self, x, scale, zero, *, is_whole=True):
        numbers = self.constant(F32(scale)), self.constant(zero)
        return self.node(DQ, self.node(Q, x, *numbers), *numbers[: 1 + is_whole])


def a_quantizer_behind_two_moves(net):
    x = net.node("Transpose", net.pair(net.input([2, 4]), 0.25, np.int8(0), is_whole=False), perm=[1, 0])
    return [net.pair(net.node("Unsqueeze", x, net.constant(np.array([0]))), 0.75, np.int8(1))]


def a_move_that_a_quantizer_and_another_node_read(net):
    x = net.node("Transpose", net.pair(net.input([2, 4]), 0.25, np.int8(0), is_whole=False), perm=[1, 0])
    return [net.node("Neg", x), net.pair(x, 0.75, np.int8(1))]


def an_output_is_moved(net):
    x = net.pair(net.input([2, 4]), 0.25, np.int8(0), is_whole=False)
    y = net.node("Unsqueeze", x, net.constant(np.array([0])))
    return [y, net.node("Neg", y)]


def an_identity_gives_an_output(net):
    x = net.node("Identity", net.pair(net.input([2, 4]), 1.5, np.uint8(2)))
    return [x, net.pair(net.node("LeakyRelu", x, alpha=0.25), 0.25, np.uint8(7))]


def an_output_of_codes_is_moved(net):
    x = net.pair(net.node("Neg", net.input([2, 4])), 1.0, np.uint8(4))
    return [x, net.pair(net.node("Transpose", x, perm=[1, 0]), 0.75, np.uint8(128))]


def an_empty_pair_of_values_that_others_read(net):
    x = net.pair(net.input([2, 4]), 1.5, np.int8(0))
    y = net.node("Softmax", net.pair(net.node("Identity", x), 1.5, np.int8(0)), axis=-1)
    return [net.node("Neg", x), net.pair(y, 0.03, np.int8(2))]


def a_slice_of_everything(net):
    x, all_of = net.pair(net.input([2, 4]), 0.5, np.uint8(3)), (0, 2**63 - 1, 1)
    x = net.node("Slice", x, *(net.constant(np.array([n])) for n in all_of))
    return [net.pair(x, 0.75, np.uint8(7))]


def a_slice_of_the_axis(net):
    x, all_of = net.pair(net.input([2, 4]), 0.5, np.uint8(3)), (0, 4, 1)
    x = net.node("Slice", x, *(net.constant(np.array([n])) for n in all_of))
    return [net.pair(x, 0.75, np.uint8(7))]


def a_transpose_before_a_gemm(net):
    x = net.node("Transpose", net.pair(net.input([2, 4]), 0.25, np.int8(0), is_whole=False), perm=[1, 0])
    w = net.dequantize(net.constant(CODES[:2]), 0.5, np.int8(0))
    return [net.node("Gemm", x, w, net.dequantize(net.constant(np.int32([-6, -15])), 0.75, np.int32(0)), transB=1)]


def a_transpose_that_moves_nothing(net):
    x = net.node("Transpose", net.pair(net.input([2, 4]), 0.25, np.int8(0), is_whole=False), perm=[0, 1])
    return [net.node("Gemm", x, net.constant(CODES.astype(F32)))]


def a_transpose_before_a_product_and_a_sum(net):
    x = net.node("Transpose", net.pair(net.input([2, 4]), 0.25, np.int8(0), is_whole=False), perm=[1, 0])
    y = net.node("MatMul", x, net.constant(CODES[:2].astype(F32)))
    return [net.node("Add", y, net.constant(F32([0.5, -1])))]


def a_transpose_behind_a_gemm(net):
    x = net.pair(net.input([2, 4]), 0.5, np.uint8(9))
    y = net.node("Gemm", x, net.dequantize(net.constant(CODES), 0.3, np.int8(0)))
    return [net.pair(net.node("Transpose", y, perm=[1, 0]), 0.9, np.uint8(99))]


def a_transpose_behind_a_gemm_of_uint8(net):
    x = net.pair(net.input([2, 4]), 0.5, np.uint8(9))
    w = net.dequantize(net.constant((CODES + 2).astype(np.uint8)), 0.3, np.uint8(2))
    return [net.pair(net.node("Transpose", net.node("Gemm", x, w), perm=[1, 0]), 0.9, np.uint8(99))]


def a_transpose_behind_a_gemm_with_a_bias(net):
    x = net.pair(net.input([2, 4]), 0.5, np.uint8(9))
    bias = net.dequantize(net.constant(np.int32([3, -5])), 0.15, np.int32(0))
    y = net.node("Gemm", x, net.dequantize(net.constant(CODES), 0.3, np.int8(0)), bias)
    return [net.pair(net.node("Transpose", y, perm=[1, 0]), 0.9, np.uint8(99))]


WANT = {
    an_empty_pair_of_values_that_others_read: [
        [3.0, -0.0, -4.5, -7.5, -1.5, 1.5, -4.5, 6.0],
        [0.0, 0.0, 0.05999999865889549, 0.9599999785423279, 0.05999999865889549, 0.0, 0.9599999785423279, 0.0],
    ],
    a_quantizer_behind_two_moves: [[-3.0, 2.25, 0.75, -1.5, 5.25, 3.75, 6.75, -6.0]],
    a_move_that_a_quantizer_and_another_node_read: [
        [3.0, -2.0, -0.5, 1.75, -5.0, -4.0, -7.0, 6.0],
        [-3.0, 2.25, 0.75, -1.5, 5.25, 3.75, 6.75, -6.0],
    ],
    an_output_is_moved: [[0.0, 0.5, 5.0, 7.0, 2.0, 0.0, 4.0, 0.0], [-0.0, -0.5, -5.0, -7.0, -2.0, -0.0, -4.0, -0.0]],
    an_identity_gives_an_output: [
        [-3.0, 0.0, 4.5, 7.5, 1.5, -1.5, 4.5, -3.0],
        [-0.75, 0.0, 4.5, 7.5, 1.5, -0.5, 4.5, -0.75],
    ],
    an_output_of_codes_is_moved: [
        [3.0, 0.0, -4.0, -4.0, -2.0, 2.0, -4.0, 6.0],
        [3.0, -2.25, 0.0, 2.25, -3.75, -3.75, -3.75, 6.0],
    ],
    a_slice_of_everything: [[-1.5, 0.5, 5.0, 7.0, 2.0, -1.5, 4.0, -1.5]],
    a_slice_of_the_axis: [[-1.5, 0.75, 5.25, 6.75, 2.25, -1.5, 3.75, -1.5]],
    a_transpose_before_a_gemm: [[-4.25, -5.375, 1.25, -2.0, -2.25, 7.625, 8.75, 5.625]],
    a_transpose_that_moves_nothing: [[4.5, 38.5, 10.0, 4.0]],
    a_transpose_before_a_product_and_a_sum: [[6.5, 1.0, 1.0, -2.0, 17.5, -7.0, 7.5, -15.0]],
    a_transpose_behind_a_gemm: [[0.8999999761581421, 2.6999998092651367, 13.5, -4.5]],
    a_transpose_behind_a_gemm_of_uint8: [[0.0, 2.6999998092651367, 13.5, -4.5]],
    a_transpose_behind_a_gemm_with_a_bias: [
        [0.8999999761581421, 2.6999998092651367, 12.59999942779541, -5.399999618530273]
    ],
}
"""The results of each network."""
TO_CODES = (a_transpose_before_a_gemm, a_transpose_behind_a_gemm_of_uint8, a_transpose_behind_a_gemm_with_a_bias)


@pytest.mark.parametrize("build", WANT, ids=lambda build: build.__name__)
def test_a_network_gives_what_onnxruntime_gives(load, build):
    net = Case(17)
    names = build(net)
    graph = load(net.model(*names), "ort")
    made = graph.run(X)
    for name, want in zip(names, WANT[build], strict=True):
        np.testing.assert_array_equal(made[name].ravel(), F32(want))
    assert ("QGemm" in [op.kind for op in graph.ops]) == (build in TO_CODES)


@pytest.mark.parametrize("build", [a_transpose_that_moves_nothing, a_transpose_before_a_product_and_a_sum])
def test_a_pair_of_int8_that_is_repeated_before_a_product_makes_a_file_that_onnxruntime_refuses(load, build):
    """A Gemm of the file takes over a transpose, so nothing is repeated; one that does nothing stays before it."""
    net = Case(21)
    net.pair = lambda x, scale, zero, is_whole=True: Network.both(net, x, scale, zero)
    (word,) = load(net.model(*build(net)), "ort").fused
    assert "Transpose (Transpose_2): onnxruntime repeats" in word
    assert "itself refuses the file" in word
