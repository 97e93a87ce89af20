"""Good calls of `qops.onednn` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import ACC, CODES, CODES_32, NCHW, OIHW, OTHER, PAIRS_S8, PAIRS_U8, REALS, S8, Op
from qops.onednn import Attr, Eltwise, Scales, Sum

STATES = (np.arange(3 * 2 * 4) * 11 % 256).astype(np.uint8).reshape(3, 2, 4)
GATES = np.linspace(-1, 1, 4 * 4 * 4, dtype=np.float32).reshape(1, 1, 4, 4, 4)
Q_A, Q_W = Scales(80.0), Scales([0.5, 2.0, 1.25], mask=0b10)
Q_CHANNELS = Scales([0.5, 2.0, 1.25], mask=0b01)
SCALED = Attr(src_scale=0.5, wei_scale=Scales([1.0, 2.0, 3.0, 0.5], mask=1), dst_zp=7, post_ops=[Eltwise()])
GEMM = {"ao": 3, "bo": -2, "beta": 1.0, "c": np.int32([[5, 6], [7, 8]]), "co": 9}


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
    "onednn.binary": Op({"src0": CODES, "src1": OTHER, "alg": "add"}, np.uint8),
    "onednn.eltwise": Op({"src": CODES_32, "alg": "linear", "alpha": 0.5}, np.int32),
    "onednn.reorder": Op({"src": REALS * 50, "dst_dt": "s8", "attr": Attr(src_scale=1.5)}, np.int8),
    "onednn.sum": Op({"srcs": [CODES, OTHER], "scales": [0.5, 1.5]}, np.uint8, each=False),
    "onednn.pooling": Op({"src": NCHW, "alg": "avg_inc", "kernel": (2, 3)}, np.uint8, each=False),
    "onednn.convolution": Op({"src": NCHW, "weights": OIHW, "bias": ACC.ravel()}, np.int32, each=False),
    "onednn.inner_product": Op({"src": CODES, "weights": S8, "bias": np.int32([1, -2])}, np.int32, each=False),
    "onednn.matmul": Op({"src": CODES, "weights": S8.T.copy(), "bias": np.int32([[1, -2]])}, np.int32, each=False),
    "onednn.gemm_u8s8s32": Op({"a": CODES, "b": S8.T.copy(), **GEMM}, np.int32, each=False, rows=True),
    "onednn.gemm_s8s8s32": Op({"a": S8, "b": S8.T.copy(), **GEMM}, np.int32, each=False, rows=True),
    "onednn.lstm": Op(
        {**rnn(4), "src_iter_c": np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 1, 2, 4)}, each=False
    ),
    "onednn.gru": Op(rnn(3), each=False),
    "onednn.recommended_weights_scale": Op({"weights": REALS}, each=False),
    "onednn.saturated_pairs": Op({"src": PAIRS_U8, "weights": PAIRS_S8}, each=False),
    "onednn.unsafe_pairs": Op({"weights": PAIRS_S8}, each=False),
    "onednn.workflow.activations_factor": Op({"activations": REALS + 1}, each=False),
    "onednn.workflow.weights_factor": Op({"weights": REALS}, each=False),
    "onednn.workflow.quantize_activations": Op({"activations": REALS + 1, "q_a": Q_A}),
    "onednn.workflow.quantize_weights": Op({"weights": REALS, "q_w": Q_W}, each=False),
    "onednn.workflow.quantize_bias": Op({"bias": REALS[0].copy(), "q_a": Q_A, "q_w": Q_CHANNELS}, each=False),
    "onednn.workflow.dequantize": Op({"x": CODES_32, "q_a": Q_A, "q_w": Q_CHANNELS}, each=False),
    "onednn.workflow.output_scale": Op({"q_a": Q_A, "q_w": Q_W}, each=False),
}
PREPARED = {
    "onednn.Convolution": ("onednn.convolution", ("src", "dst_in")),
    "onednn.InnerProduct": ("onednn.inner_product", ("src", "dst_in")),
    "onednn.MatMul": ("onednn.matmul", ("src", "dst_in")),
    "onednn.GemmU8S8S32": ("onednn.gemm_u8s8s32", ("a", "c")),
    "onednn.GemmS8S8S32": ("onednn.gemm_s8s8s32", ("a", "c")),
}
OTHER_CALLS = {
    "onednn.Convolution": {"dst_dt": "u8", "attr": SCALED, "bias": np.float32([1, -2, 3, 0.5])},
    "onednn.InnerProduct": {"dst_dt": "s8", "attr": Attr(post_ops=[Sum(0.5)]), "dst_in": np.int8([[1, 2], [3, 4]])},
    "onednn.MatMul": {"dst_dt": "u8", "attr": Attr(wei_scale=Scales([1, 2], mask=2), src_zp=3), "isa": "avx2"},
    "onednn.GemmU8S8S32": {"offsetc": "R", "co": np.int32([9, -9]), "isa": "avx2"},
    "onednn.GemmS8S8S32": {"offsetc": "C", "co": np.int32([9, -9]), "c": None, "beta": 0.0},
}
FEW = {
    "onednn.Convolution": {"weights": OIHW[..., :1, :1]},
}
