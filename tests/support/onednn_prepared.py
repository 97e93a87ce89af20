"""oneDNN's prepared ops, made and called with the arguments of their functions."""

from inspect import signature

from qops import onednn

OPS = {
    onednn.convolution: onednn.Convolution,
    onednn.inner_product: onednn.InnerProduct,
    onednn.matmul: onednn.MatMul,
    onednn.gemm_u8s8s32: onednn.GemmU8S8S32,
    onednn.gemm_s8s8s32: onednn.GemmS8S8S32,
}
DATA = ("out", "num_threads", "dst_in", "c")
"""What an op is called with, beside its first argument; the constructor takes all other arguments."""


def prepare(function, weights, bias=None, **how):
    """The prepared op beside a function, and what is left of `how` for its calls."""
    bias = {} if bias is None else {"bias": bias}
    op = OPS[function](weights, **bias, **{name: value for name, value in how.items() if name not in DATA})
    return op, {name: value for name, value in how.items() if name in DATA}


def run(function, *arguments, **how):
    """The result of the function of these arguments, by a prepared op that serves this call alone."""
    given = signature(function).bind(*arguments, **how).arguments
    x, weights = (given.pop(name) for name in [*signature(function).parameters][:2])
    op, data = prepare(function, weights, **given)
    return op(x, **data)
