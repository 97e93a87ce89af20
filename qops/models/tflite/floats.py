"""Operators of float32 alone: FLOOR, CEIL, ROUND, SQUARE, SIN and COS.

The first four give LiteRT's floats, but for the sign of 0: its own ROUND of -0.5 gives 0, that of XNNPACK -0 as here.
SIN and COS are computed in double and rounded once. LiteRT has them from its host's library or from XNNPACK, and may
differ in the last bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qops.models.tensor import Values
from qops.models.tflite.elementwise import cut_elementwise, real_one
from qops.models.tflite.integers import no_c
from qops.models.tflite.kind import Kind

__all__ = ["KINDS"]


def _of_floats(function: Callable[[Values], Any]) -> Kind:
    """An operator of one function; what it makes of infinities, and of squares beyond float32, is no error."""

    def run(x: Values) -> Any:
        with np.errstate(all="ignore"):
            return function(x)

    return Kind(real=real_one(run), cut=cut_elementwise, code=no_c, version=1)


KINDS = {
    "FLOOR": _of_floats(np.floor),
    "CEIL": _of_floats(np.ceil),
    "ROUND": _of_floats(np.rint),
    "SQUARE": _of_floats(np.square),
    "SIN": _of_floats(lambda x: np.sin(x.astype(np.float64))),
    "COS": _of_floats(lambda x: np.cos(x.astype(np.float64))),
}
