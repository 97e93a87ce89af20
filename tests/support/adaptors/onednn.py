"""Names of the inputs, attributes and outputs of oneDNN's cases <-> those of `qops.onednn`.

What has the value that is the default is left out, so that the defaults are tested too: `left_out` states them.
"""

from collections.abc import Callable
from typing import Any

from qops import onednn

Arguments = dict[str, Any]


def left_out(options: Arguments, **defaults: Any) -> Arguments:
    """The options without those that have their default: a case that has it tests it."""
    return {name: value for name, value in options.items() if name not in defaults or value != defaults[name]}


def machine(attrs: Arguments) -> Arguments:
    given = {"isa": attrs["isa"], "version": attrs["lib"].rpartition(".")[0]}
    return left_out(given, isa="vnni", version="3.13")


def of(attrs: Arguments, *names: str) -> Arguments:
    return {name: attrs[name] for name in names if name in attrs}


def attributes(attrs: Arguments) -> onednn.Attr:
    scales = {
        name: onednn.Scales(attrs[name], *([attrs[f"{name}_mask"]] if f"{name}_mask" in attrs else []))
        for name in ("oscale", "src_scale", "wei_scale", "dst_scale")
        if name in attrs
    }
    zeros = {name: attrs[name][0] for name in ("src_zp", "wei_zp", "dst_zp") if name in attrs}
    post_ops = {"post_ops": [post_op(op) for op in attrs["post_ops"]]} if attrs.get("post_ops") else {}
    return onednn.Attr(**post_ops, **scales, **zeros)


def post_op(op: Arguments) -> onednn.Sum | onednn.Eltwise:
    if op["kind"] == "sum":
        return onednn.Sum(op["scale"])
    return onednn.Eltwise(**left_out(of(op, "alg", "alpha", "scale"), alg="relu", alpha=0.0, scale=1.0))


def window(attrs: Arguments) -> onednn.Window:
    given = {name: tuple(value) for name, value in of(attrs, "stride", "dilation", "pad_l", "pad_r").items()}
    return onednn.Window(**left_out(given, stride=(1, 1), dilation=(0, 0), pad_l=(0, 0), pad_r=(0, 0)))


def attr(attrs: Arguments) -> Arguments:
    found = attributes(attrs)
    return {} if found == onednn.Attr() else {"attr": found}


def windowed(attrs: Arguments) -> Arguments:
    found = window(attrs)
    return {} if found == onednn.Window() else {"window": found}


def gemm(i: Arguments, attrs: Arguments) -> Arguments:
    multiply = {"u8s8": onednn.gemm_u8s8s32, "s8s8": onednn.gemm_s8s8s32}[attrs["kind"]]
    options = of(attrs, "transa", "transb", "alpha", "ao", "bo", "beta", "offsetc")
    options = left_out(options, transa="N", transb="N", alpha=1.0, ao=0, bo=0, beta=0.0, offsetc="F")
    options |= {new: i[old] for new, old in {"c": "C_in", "co": "co"}.items() if old in i}
    return {"C": multiply(i["A"], i["B"], **options, **machine(attrs))}


def inner_product(i: Arguments, attrs: Arguments) -> Arguments:
    options = left_out(of(attrs, "dst_dt", "weights_format"), dst_dt="s32", weights_format="any")
    return {"dst": onednn.inner_product(**i, **options, **attr(attrs), **machine(attrs))}


def matmul(i: Arguments, attrs: Arguments) -> Arguments:
    options = left_out(of(attrs, "dst_dt"), dst_dt="s32")
    return {"dst": onednn.matmul(**i, **options, **attr(attrs), **machine(attrs))}


def convolution(i: Arguments, attrs: Arguments) -> Arguments:
    options = left_out(of(attrs, "dst_dt", "layout"), dst_dt="s32", layout="nhwc") | attr(attrs) | machine(attrs)
    if "wq_scale" in attrs:
        options["wq_scale"] = onednn.Scales(attrs["wq_scale"], attrs["wq_mask"])
    return {"dst": onednn.convolution(**i, **options, **windowed(attrs))}


def pooling(i: Arguments, attrs: Arguments) -> Arguments:
    options = left_out(of(attrs, "alg", "kernel", "layout"), layout="nhwc")
    return {"dst": onednn.pooling(**i, **options, **windowed(attrs), **machine(attrs))}


def reorder(i: Arguments, attrs: Arguments) -> Arguments:
    return {"dst": onednn.reorder(**i, dst_dt=attrs["dst_dt"], **attr(attrs), **machine(attrs))}


def eltwise(i: Arguments, attrs: Arguments) -> Arguments:
    options = left_out(of(attrs, "alg", "alpha", "beta"), alpha=0.0, beta=0.0) | machine(attrs)
    return {"dst": onednn.eltwise(**i, **options)}


def binary(i: Arguments, attrs: Arguments) -> Arguments:
    scales = {"scale0": "src_scale", "scale1": "wei_scale"}
    options = {new: attrs[old][0] for new, old in scales.items() if old in attrs}
    options |= left_out(of(attrs, "alg", "dst_dt"), dst_dt="u8") | machine(attrs)
    if attrs.get("post_ops"):
        options["post_ops"] = attributes(attrs).post_ops
    return {"dst": onednn.binary(**i, **options)}


def total(i: Arguments, attrs: Arguments) -> Arguments:
    srcs = [i[f"src{k}"] for k in range(len(i))]
    options = left_out(of(attrs, "dst_dt"), dst_dt="u8") | machine(attrs)
    return {"dst": onednn.sum(srcs, attrs["scales"], **options)}


def rnn(attrs: Arguments) -> Arguments:
    weights_scale = onednn.Scales(attrs["rnn_wscale"], attrs["rnn_wmask"])
    given = {"scale": attrs["rnn_scale"], "shift": attrs["rnn_shift"]}
    quant = {"quant": onednn.StateQuant(**given)} if given != {"scale": 127.0, "shift": 128.0} else {}
    return {"weights_scale": weights_scale, **quant, **machine(attrs)}


def lstm(i: Arguments, attrs: Arguments) -> Arguments:
    return dict(zip(("dst_layer", "dst_iter", "dst_iter_c"), onednn.lstm(**i, **rnn(attrs)), strict=True))


def gru(i: Arguments, attrs: Arguments) -> Arguments:
    return dict(zip(("dst_layer", "dst_iter"), onednn.gru(**i, **rnn(attrs)), strict=True))


ADAPTORS: dict[str, Callable[[Arguments, Arguments], Arguments]] = {
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
