"""`Kind`: what an operator of TFLite is, said once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from qops.models.operator import OperatorKind
from qops.models.tensor import Values
from qops.models.tflite.file import Operator

__all__ = ["HybridLayer", "Kind", "always", "never", "where_constants_repeat"]


def never(operator: Operator) -> bool:
    """Say that images depend on each other, or that nobody has looked."""
    return False


def always(operator: Operator) -> bool:
    """Say that each image of the results depends on that of the data alone."""
    return True


def where_constants_repeat(operator: Operator) -> bool:
    """Say whether each constant is the same for all images."""
    ndim = max(len(t.shape) for t in operator.outputs)
    constants = [t.data for t in operator.inputs if t is not None and t.data is not None]
    return all(not x.ndim or x.ndim < ndim or x.shape[0] == 1 for x in constants)


class HybridLayer(NamedTuple):
    """A layer of float data and int8 weights, as far as its kind decides.

    Attributes
    ----------
    sums : callable
        ``sums(operator, x, w)`` gives the sums of products.
    steps : callable
        ``steps(kernel, is_by_channel, is_asymmetric)`` gives how the layer makes codes of its data, and in which order
        it multiplies: see `qops.tflite.hybrid`. That of a convolution with several groups also takes `groups`.
    is_matrix : bool
        Whether its data are rows of a matrix, each of which becomes codes by itself; a bias may be left out then.
    """

    sums: Callable[..., Values]
    steps: Callable[..., tuple[str, str]]
    is_matrix: bool = False


@dataclass(frozen=True, kw_only=True)
class Kind(OperatorKind):
    """One operator of TFLite, in the file of its family.

    Attributes
    ----------
    schema : str
        The table of its options in the schema of the files; "" if it has none.
    version : int
        The version of the operator at which LiteRT has its kernels of 8 and of 16 bits.
    sums : (int, int) or None
        Where data and weights stand among its inputs, if it sums up their products; the bias is the one after them.
    channel : int
        Which axis of its weights has the output channels.
    exact_kernel : str
        The kernel library that computes it as those of 64-bit ARM do, but with exact sums; "" if there is none.
    is_of_variable : bool
        Whether it reads or writes a variable, which its first input names.
    is_custom : bool
        Whether it is a custom operator, whose options are bytes.
    by_image : callable
        ``by_image(operator)`` tells whether what an index of the first axis of its results has depends on this index of
        the data alone, if all of these have an axis of images first.
    hybrid : HybridLayer or None
        How it is a layer of float data and int8 weights; None if qops does not model that.
    fixed : callable or None
        ``fixed(operator)`` gives what takes the codes of the first input to the result, where all others are constants:
        as `moves` does, in less time.
    """

    schema: str = ""
    version: int = 2
    sums: tuple[int, int] | None = None
    channel: int = 0
    exact_kernel: str = ""
    is_of_variable: bool = False
    is_custom: bool = False
    by_image: Callable[[Operator], bool] = never
    hybrid: HybridLayer | None = None
    fixed: Callable[[Operator], Callable[..., Any]] | None = None
