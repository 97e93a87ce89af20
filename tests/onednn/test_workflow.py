"""DNNL 1.2's int8 workflow: the worked example under both roundings, and the s32 result against f32."""

import numpy as np
import pytest

from qops import onednn
from qops.onednn import Attr, Scales, workflow

F = np.float32
ACTIVATIONS, WEIGHTS, BIAS = F([15, 14, 15, 8, 11]), F([-5.1, 6.8, -1.2, 9.8]), F([2.4, -5.2, -8])


@pytest.mark.parametrize(
    ("rounding", "weights", "bias"),
    [
        ("truncate", [-66, 88, -15, 127], [528, -1145, -1762]),  # as printed
        ("half_even", [-66, 88, -16, 127], [529, -1146, -1762]),  # as the text says
    ],
)
def test_worked_example(rounding, weights, bias):
    q_a, q_w = workflow.activations_factor(ACTIVATIONS), workflow.weights_factor(WEIGHTS)
    assert q_a.values == 17
    assert round(float(q_w.values[0]), 2) == 12.96
    assert workflow.quantize_activations(ACTIVATIONS, q_a, rounding).tolist() == [255, 238, 255, 136, 187]
    assert workflow.quantize_weights(WEIGHTS, q_w, rounding).tolist() == weights
    assert workflow.quantize_bias(BIAS, q_a, q_w, rounding).tolist() == bias


@pytest.mark.parametrize("mask", [0, 1 << 0])
def test_dequantized_product_is_close_to_f32_and_to_the_primitive(mask):
    rng = np.random.default_rng(11)
    a, w, b = rng.uniform(0, 6, (4, 64)).astype(F), rng.standard_normal((8, 64)).astype(F), F(rng.standard_normal(8))
    w *= np.geomspace(0.1, 10, 8)[:, None].astype(F)
    q_a, q_w = workflow.activations_factor(a), workflow.weights_factor(w, mask)
    a_u8, w_s8 = workflow.quantize_activations(a, q_a), workflow.quantize_weights(w, q_w)
    x_s32 = a_u8.astype(np.int32) @ w_s8.T + workflow.quantize_bias(b, q_a, q_w)
    x = workflow.dequantize(x_s32, q_a, q_w)
    # each factor is off by half a code: 64 products of (a + half step)(w + half step)
    step_a, step_w = 0.5 / q_a.values, 0.5 / q_w.values
    bound = a.sum(1, keepdims=True) * step_w + np.abs(w).sum(1) * step_a + 65 * step_a * step_w
    assert (np.abs(x - (a @ w.T + b)) <= 1.01 * bound).all()
    bias = workflow.quantize_bias(b, q_a, q_w)
    attr = Attr(oscale=workflow.output_scale(q_a, q_w))
    primitive = onednn.inner_product(a_u8, w_s8, bias, dst_dt="f32", attr=attr, version="2.6")
    assert np.allclose(primitive, x, rtol=1e-6)


def test_per_channel_factors_fill_s8_in_every_channel():
    w = F([[1, -2], [100, 50]])
    q_w = workflow.weights_factor(w, mask=1)
    assert q_w.mask == 1
    assert np.abs(workflow.quantize_weights(w, q_w)).max(axis=1).tolist() == [127, 127]
    one = workflow.quantize_weights(w, workflow.weights_factor(w))
    assert np.abs(one).max(axis=1).tolist() == [3, 127]


def test_quantization_is_the_reorder_primitive():
    q_w = workflow.weights_factor(WEIGHTS)
    assert np.array_equal(
        workflow.quantize_weights(WEIGHTS, q_w), onednn.reorder(WEIGHTS, "s8", attr=Attr(oscale=q_w), version="2.6")
    )


def test_bias_saturates_and_output_scale_requantizes():
    assert workflow.quantize_bias(F([1e9, -1e9]), Scales(255.0), Scales(127.0)).tolist() == [2**31 - 1, -(2**31)]
    assert workflow.output_scale(Scales(10.0), Scales(5.0), Scales(20.0)).values == F(0.4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: workflow.activations_factor(F([1, -2])),
            ValueError,
            "activations: expected no negative values, got -2.0",
        ),
        (lambda: workflow.activations_factor(F([0, 0])), ValueError, "nonzero"),
        (lambda: workflow.weights_factor(F([[1], [0]]), 1), ValueError, "weights: expected a nonzero value in every"),
        (lambda: workflow.weights_factor(F([1, np.inf])), ValueError, "weights: expected finite values, got inf"),
        (lambda: workflow.weights_factor(F([1]), 2), ValueError, r"mask: expected an integer in \[0, 1\], got 2"),
        (lambda: workflow.weights_factor(np.ones(3)), TypeError, "weights: expected float32, got float64"),
        (
            lambda: workflow.quantize_weights(WEIGHTS, Scales(1.0), "up"),
            ValueError,
            "rounding: expected one of .*got 'up'",
        ),
        (
            lambda: workflow.quantize_weights(WEIGHTS, 1.0),
            TypeError,
            "q_w: expected a qops.onednn.Scales, got 1.0",
        ),
        (
            lambda: workflow.quantize_bias(BIAS, Scales([1, 1], 1), Scales(1.0)),
            ValueError,
            "q_a: expected mask 0, got 1",
        ),
        (lambda: workflow.quantize_bias(BIAS, Scales(1.0), Scales([1, 1], 1)), ValueError, "bias: expected 2 values"),
        (lambda: workflow.dequantize(np.int32([1, 2, 3]), Scales(1.0), Scales([1, 1], 1)), ValueError, "2 channels"),
        (lambda: workflow.dequantize(np.int32([1, 2]), Scales(1.0), Scales([1, 1], 1), 1), ValueError, "^axis: "),
    ],
)
def test_rejects_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_what_is_beyond_float32_is_refused_without_a_warning():
    tiny = Scales(1e-30)
    with pytest.raises(ValueError, match="q_a, q_w: expected factors that keep x in float32"):
        workflow.dequantize(np.int32([5]), tiny, tiny)
