"""Names of the inputs, attributes and outputs of oneDNN's cases <-> those of `qops.onednn`."""

from collections.abc import Callable
from typing import Any

from qops import onednn

Values = dict[str, Any]


def machine(attrs: Values) -> Values:
    return {"isa": attrs["isa"], "version": attrs["lib"].rpartition(".")[0]}


def attributes(attrs: Values) -> onednn.Attr:
    scales = {
        name: onednn.Scales(attrs[name], attrs.get(f"{name}_mask", 0))
        for name in ("oscale", "src_scale", "wei_scale", "dst_scale")
        if name in attrs
    }
    zeros = {name: attrs[name][0] for name in ("src_zp", "wei_zp", "dst_zp") if name in attrs}
    return onednn.Attr(post_ops=[post_op(op) for op in attrs.get("post_ops", [])], **scales, **zeros)


def post_op(op: Values) -> onednn.Sum | onednn.Eltwise:
    if op["kind"] == "sum":
        return onednn.Sum(op["scale"])
    return onednn.Eltwise(op["alg"], op["alpha"], op.get("scale", 1.0))


def window(attrs: Values) -> onednn.Window:
    return onednn.Window(attrs["stride"], attrs.get("dilation", (0, 0)), attrs["pad_l"], attrs["pad_r"])


def gemm(i: Values, attrs: Values) -> Values:
    multiply = {"u8s8": onednn.gemm_u8s8s32, "s8s8": onednn.gemm_s8s8s32}[attrs["kind"]]
    options = {name: attrs[name] for name in ("transa", "transb", "alpha", "ao", "bo", "beta", "offsetc")}
    return {"C": multiply(i["A"], i["B"], c=i.get("C_in"), co=i["co"], **options, **machine(attrs))}


def inner_product(i: Values, attrs: Values) -> Values:
    options = {name: attrs[name] for name in ("dst_dt", "weights_format")} | machine(attrs)
    return {"dst": onednn.inner_product(**i, **options, attr=attributes(attrs))}


def matmul(i: Values, attrs: Values) -> Values:
    return {"dst": onednn.matmul(**i, dst_dt=attrs["dst_dt"], attr=attributes(attrs), **machine(attrs))}


def convolution(i: Values, attrs: Values) -> Values:
    wq_scale = onednn.Scales(attrs["wq_scale"], attrs["wq_mask"]) if "wq_scale" in attrs else None
    options = {name: attrs[name] for name in ("dst_dt", "layout")} | machine(attrs)
    attr = attributes(attrs)
    return {"dst": onednn.convolution(**i, window=window(attrs), attr=attr, wq_scale=wq_scale, **options)}


def pooling(i: Values, attrs: Values) -> Values:
    options = {name: attrs[name] for name in ("alg", "kernel", "layout")} | machine(attrs)
    return {"dst": onednn.pooling(**i, window=window(attrs), **options)}


def reorder(i: Values, attrs: Values) -> Values:
    return {"dst": onednn.reorder(**i, dst_dt=attrs["dst_dt"], attr=attributes(attrs), **machine(attrs))}


def eltwise(i: Values, attrs: Values) -> Values:
    options = {name: attrs[name] for name in ("alg", "alpha", "beta")} | machine(attrs)
    return {"dst": onednn.eltwise(**i, **options)}


def binary(i: Values, attrs: Values) -> Values:
    scales = {"scale0": "src_scale", "scale1": "wei_scale"}
    options = {new: attrs[old][0] for new, old in scales.items() if old in attrs}
    options |= {name: attrs[name] for name in ("alg", "dst_dt")} | machine(attrs)
    return {"dst": onednn.binary(**i, **options, post_ops=attributes(attrs).post_ops)}


def total(i: Values, attrs: Values) -> Values:
    srcs = [i[f"src{k}"] for k in range(len(i))]
    return {"dst": onednn.sum(srcs, attrs["scales"], dst_dt=attrs["dst_dt"], **machine(attrs))}


def rnn(attrs: Values) -> Values:
    weights_scale = onednn.Scales(attrs["rnn_wscale"], attrs["rnn_wmask"])
    quant = onednn.StateQuant(attrs["rnn_scale"], attrs["rnn_shift"])
    return {"weights_scale": weights_scale, "quant": quant, **machine(attrs)}


def lstm(i: Values, attrs: Values) -> Values:
    return dict(zip(("dst_layer", "dst_iter", "dst_iter_c"), onednn.lstm(**i, **rnn(attrs)), strict=True))


def gru(i: Values, attrs: Values) -> Values:
    return dict(zip(("dst_layer", "dst_iter"), onednn.gru(**i, **rnn(attrs)), strict=True))


ADAPTORS: dict[str, Callable[[Values, Values], Values]] = {
    "binary": binary,
    "conv": convolution,
    "eltwise": eltwise,
    "gemm": gemm,
    "gru": gru,
    "ip": inner_product,
    "lstm": lstm,
    "matmul": matmul,
    "pool": pooling,
    "reorder": reorder,
    "sum": total,
}
