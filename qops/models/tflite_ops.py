"""Makes a prepared op of `qops.tflite` of each operator of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import tflite
from qops.models.graph import Layer, Op, Tensor
from qops.models.moves import MOVES
from qops.models.tflite_alone import alone
from qops.models.tflite_file import Operator
from qops.models.tflite_real import ACTIVATIONS, PADDINGS, REAL, products
from qops.prepared import Prepared

__all__ = ["Missing", "op_of"]

_MOST = 2**28  # elements of a result whose size a constant tells


class Missing(ValueError):
    """An operator that qops does not have, in words."""


class Made(NamedTuple):
    """A prepared op, and which inputs a call takes."""

    takes: tuple[int, ...]
    run: Callable[..., Any]
    layer: Layer | None = None


class Site:
    """One operator in its place: what makers read of it."""

    def __init__(self, operator: Operator, kernel: str) -> None:
        self.operator, self.kernel, self.options = operator, kernel, operator.options
        self.kind, self.outputs = operator.kind, operator.outputs

    def tensor(self, i: int) -> Tensor:
        """Give an input that the operator cannot do without."""
        inputs = self.operator.inputs
        if i >= len(inputs) or inputs[i] is None:
            raise Missing(f"its input {i} is left out")
        tensor = inputs[i]
        assert tensor is not None
        return tensor

    def has(self, i: int) -> bool:
        """Whether an input is given."""
        return i < len(self.operator.inputs) and self.operator.inputs[i] is not None

    def constant(self, i: int) -> NDArray[Any]:
        """Give the codes of an input, which must be a constant."""
        tensor = self.tensor(i)
        if tensor.data is None:
            raise Missing(f"its input {i}, {tensor.name!r}, is no constant")
        return tensor.data

    def numbers(self, name: str, tensor: Tensor) -> dict[str, Any]:
        """Give scale and zero point of a tensor as the arguments of a prepared op."""
        if tensor.scale is None or tensor.zero_point is None:
            raise Missing(f"{tensor.name!r} has no scale")
        if tensor.scale.ndim:
            raise Missing(f"{tensor.name!r} has a scale for each channel")
        return {f"{name}_scale": float(tensor.scale), f"{name}_zero_point": int(tensor.zero_point)}

    @property
    def y(self) -> dict[str, Any]:
        """Scale and zero point of the result."""
        return self.numbers("y", self.outputs[0])

    def own(self, i: int = 0) -> dict[str, Any]:
        """Give the type of the codes and the library of kernels."""
        return {"dtype": self.tensor(i).dtype, "kernel": self.kernel}

    @property
    def activation(self) -> dict[str, str]:
        """The fused activation."""
        number = self.options.get("FusedActivationFunction", 0)
        if number not in ACTIVATIONS:
            raise Missing(f"its fused activation is number {number}, which has no integers")
        return {"activation": ACTIVATIONS[number]}

    @property
    def moves(self) -> dict[str, Any]:
        """Strides and padding of a window."""
        o = self.options
        return {"stride": (o["StrideH"], o["StrideW"]), "padding": PADDINGS[o["Padding"]]}

    @property
    def dilation(self) -> dict[str, Any]:
        """The distance of the taps."""
        return {"dilation": (self.options["DilationHFactor"], self.options["DilationWFactor"])}

    def weights(self, i: int, channel: int) -> dict[str, Any]:
        """Give type, scales and zero point of weights, whose channels lie along one axis."""
        w = self.tensor(i)
        if w.scale is None or w.zero_point is None:
            raise Missing(f"its weights {w.name!r} have no scale (a hybrid layer)")
        if w.axis not in (None, channel):
            raise Missing(f"its weights {w.name!r} have scales along axis {w.axis}")
        zeros = np.unique(w.zero_point)
        if zeros.size != 1:
            raise Missing(f"its weights {w.name!r} have more than one zero point")
        return {"w_scale": w.scale if w.scale.ndim else float(w.scale), "w_zero_point": int(zeros[0]), "w_type": w.dtype}


Maker = Callable[[Site], Made]
_SUMS = {"CONV_2D": (0, 1), "DEPTHWISE_CONV_2D": (0, 1), "FULLY_CONNECTED": (0, 1), "TRANSPOSE_CONV": (2, 1)}
"""Where the data and the weights of a layer stand among its inputs."""


def _bias(site: Site, i: int) -> NDArray[Any] | None:
    return site.constant(i) if site.has(i) else None


def _layer(site: Site, x: int, w: int, bias: int, how: dict[str, Any], shape: Any = None) -> Layer:
    """What can be asked of a layer: its exact sums, its scales, its ends."""
    data, weights, zero = site.tensor(x), site.tensor(w), site.numbers("x", site.tensor(x))["x_zero_point"]
    y = site.outputs[0]
    centred = site.constant(w).astype(np.float64) - how["w_zero_point"]

    def sums(codes: NDArray[Any], given: NDArray[Any] | None) -> NDArray[np.int64]:
        made = np.rint(products(site.operator, codes.astype(np.float64) - zero, centred, shape)).astype(np.int64)
        return made if given is None else made + given.astype(np.int64)

    lo, hi = _ends(y, how["activation"])
    numbers = {
        **{"in_scale": float(data.scale), "w_scale": how["w_scale"], "out_scale": float(y.scale)},  # type: ignore[arg-type]
        **{"zero_point": int(y.zero_point), "qmin": lo, "qmax": hi},  # type: ignore[arg-type]
    }
    return Layer("requantize", numbers, weights.data, _bias(site, bias), sums, zero)


def _ends(y: Tensor, activation: str) -> tuple[int, int]:
    info = np.iinfo(y.dtype)
    low, high = {"NONE": (None, None), "RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}[activation]
    ends = [None if v is None else _steps(v, y) for v in (low, high)]
    lo, hi = (end if found is None else found for end, found in zip((info.min, info.max), ends, strict=True))
    return max(int(info.min), lo), min(int(info.max), hi)


def _steps(value: float, y: Tensor) -> int:
    """``half_away(value / scale)`` in float32, as TFLite's ``CalculateActivationRangeQuantized`` has it."""
    quotient = np.float32(value) / np.float32(y.scale)  # type: ignore[arg-type]
    return int(np.floor(abs(quotient) + 0.5) * np.sign(quotient)) + int(y.zero_point)  # type: ignore[arg-type]


def _conv(site: Site) -> Made:
    x, w = site.tensor(0), site.constant(1)
    if x.shape[-1] is None or w.ndim != 4 or x.shape[-1] % w.shape[3]:  # noqa: PLR2004
        raise Missing(f"its weights of shape {w.shape} do not fit {x.shape}")
    how = {**site.numbers("x", x), **site.weights(1, 0), **site.y, **site.activation}
    more = {**site.moves, **site.dilation, **site.own(), "groups": x.shape[-1] // w.shape[3]}
    return Made((0,), tflite.Conv2D(w, _bias(site, 2), **how, **more), _layer(site, 0, 1, 2, how))


def _depthwise(site: Site) -> Made:
    how = {**site.numbers("x", site.tensor(0)), **site.weights(1, 3), **site.y, **site.activation}
    w, channels = site.constant(1), site.tensor(0).shape[-1]
    if not channels or w.ndim != 4 or w.shape[3] % channels:  # noqa: PLR2004
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    more = {**site.moves, **site.dilation, **site.own(), "depth_multiplier": w.shape[3] // channels}
    return Made((0,), tflite.DepthwiseConv2D(w, _bias(site, 2), **how, **more), _layer(site, 0, 1, 2, how))


def _connected(site: Site) -> Made:
    how = {**site.numbers("x", site.tensor(0)), **site.weights(1, 0), **site.y, **site.activation}
    if site.options.get("WeightsFormat"):
        raise Missing("its weights are shuffled")
    keeps = bool(site.options.get("KeepNumDims", False))
    op = tflite.FullyConnected(site.constant(1), _bias(site, 2), **how, **site.own(), keep_num_dims=keeps)
    return Made((0,), op, _layer(site, 0, 1, 2, how))


def _transposed(site: Site) -> Made:
    x, shape = site.tensor(2), site.constant(0)
    if np.prod(shape.astype(np.float64)) > _MOST:
        raise Missing(f"its result of shape {shape.tolist()} is too large")
    how = {**site.numbers("x", x), **site.weights(1, 0), **site.y, **site.activation}
    given = {name: value for name, value in how.items() if name != "w_type"}
    op = tflite.TransposeConv(shape, site.constant(1), _bias(site, 3), **given, **site.moves, **site.own(2))
    return Made((2,), op, _layer(site, 2, 1, 3, how, shape.tolist()))


def _pair(maker: Callable[..., Any], explained: str = "", *, fixed: bool = False) -> Maker:
    """An operator of two tensors; `explained` is its kind for `qops.explain`."""

    def make(site: Site) -> Made:
        how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y}
        more: dict[str, Any] = {} if fixed else dict(site.activation)
        if "PotScaleInt16" in site.options:
            more["pot_scale_int16"] = bool(site.options["PotScaleInt16"])
        layer = None
        if explained:
            lo, hi = _ends(site.outputs[0], more["activation"])
            layer = Layer(explained, {**how, "qmin": lo, "qmax": hi})
        return Made((0, 1), maker(**how, **more, **site.own()), layer)

    return make


def _largest(maker: Callable[..., Any]) -> Maker:
    return lambda site: Made((0, 1), maker(**site.own()))


def _pool(maker: Callable[..., Any]) -> Maker:
    def make(site: Site) -> Made:
        o = site.options
        how = {**site.numbers("x", site.tensor(0)), **site.y, **site.moves, **site.activation, **site.own()}
        return Made((0,), maker(window=(o["FilterHeight"], o["FilterWidth"]), **how))

    return make


def _reduced(maker: Callable[..., Any]) -> Maker:
    def make(site: Site) -> Made:
        how = {**site.numbers("x", site.tensor(0)), **site.y, **site.own()}
        return Made((0,), maker(site.constant(1), keep_dims=bool(site.options.get("KeepDims", False)), **how))

    return make


def _one(maker: Callable[..., Any], **options: str) -> Maker:
    """An operator of one tensor; `options` are its own arguments, by their names in the schema."""

    def make(site: Site) -> Made:
        more = {name: site.options[field] for name, field in options.items()}
        return Made((0,), maker(**site.numbers("x", site.tensor(0)), **site.y, **more, **site.own()))

    return make


def _softmax(site: Site) -> Made:
    how = {**site.numbers("x", site.tensor(0)), **site.y, **site.own(), "beta": site.options["Beta"]}
    return Made((0,), tflite.Softmax(**how, y_dtype=site.outputs[0].dtype))


def _gelu(site: Site) -> Made:
    how = {**site.numbers("x", site.tensor(0)), **site.y, **site.own()}
    return Made((0,), tflite.Gelu(**how, approximate=bool(site.options["Approximate"])))


def _neg(site: Site) -> Made:
    return Made((0,), tflite.Neg(**site.own()))


def _prelu(site: Site) -> Made:
    how = {**site.numbers("x", site.tensor(0)), **site.numbers("alpha", site.tensor(1)), **site.y}
    if site.tensor(1).data is None:
        return Made((0, 1), lambda x, alpha: tflite.prelu(x, alpha, **how, kernel=site.kernel))
    return Made((0,), tflite.Prelu(site.constant(1), **how, **site.own()))


def _quantize(site: Site) -> Made:
    x, y = site.tensor(0), site.outputs[0]
    how = {**site.y, "dtype": y.dtype, "kernel": site.kernel}
    return Made((0,), tflite.Quantize(**how, **({} if x.dtype == "float32" else site.numbers("x", x))))


def _dequantize(site: Site) -> Made:
    return Made((0,), tflite.Dequantize(**site.numbers("x", site.tensor(0)), **site.own()))


def _concatenated(site: Site) -> Made:
    tensors = [site.tensor(i) for i in range(len(site.operator.inputs))]
    each = [site.numbers("x", tensor) for tensor in tensors]
    how = {
        **{"x_scale": [n["x_scale"] for n in each], "x_zero_point": [n["x_zero_point"] for n in each]},
        **{**site.y, **site.activation, "axis": site.options["Axis"], "kernel": site.kernel},
    }
    return Made(tuple(range(len(tensors))), lambda *parts: tflite.concatenation(parts, **how))


def _padded(site: Site) -> Made:
    x, y = site.tensor(0), site.outputs[0]
    pads = site.constant(1)
    if np.abs(pads.astype(np.float64)).max(initial=0) > _MOST or np.prod([n or 1 for n in y.shape], dtype=float) > _MOST:
        raise Missing("its result is too large")
    if site.kind == "PADV2":
        return Made((0,), tflite.PadV2(pads, int(np.ravel(site.constant(2))[0]), **site.own()))
    zeros = {f"{name}_zero_point": site.numbers(name, t)[f"{name}_zero_point"] for name, t in (("x", x), ("y", y))}
    return Made((0,), tflite.Pad(pads, **zeros, **site.own()))


def _resized(maker: Callable[..., Any]) -> Maker:
    def make(site: Site) -> Made:
        size = site.constant(1)
        if np.prod(size.astype(np.float64)) > _MOST:
            raise Missing(f"its result of size {size.tolist()} is too large")
        flags = {"align_corners": "AlignCorners", "half_pixel_centers": "HalfPixelCenters"}
        given = {name: bool(site.options.get(field, False)) for name, field in flags.items()}
        return Made((0,), maker(size, **given, **site.own()))

    return make


def _matmul(site: Site) -> Made:
    how = {
        **{**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y},
        **{"adj_x": bool(site.options.get("AdjX")), "adj_y": bool(site.options.get("AdjY")), "kernel": site.kernel},
    }
    if site.tensor(1).data is None:
        return Made((0, 1), lambda a, b: tflite.batch_matmul(a, b, **how))
    return Made((0,), tflite.BatchMatmul(site.constant(1), **how, dtype=site.tensor(0).dtype))


def _svdf(site: Site) -> Made:
    numbers = {
        **{"x_scale": site.numbers("x", site.tensor(0))["x_scale"], **site.y, **site.numbers("state", site.tensor(4))},
        **{"x_zero_point": site.numbers("x", site.tensor(0))["x_zero_point"], "rank": site.options["Rank"]},
        **{f"{name}_scale": site.numbers(name, site.tensor(i))[f"{name}_scale"] for i, name in ((1, "feature"), (2, "time"))},
    }
    op = tflite.Svdf(site.constant(1), site.constant(2), _bias(site, 3), **numbers, **site.own())
    return Made((0,), lambda x: op(x).y)


def _lstm(site: Site) -> Made:
    """Inputs 1 to 4 and 5 to 8 are the weights of input, forget, cell and output; 12 to 15 the biases."""
    if any(site.has(i) for i in (*range(9, 12), 16, 17, *range(20, 24))):
        raise Missing("its LSTM has peepholes, a projection or layer norm")
    w, r = ([site.tensor(i) for i in part] for part in (range(1, 5), range(5, 9)))
    if len(site.operator.intermediates) < 5:  # noqa: PLR2004
        raise Missing("its LSTM has no scales of its inner tensors")
    hidden = site.numbers("hidden", site.operator.intermediates[4])
    arrays = (
        np.stack([site.constant(i) for i in range(1, 5)]),
        np.stack([site.constant(i) for i in range(5, 9)]),
        np.stack([site.constant(i) for i in range(12, 16)]),
    )
    how = {
        **{**site.numbers("x", site.tensor(0)), **hidden},
        **{"w_scale": [float(t.scale) for t in w], "r_scale": [float(t.scale) for t in r]},  # type: ignore[arg-type]
        **{"cell_scale": site.numbers("cell", site.tensor(19))["cell_scale"], "cell_clip": site.options["CellClip"]},
        "time_major": bool(site.options.get("TimeMajor")),
    }
    op = tflite.UnidirectionalSequenceLstm(*arrays, **how, **site.own())
    return Made((0,), lambda x: op(x).y)


_MAKERS: dict[str, Maker] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _connected,
    "TRANSPOSE_CONV": _transposed,
    "BATCH_MATMUL": _matmul,
    "ADD": _pair(tflite.Add, "add"),
    "SUB": _pair(tflite.Sub),
    "MUL": _pair(tflite.Mul, "mul"),
    "SQUARED_DIFFERENCE": _pair(tflite.SquaredDifference, fixed=True),
    "MAXIMUM": _largest(tflite.Maximum),
    "MINIMUM": _largest(tflite.Minimum),
    "AVERAGE_POOL_2D": _pool(tflite.AveragePool2D),
    "MAX_POOL_2D": _pool(tflite.MaxPool2D),
    "MEAN": _reduced(tflite.Mean),
    "SUM": _reduced(tflite.Sum),
    "REDUCE_MAX": _reduced(tflite.ReduceMax),
    "REDUCE_MIN": _reduced(tflite.ReduceMin),
    "SOFTMAX": _softmax,
    "LOG_SOFTMAX": _one(tflite.LogSoftmax),
    "L2_NORMALIZATION": _one(tflite.L2Normalization),
    "LOGISTIC": _one(tflite.Logistic),
    "TANH": _one(tflite.Tanh),
    "HARD_SWISH": _one(tflite.HardSwish),
    "LEAKY_RELU": _one(tflite.LeakyRelu, alpha="Alpha"),
    "PRELU": _prelu,
    "RELU": _one(tflite.Relu),
    "RELU6": _one(tflite.Relu6),
    "RELU_N1_TO_1": _one(tflite.ReluN1To1),
    "RELU_0_TO_1": _one(tflite.Relu0To1),
    "ELU": _one(tflite.Elu),
    "GELU": _gelu,
    "EXP": _one(tflite.Exp),
    "SQRT": _one(tflite.Sqrt),
    "RSQRT": _one(tflite.Rsqrt),
    "ABS": _one(tflite.Abs),
    "NEG": _neg,
    "QUANTIZE": _quantize,
    "DEQUANTIZE": _dequantize,
    "CONCATENATION": _concatenated,
    "PAD": _padded,
    "PADV2": _padded,
    "RESIZE_BILINEAR": _resized(tflite.ResizeBilinear),
    "RESIZE_NEAREST_NEIGHBOR": _resized(tflite.ResizeNearestNeighbor),
    "SVDF": _svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
}


def op_of(operator: Operator, name: str, kernel: str) -> Op:
    """Make the op of one operator.

    Parameters
    ----------
    operator : Operator
        As the file has it.
    name : str
        What the op is called.
    kernel : str
        Whose bits, in the words of `qops.tflite`.

    Returns
    -------
    Op

    Raises
    ------
    Missing
        An operator, or a form of it, that qops does not have.
    """
    kind = operator.kind
    inputs = tuple(t.name for t in operator.inputs if t is not None)
    outputs = tuple(t.name for t in operator.outputs)
    if not outputs:
        raise Missing("it has no result")
    try:
        made, rule = _made(operator, kind, kernel)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as why:
        raise Missing(str(why)) from why
    taken = [operator.inputs[i] for i in made.takes]
    data = [(None if t is None else t.data) for t in taken]
    reads = tuple(t.name for t in taken if t is not None and t.data is None)

    def call(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        given = iter(arrays)
        found = made.run(*(next(given) if d is None else d for d in data))
        return found if type(found) is tuple else (found,)

    real, remade = _real_of(operator, reads), partial(op_of, operator, name)
    prepared = made.run if isinstance(made.run, Prepared) else None
    own = partial(alone, operator, reads)
    return Op(name, kind, inputs, outputs, reads, call, real, rule, _known(made), remade, prepared, own)


def _known(made: Made) -> Layer | None:
    """Give the layer with what takes its sums to codes, which the prepared op knows."""
    if made.layer is None or not hasattr(made.run, "requantize"):
        return made.layer
    return replace(made.layer, requantize=made.run.requantize)


def _made(operator: Operator, kind: str, kernel: str) -> tuple[Made, str]:
    if kind in MOVES:
        takes = tuple(i for i, t in enumerate(operator.inputs) if t is not None)
        return Made(takes, lambda *arrays: tuple(MOVES[kind](operator, arrays))), "moves codes"
    floats = [t.dtype == "float32" and t.scale is None for t in (*operator.inputs[:1], *operator.outputs[:1]) if t]
    if all(floats) and kind in REAL:
        takes = tuple(i for i, t in enumerate(operator.inputs) if t is not None and t.data is None)
        real = _real_of(operator, tuple(operator.inputs[i].name for i in takes))  # type: ignore[union-attr]
        assert real is not None
        return Made(takes, lambda *arrays: tuple(y.astype(np.float32) for y in real(*arrays))), "float32"
    if kind not in _MAKERS:
        raise Missing("qops has no such operator")
    return _MAKERS[kind](Site(operator, kernel)), kernel


def _real_of(operator: Operator, reads: Sequence[str]) -> Callable[..., tuple[NDArray[Any], ...]] | None:
    """Give the op in real numbers: values of `reads` to values of the outputs."""
    kind = operator.kind
    if kind not in MOVES and kind not in REAL:
        return None

    def values_of(t: Tensor) -> NDArray[Any]:
        """Values of a constant. A bias whose scale the file leaves out has that of its sums, x_scale * w_scale."""
        assert t.data is not None
        if t.scale is None and t.dtype in ("int32", "int64") and kind in _SUMS and t is not operator.inputs[0]:
            x, w = (operator.inputs[i] for i in _SUMS[kind])
            if x is not None and w is not None and x.scale is not None and w.scale is not None:
                return t.data * (x.scale.astype(np.float64) * w.scale)
        return t.values(t.data)

    def real(*values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        by_name = dict(zip(reads, values, strict=True))
        given = [None if t is None else by_name[t.name] if t.data is None else values_of(t) for t in operator.inputs]
        if kind in MOVES:
            return MOVES[kind](operator, given)
        return (np.asarray(REAL[kind](operator, given)),)

    return real
