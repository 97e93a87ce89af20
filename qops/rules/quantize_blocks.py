"""Rows and blocks to codes, each with a scale of its own values: dynamic quantization of language models."""

from __future__ import annotations

from math import prod
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.machine.host import check as check_rounding
from qops._kernels.stage.given import row_named
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, float32s, integer
from qops.rules.block_rules import QUANTIZE_BLOCKS, BlockCodes

__all__ = ["quantize_blocks"]


@refusing_unknown
def quantize_blocks(
    x: ArrayLike, rule: str, *, axis: int = -1, block: int | None = None, **unknown: Never
) -> BlockCodes:
    """Quantize each row, or each block of a row, by a scale that is made of its own values, to the bit.

    ``code = round(x / scale)``, and the scale is mostly ``max|x| / 127`` of the row or block. Systems differ in how
    they form its reciprocal and in the rounding: `QUANTIZE_BLOCKS` has the formula of each rule.

    Parameters
    ----------
    x : array_like of float32
        Finite values.
    rule : str
        A name in `QUANTIZE_BLOCKS`.
    axis : int
        The axis along which values share a scale: -1 for a scale for each row of a matrix, or token.
    block : int, optional
        How many neighbours along the axis share a scale; if not given, the size of the rule's blocks, or the whole
        axis where it has none. The last block may be shorter, but not by rules that have a size.

    Returns
    -------
    BlockCodes
        The codes, int8 of the shape of `x`, and what belongs to each block, of the shape of `x` with the number of
        blocks along the axis.

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, data that are not numbers or not finite, an axis or block that does not fit.

    See Also
    --------
    quantize : scales that are given.
    block_dot : products of such blocks.

    Notes
    -----
    Sources: ggml ``ggml-quants.c`` and its x86 kernels, CTranslate2 ``quantize``, onnxruntime MatMulNBits, bitsandbytes
    ``int8_vectorwise_quant``, torchao ``choose_qparams_affine``.

    **Hazard.** ggml has two rules for one format: what writes a file and what quantizes activations at run time differ
    in ties and in the reciprocal:

    >>> x = np.array([*[0.5, 1.5, 2.5, -2.5], *[127.0] * 28], np.float32)
    >>> [qops.rules.quantize_blocks(x, rule).data[:4].tolist() for rule in ("ggml-q8_0", "ggml-q8_0-x86")]
    [[1, 2, 3, -3], [0, 2, 2, -2]]

    Examples
    --------
    >>> made = qops.rules.quantize_blocks([[1.0, -2.0], [0.5, 0.25]], "127-over-max")
    >>> made.data
    array([[  64, -127],
           [ 127,   64]], dtype=int8)
    >>> made.scale
    array([[0.01574803],
           [0.00393701]], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(quantize_blocks, unknown)
    check_rounding()
    row, values = row_named(rule, QUANTIZE_BLOCKS), float32s(as_array(x, "x"), "x")
    if not np.isfinite(values).all():
        raise bad_value("x", "has NaN, infinite values or some beyond float32")
    along = integer(axis, "axis", -values.ndim, values.ndim - 1)
    rows = np.moveaxis(values, along, -1)
    length = rows.shape[-1]
    size = integer(block, "block", 1, 2**31 - 1) if block is not None else row.block or max(length, 1)
    if row.block and length % size:
        raise bad_value("x", f"{length} values along axis {axis} are no whole blocks of {size}, as {rule} has them")
    *outer, length = rows.shape
    count = -(-length // size)
    flat = rows.reshape(prod(outer), length)
    whole = np.pad(flat, [(0, 0), (0, count * size - length)], "edge") if length % size else flat
    with np.errstate(all="ignore"):
        made = row.codes(np.ascontiguousarray(whole).reshape(len(flat), count, size))

    def placed(numbers: Any) -> Any:
        """Numbers of blocks, along the axis; what has several for a block has one axis more, the last one."""
        if numbers is None or np.ndim(numbers) == 0:
            return numbers
        several = np.shape(numbers)[2:]
        of_blocks = np.reshape(numbers, (*outer, count, *several))
        return np.moveaxis(of_blocks, len(outer), along if along >= 0 else along + len(outer) + 1)

    data = made.data.reshape(len(flat), count * size)[:, :length].reshape(rows.shape)
    return made._replace(
        data=np.ascontiguousarray(np.moveaxis(data, -1, along)),
        scale=placed(made.scale),
        zero_point=placed(made.zero_point),
        minimum=placed(made.minimum),
        sums=placed(made.sums),
    )
