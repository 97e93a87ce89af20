"""Hybrid layers: float data and int8 weights, whose data become codes as the layer runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops.models.op import Missing
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import OperatorRunner, PlacedOperator, activated
from qops.tflite.hybrid import finished_floats, quantized_row

__all__ = ["is_hybrid", "made_hybrid"]

F32 = np.float32
_CODES = ("int8", "uint8", "int4", "int16")


def is_hybrid(operator: Operator) -> bool:
    """Whether an operator of floats has weights that are codes."""
    return any(t is not None and t.scale is not None and t.dtype in _CODES for t in operator.inputs[1:])


def made_hybrid(site: PlacedOperator, kind: Kind) -> OperatorRunner:
    """Give what runs a hybrid layer.

    Parameters
    ----------
    site : PlacedOperator
        The operator in its place.
    kind : Kind
        What it is; one that is no such layer here is refused.

    Returns
    -------
    OperatorRunner

    Raises
    ------
    Missing
        A form of it that qops does not model.
    """
    layer = kind.hybrid
    if layer is None:
        raise Missing("it is a hybrid operator (float data, weights of codes), which qops does not model")
    w = site.tensor(1)
    if w.dtype != "int8" or w.scale is None or (w.zero_point is not None and w.zero_point.any()):
        raise Missing(f"it is a hybrid layer whose weights {w.name!r} are {w.dtype}, where int8 around 0 is modelled")
    if w.axis not in (None, kind.channel):
        raise Missing(f"its weights {w.name!r} have scales along axis {w.axis}")
    if not site.has(2) and not layer.is_matrix:
        raise Missing("it is a hybrid layer without a bias, which LiteRT refuses")
    codes = site.constant(1).astype(np.float64)
    groups = 1 if kind.channel or layer.is_matrix else _groups(site)
    bias = site.constant(2).astype(F32) if site.has(2) else np.zeros(1, F32)
    kernel = site.kernel.removesuffix("_avx2")  # whose hybrid layers take the same steps
    by_option = bool(site.options.get("AsymmetricQuantizeInputs", False))
    try:
        more = {"groups": groups} if groups > 1 else {}
        how, order = layer.steps(kernel, w.scale.ndim == 1, by_option, **more)
    except ValueError as why:
        raise Missing(str(why)) from None

    if kernel != "xnnpack" and (how == "symmetric" or layer.is_matrix) and (codes == -128).any():
        raise Missing(f"it is a hybrid layer whose weights {w.name!r} hold -128, which x86 multiplies otherwise")
    by_row = layer.is_matrix or (how == "xnnpack" and groups == 1 and _is_by_pixel(site))

    def run(x: NDArray[np.float32]) -> NDArray[np.float32]:
        most = np.max(np.abs(x), initial=F32(0))
        if not (most == 0 or 2.0**-100 < most < 2.0**100):  # NaN is neither
            raise ValueError(f"its data, up to {most}, are too large or too small for codes, or hold a NaN")
        rows = x.reshape(-1, codes.shape[-1]) if by_row else x
        each = [quantized_row(row, how) for row in rows]
        near = np.array([one.near for one in each], np.float64).reshape(x.shape)
        made = np.rint(layer.sums(site.operator, near, codes)).astype(np.int64)
        scales = np.array([one.scale for one in each], F32)
        shaped = scales.reshape(made.shape[:-1] if by_row else (-1, 1, 1))[..., None]
        y = finished_floats(made, shaped, np.asarray(w.scale, F32), bias, order)
        return np.asarray(activated(site.operator, y.astype(np.float64)), F32)

    return OperatorRunner((0,), run)


def _groups(site: PlacedOperator) -> int:
    """Give how many groups the channels of a convolution make."""
    channels, w = site.tensor(0).shape[-1] or 0, site.constant(1).shape
    groups = channels // w[-1] if w[-1] else 0
    if groups < 1 or groups * w[-1] != channels or w[0] % groups:
        raise Missing(f"it is a hybrid layer whose {channels} channels make no groups for weights of shape {w}")
    return groups


def _is_by_pixel(site: PlacedOperator) -> bool:
    """Whether XNNPACK runs a convolution as a product of matrices, whose rows are pixels."""
    strides = site.options["StrideH"], site.options["StrideW"]
    return site.tensor(1).shape[1:3] == (1, 1) and strides == (1, 1)
