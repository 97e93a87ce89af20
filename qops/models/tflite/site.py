"""One operator of a .tflite file in its place: what the makers of prepared ops read of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.op import Layer, Missing
from qops.models.tensor import Tensor, Values, zero_of
from qops.models.tflite.file import Operator

__all__ = ["MOST", "PADDINGS", "Maker", "OperatorRunner", "PlacedOperator", "activated"]

PADDINGS = {0: "SAME", 1: "VALID"}
_ACTIVATIONS = {0: "NONE", 1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}
"""The fused activations, by their numbers in the schema; others are for floats only."""
_LIMITS = {"NONE": (-np.inf, np.inf), "RELU": (0.0, np.inf), "RELU_N1_TO_1": (-1.0, 1.0), "RELU6": (0.0, 6.0)}
"""The lowest and the highest real value that each lets through."""
_TANH = 4  # a fused activation of floats

MOST = 2**28
"""Elements of the largest result whose size a constant may tell."""


class OperatorRunner(NamedTuple):
    """What runs an operator.

    Attributes
    ----------
    takes : tuple of int
        The inputs that `run` takes; behind these it takes the states, or None, and gives them behind the results.
    run : callable
    layer : Layer or None
    prepared : Prepared or None
        The prepared op, if `run` is not one.
    states : dict of str to ndarray
        What the operator keeps from one call to the next, by name, as it starts.
    """

    takes: tuple[int, ...]
    run: Callable[..., Any]
    layer: Layer | None = None
    prepared: Any = None
    states: Mapping[str, NDArray[Any]] = MappingProxyType({})


class PlacedOperator:
    """One operator in its place."""

    def __init__(self, operator: Operator, kernel: str) -> None:
        self.operator, self.kernel, self.options = operator, kernel, operator.options
        self.kind, self.outputs = operator.kind, operator.outputs

    def tensor(self, i: int) -> Tensor:
        """Give an input that the operator cannot do without."""
        found = self.operator.inputs[i] if i < len(self.operator.inputs) else None
        if found is None:
            raise Missing(f"its input {i} is left out")
        return found

    def has(self, i: int) -> bool:
        """Whether an input is given."""
        return i < len(self.operator.inputs) and self.operator.inputs[i] is not None

    def constant(self, i: int) -> NDArray[Any]:
        """Give the codes of an input, which must be a constant."""
        tensor = self.tensor(i)
        if tensor.data is None:
            raise Missing(f"its input {i}, {tensor.name!r}, is no constant")
        return tensor.data

    def bias(self, i: int) -> NDArray[Any] | None:
        """Give an input that may be left out, and else must be a constant without a zero point."""
        if not self.has(i):
            return None
        zero = self.tensor(i).zero_point
        if zero is not None and zero.any():
            raise Missing(f"its bias {self.tensor(i).name!r} has a zero point")
        return self.constant(i)

    def state(self, i: int) -> dict[str, NDArray[Any]]:
        """Give a variable tensor by its name, as it starts: the code of real 0 everywhere."""
        tensor = self.tensor(i)
        return {tensor.name: np.full([n or 1 for n in tensor.shape], zero_of(tensor), tensor.dtype)}

    def size(self, i: int) -> list[int]:
        """Give a constant that tells the size of the result, or of two of its axes."""
        size = [int(n) for n in self.constant(i).reshape(-1)]
        if prod(max(n, 1) for n in size) > MOST:
            raise Missing(f"its result of size {size} is too large")
        return size

    def numbers(self, name: str, tensor: Tensor) -> dict[str, Any]:
        """Give scale and zero point of a tensor as the arguments of a prepared op."""
        if tensor.scale is None or tensor.zero_point is None:
            raise Missing(f"{tensor.name!r} has no scale")
        if tensor.scale.ndim:
            raise Missing(f"{tensor.name!r} has a scale for each channel")
        return {f"{name}_scale": float(tensor.scale), f"{name}_zero_point": int(tensor.zero_point)}

    def x(self, i: int = 0) -> dict[str, Any]:
        """Give scale and zero point of an input."""
        return self.numbers("x", self.tensor(i))

    @property
    def y(self) -> dict[str, Any]:
        """Scale and zero point of the result."""
        return self.numbers("y", self.outputs[0])

    def own(self, i: int = 0) -> dict[str, Any]:
        """Give the library of kernels and the type of the codes, which the result must have too."""
        x, y = self.tensor(i), self.outputs[0]
        if y.dtype != x.dtype:
            raise Missing(f"its result {y.name!r} is {y.dtype}, its data are {x.dtype}")
        return {"dtype": x.dtype, "kernel": self.kernel}

    @property
    def activation(self) -> dict[str, str]:
        """The fused activation."""
        number = self.options.get("FusedActivationFunction", 0)
        if number not in _ACTIVATIONS:
            raise Missing(f"its fused activation is number {number}, which has no integers")
        return {"activation": _ACTIVATIONS[number]}

    @property
    def moves(self) -> dict[str, Any]:
        """Strides and padding of a window."""
        o = self.options
        if o["Padding"] not in PADDINGS:
            raise Missing(f"its padding is number {o['Padding']}, which is not known")
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
        return {
            "w_scale": w.scale if w.scale.ndim else float(w.scale),
            "w_zero_point": int(zeros[0]),
            "w_type": w.dtype,
        }


Maker = Callable[[PlacedOperator], OperatorRunner]
"""Makes the prepared op of an operator in its place."""


def activated(op: Operator, y: Values) -> Values:
    """Give the real values of a result after the fused activation."""
    number = op.options.get("FusedActivationFunction", 0)
    return np.tanh(y) if number == _TANH else np.clip(y, *_LIMITS[_ACTIVATIONS[number]])
