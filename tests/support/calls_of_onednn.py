"""Good calls of `qops.onednn` for the registry `ops.OPS`."""

import numpy as np

from qops import onednn

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
CODES_32 = np.arange(-3, 3, dtype=np.int32).reshape(2, 3) * 300_000_000
REALS = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
OTHER = np.uint8([[200, 10, 255], [0, 1, 77]])
S8 = np.int8([[-128, -3, 0], [7, 90, 127]])
PAIRS_U8 = np.arange(16, dtype=np.uint8).reshape(2, 8) * 17
PAIRS_S8 = (np.arange(16, dtype=np.int16).reshape(2, 8) * 16 - 120).astype(np.int8)
ACC = np.int32([[1, -70_000], [0, 5]])
IMAGE = (np.arange(2 * 3 * 5 * 4) * 37 % 256).astype(np.uint8).reshape(2, 3, 5, 4)
TAPS = (np.arange(4 * 3 * 2 * 2) * 29 % 256 - 128).astype(np.int8).reshape(4, 3, 2, 2)
STATES = (np.arange(3 * 2 * 4) * 11 % 256).astype(np.uint8).reshape(3, 2, 4)
GATES = np.linspace(-1, 1, 4 * 4 * 4, dtype=np.float32).reshape(1, 1, 4, 4, 4)
Q_A, Q_W = onednn.Scales(80.0), onednn.Scales([0.5, 2.0, 1.25], mask=0b10)
Q_CHANNELS = onednn.Scales([0.5, 2.0, 1.25], mask=0b01)
GEMM = {"ao": 3, "bo": -2, "beta": 1.0, "c": np.int32([[5, 6], [7, 8]]), "co": 9}


def called(good, out=None, **more):
    """A call as `ops.Op` takes it."""
    return {"good": good, "out": out, **more}


def rnn(gates):
    return {
        "src_layer": STATES,
        "src_iter": STATES[None, :1] + np.uint8(9),
        "weights_layer": np.ascontiguousarray(GATES[..., :gates, :]),
        "weights_iter": np.ascontiguousarray(GATES[..., ::-1, :gates, :]),
        "bias": np.ascontiguousarray(GATES[:, :, 0, :gates]),
        "weights_scale": 63.0,
    }


CALLS = {
    "onednn.binary": called({"src0": CODES, "src1": OTHER, "alg": "add"}, np.uint8),
    "onednn.eltwise": called({"src": CODES_32, "alg": "linear", "alpha": 0.5}, np.int32),
    "onednn.reorder": called({"src": REALS * 50, "dst_dt": "s8", "attr": onednn.Attr(src_scale=1.5)}, np.int8),
    "onednn.sum": called({"srcs": [CODES, OTHER], "scales": [0.5, 1.5]}, np.uint8, each=False),
    "onednn.pooling": called({"src": IMAGE, "alg": "avg_inc", "kernel": (2, 3)}, np.uint8, each=False),
    "onednn.convolution": called({"src": IMAGE, "weights": TAPS, "bias": ACC.ravel()}, np.int32, each=False),
    "onednn.inner_product": called({"src": CODES, "weights": S8, "bias": np.int32([1, -2])}, np.int32, each=False),
    "onednn.matmul": called({"src": CODES, "weights": S8.T.copy(), "bias": np.int32([[1, -2]])}, np.int32, each=False),
    "onednn.gemm_u8s8s32": called({"a": CODES, "b": S8.T.copy(), **GEMM}, np.int32, each=False, rows=True),
    "onednn.gemm_s8s8s32": called({"a": S8, "b": S8.T.copy(), **GEMM}, np.int32, each=False, rows=True),
    "onednn.lstm": called(
        {**rnn(4), "src_iter_c": np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 1, 2, 4)}, each=False
    ),
    "onednn.gru": called(rnn(3), each=False),
    "onednn.recommended_weights_scale": called({"weights": REALS}, each=False),
    "onednn.saturated_pairs": called({"src": PAIRS_U8, "weights": PAIRS_S8}, each=False),
    "onednn.unsafe_pairs": called({"weights": PAIRS_S8}, each=False),
    "onednn.workflow.activations_factor": called({"activations": REALS + 1}, each=False),
    "onednn.workflow.weights_factor": called({"weights": REALS}, each=False),
    "onednn.workflow.quantize_activations": called({"activations": REALS + 1, "q_a": Q_A}),
    "onednn.workflow.quantize_weights": called({"weights": REALS, "q_w": Q_W}, each=False),
    "onednn.workflow.quantize_bias": called({"bias": REALS[0].copy(), "q_a": Q_A, "q_w": Q_CHANNELS}, each=False),
    "onednn.workflow.dequantize": called({"x": CODES_32, "q_a": Q_A, "q_w": Q_CHANNELS}, each=False),
    "onednn.workflow.output_scale": called({"q_a": Q_A, "q_w": Q_W}, each=False),
}
