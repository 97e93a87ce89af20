"""LSTM and GRU: formula twins in f64, saturation, hazards, bad input."""

import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn import Scales, StateQuant, recommended_weights_scale
from qops.onednn.rnn import dequantize_state, quantize_state, sigmoid

F = np.float32
T, N, C, OUT = 3, 2, 5, 4


def make(gates, seed=10, spread=0.3):
    rng = np.random.default_rng(seed)
    codes = dict(src_layer=rng.integers(0, 256, (T, N, C)), src_iter=rng.integers(0, 256, (1, 1, N, OUT)))
    reals = dict(weights_layer=(1, 1, C, gates, OUT), weights_iter=(1, 1, OUT, gates, OUT), bias=(1, 1, gates, OUT))
    return {k: v.astype(np.uint8) for k, v in codes.items()} | {
        k: (spread * rng.standard_normal(shape)).astype(F) for k, shape in reals.items()
    }


def gate_inputs(case, x, h, scale, saturates, which=slice(None)):
    """G of the formula, one gate and output at a time, in Python integers up to the division."""
    quantize = np.vectorize(lambda v: twins.store(v, "s8"))
    wx, wh = quantize(case["weights_layer"][0, 0] * scale), quantize(case["weights_iter"][0, 0] * scale)
    gates, outputs = wx.shape[1:]
    g = np.zeros((len(x), gates, outputs), F)
    divisor = np.broadcast_to(scale * F(127), (gates, outputs))
    for n, k, o in np.ndindex(g.shape):
        acc = twins.dot(x[n].tolist(), wx[:, k, o].tolist(), saturates)
        acc += twins.dot(h[n].tolist(), wh[:, k, o].tolist(), saturates)
        acc -= 128 * int(wx[:, k, o].sum() + wh[:, k, o].sum())
        g[n, k, o] = F(acc) / divisor[k, o] + case["bias"][0, 0, k, o]
    return g[:, which].astype(float)


def sig(x):
    return 1 / (1 + np.exp(-x))


def code(x):
    return np.clip(np.rint(x * 127 + 128), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("peak", [2.0**-120, 0.75, 1.0, 3e38])
def test_recommended_scale_takes_the_largest_weight_to_63(peak):
    assert recommended_weights_scale(F([-peak, peak / 2])) == 63 / float(F(peak))


@pytest.mark.parametrize("isa", ["vnni", "avx2"])
@pytest.mark.parametrize("per_output", [False, True])
def test_lstm_matches_the_twin(isa, per_output):
    case = make(4)
    scale = np.linspace(60, 200, 16).astype(F).reshape(4, OUT) if per_output else F(127)
    c = np.linspace(-1, 1, N * OUT).astype(F).reshape(1, 1, N, OUT)
    scales = Scales(scale.ravel(), 24) if per_output else scale
    got = onednn.lstm(**case, src_iter_c=c, weights_scale=scales, isa=isa)
    h, cell = case["src_iter"][0, 0], c[0, 0].astype(float)
    for t, x in enumerate(case["src_layer"]):
        g = gate_inputs(case, x, h, scale, isa == "avx2")
        cell = sig(g[:, 1]) * cell + sig(g[:, 0]) * np.tanh(g[:, 2])
        h = code(sig(g[:, 3]) * np.tanh(cell))
        assert np.array_equal(got[0][t], h)
    assert np.array_equal(got[1][0, 0], h)
    assert np.abs(got[2][0, 0] - cell).max() < 1e-6


@pytest.mark.parametrize("isa", ["vnni", "avx512"])
def test_gru_matches_the_twin(isa):
    case, scale = make(3), F(127)
    got = onednn.gru(**case, weights_scale=127, isa=isa)
    h = case["src_iter"][0, 0]
    for t, x in enumerate(case["src_layer"]):
        g = gate_inputs(case, x, h, scale, isa != "vnni")
        u, r = sig(g[:, 0]), sig(g[:, 1])
        state = (h.astype(float) - 128) / 127
        o = np.tanh(gate_inputs(case, x, code(r * state), scale, isa != "vnni")[:, 2])
        h = code(u * state + (1 - u) * o)
        assert np.array_equal(got[0][t], h)
    assert np.array_equal(got[1][0, 0], h)


@pytest.mark.parametrize(("gates", "run"), [(4, onednn.lstm), (3, onednn.gru)])
def test_recommended_scale_cannot_saturate_and_127_can(gates, run):
    case = make(gates, spread=1.0)
    case["weights_layer"][:] = np.abs(case["weights_layer"]).max()
    case["src_layer"][:] = 255
    if gates == 4:
        case["src_iter_c"] = np.zeros((1, 1, N, OUT), F)
    case["bias"][:] = -F(3)
    peak = max(np.abs(case[k]).max() for k in ("weights_layer", "weights_iter"))
    safe = min(recommended_weights_scale(case[k]) for k in ("weights_layer", "weights_iter"))
    states = {
        (isa, s): run(**case, weights_scale=s, isa=isa)[0] for isa in ("vnni", "avx2") for s in (safe, 127 / peak)
    }
    assert np.array_equal(states["vnni", safe], states["avx2", safe])
    assert not np.array_equal(states["vnni", 127 / peak], states["avx2", 127 / peak])


def test_s8_weights_are_taken_as_they_are():
    case = make(3)
    codes = {
        k: np.vectorize(lambda v: twins.store(v, "s8"))(case[k] * F(100)).astype(np.int8)
        for k in ("weights_layer", "weights_iter")
    }
    one, two = onednn.gru(**case, weights_scale=100), onednn.gru(**{**case, **codes}, weights_scale=100)
    assert np.array_equal(one[0], two[0])


def test_states_round_trip_and_sigmoid_survives_its_ends():
    codes = np.arange(256).astype(np.uint8)
    assert np.array_equal(quantize_state(dequantize_state(codes)), codes)
    assert sigmoid(F([-1e9, 0, 1e9])).tolist() == [0, 0.5, 1]


def test_calls_change_nothing_and_repeat():
    case = make(3)
    for x in case.values():
        x.flags.writeable = False
    first, second = (onednn.gru(**case, weights_scale=127)[0] for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src_layer=np.zeros((T, N, C), np.int8)), TypeError, "src_layer: expected uint8, got int8"),
        (dict(src_iter=np.zeros((1, 1, N + 1, OUT), np.uint8)), ValueError, "src_iter: expected shape"),
        (dict(weights_layer=np.zeros((1, 1, C, 4, OUT), F)), ValueError, "weights_layer: expected shape"),
        (
            dict(weights_iter=np.zeros((1, 1, OUT, 3, OUT))),
            TypeError,
            "weights_iter: expected float32, int8, got float64",
        ),
        (dict(bias=np.zeros((3, OUT), F)), ValueError, "bias: expected shape"),
        (dict(weights_scale=Scales(np.ones(3), 8)), ValueError, r"weights_scale: expected a mask of \[0, 24\], got 8"),
        (dict(weights_scale=-1.0), ValueError, "weights_scale: expected finite values above zero, got -1.0"),
        (dict(weights_scale=[[1.0], [1, 2]]), TypeError, "^weights_scale: expected an array, got list: .*inhomog"),
        (dict(quant=StateQuant(1e-38)), ValueError, "^quant: the result holds nan, which has no code in u8"),
        (dict(quant=(127, 128)), TypeError, r"quant: expected a qops.onednn.StateQuant, got \(127, 128\)"),
        (dict(bias=np.full((1, 1, 3, OUT), np.nan, F)), ValueError, "bias: expected finite values, got nan"),
    ],
)
def test_gru_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.gru(**{**make(3), "weights_scale": 127, **options})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: onednn.lstm(**make(4), src_iter_c=np.zeros((N, OUT), F), weights_scale=1),
            ValueError,
            "src_iter_c: expected shape",
        ),
        (
            lambda: onednn.lstm(**make(4), src_iter_c=np.full((1, 1, N, OUT), -np.inf, F), weights_scale=1),
            ValueError,
            "src_iter_c: expected finite values, got -inf",
        ),
        (lambda: StateQuant(scale=0), ValueError, "scale: expected a number above zero, got 0"),
        (lambda: StateQuant(shift=0.5), ValueError, r"shift: expected a whole number up to 2\*\*24, got 0.5"),
        (lambda: recommended_weights_scale(np.zeros(3, F)), ValueError, "not all zero, got a largest magnitude of 0.0"),
    ],
)
def test_rejects_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_state_may_have_a_scale_below_1():
    assert StateQuant(scale=0.5).scale == 0.5
