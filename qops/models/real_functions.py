"""Functions of real numbers that several operators are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.tensor import Values

__all__ = ["sigmoid"]


def sigmoid(x: NDArray[Any]) -> Values:
    """Give ``1 / (1 + exp(-x))``. It is computed in double, so that results near 0 keep their digits.

    Parameters
    ----------
    x : ndarray
        Any real numbers.

    Returns
    -------
    ndarray of float64
    """
    return np.asarray(np.exp(-np.logaddexp(0.0, -np.asarray(x, np.float64))))
