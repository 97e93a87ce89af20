"""nnlib's QuantizedAdd_8p8to8, in the forms it has had."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import add as kernels
from qops.nnlib.add_node import Form, QuantizedAdd8p8to8, known_form
from qops.qtensor import QTensor, TensorLike, span


def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    form: Form = "op",
    padding: tuple[int, int] | None = None,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedAdd_8p8to8 on its first run; the formulas stand in `QuantizedAdd8p8to8`, which also tells the passes.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors; of equal shapes for ``flat`` and ``d32``, else of shapes that broadcast.
    guess_min, guess_max : float, optional
        Ends of the output range that are given; the others are found.
    form : str
        ``op``, ``flat``, ``spec`` or ``d32``, see `QuantizedAdd8p8to8`.
    padding : (int, int), optional
        ``spec``: codes of a and of b that lie in memory behind data whose size is no multiple of 128; the original
        takes them for sums too. Without it, as if the last element of each were repeated.
    out : ndarray of uint8, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        uint8 codes and the range of the last pass.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range or guess that is not finite or with min > max, shapes that do not
        broadcast, an ``out`` that does not fit or overlaps an input; ``flat``, ``d32``: an output range the original
        refuses (0 wide, or narrower than 1/64 of the sum of the input ranges, 1/4096 if both ends are given). Where the
        original never returns or reads what it should not, this raises ValueError as well: ``spec`` of no elements, of
        two ranges 0 wide, of ranges for which the retry rules never settle, and, as ``op``, of shapes that broadcast
        along any axis but the last of four.

    See Also
    --------
    qops.quantized_add_8p8to8 : the same method, at most two passes and 0.6 LSB for all ranges.

    Notes
    -----
    Source: ``op_add.c``, ``op_add_d32.c``, ``quant_add_spec_h.S``.

    **Hazards.** x wraps: with 200.0 + 1.0 in the range (0, 201), ``spec`` is 255 LSB off.

    >>> top = np.uint8([255])
    >>> quantized_add_8p8to8((top, 0.0, 200.0), (top, 0.0, 1.0), 0.0, 201.0, form="spec").data
    array([0], dtype=uint8)

    So do kappa, for ranges far from 0, and the offset, where 255 is stored as 0; a range narrower than that of b clips
    recip (0.51 should be 255 there), and one 0 wide is taken.

    >>> ends, mid = np.uint8([0, 255]), np.uint8([160])
    >>> quantized_add_8p8to8((ends, 1000.0, 1001.0), (ends, 0.0, 1.0), form="spec").max
    0.5
    >>> quantized_add_8p8to8((top, 0.0, 127.0), (top, 0.0, 1.0), -1.0, 0.0, form="spec").data
    array([0], dtype=uint8)
    >>> quantized_add_8p8to8((mid, -1.0, 1.0), (mid, -1.0, 1.0), -0.5, 0.5, form="spec").data
    array([193], dtype=uint8)
    >>> quantized_add_8p8to8((ends, -1.0, 1.0), (ends, -1.0, 1.0), 0.0, 0.0, form="spec").data
    array([  0, 255], dtype=uint8)

    The retry rules of ``spec`` need not end: the third can ask for a width that float32 rounds away.

    >>> a, b = (np.uint8([128]), -24.254631, 20.347172), (np.uint8([255]), -0.9, 0.1)
    >>> quantized_add_8p8to8(a, b, form="spec")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: a, b: for (-24.25463104248047, 20.347171783447266) and (-0.8999999761581421, 0.10000000149011612), ...

    Beyond alpha = 256, ``spec`` copies the codes of a and calls them codes of a wider range.

    >>> quantized_add_8p8to8((top, -300.0, 300.0), (top, -1.0, 1.0), form="spec")
    QTensor(data=array([255], dtype=uint8), min=-360.0, max=360.0)
    >>> quantized_add_8p8to8((top, -300.0, 300.0), (top, -1.0, 1.0), -302.0, 300.0, form="spec").min
    -302.1803894042969

    ``flat`` loses the offset of a range that excludes 0, and an upper end that is given stops it from looking at the
    lower one.

    >>> quantized_add_8p8to8((np.uint8([0]), 1.0, 2.0), (np.uint8([0]), 0.0, 1.0), 0.0, 3.0, form="flat").data
    array([0], dtype=uint8)
    >>> quantized_add_8p8to8((np.uint8([0]), -1.0, 1.0), (np.uint8([0]), -1.0, 1.0), guess_max=2.0).min
    0.0

    Examples
    --------
    >>> a, b = (np.uint8([0, 255]), 0.0, 2.0), (np.uint8([0, 255]), 0.0, 1.0)
    >>> quantized_add_8p8to8(a, b, 0.0, 3.0)
    QTensor(data=array([  0, 255], dtype=uint8), min=0.0, max=3.0)
    """
    return QuantizedAdd8p8to8(guess_min, guess_max, form=form)(a, b, padding=padding, out=out)


def quantized_add_8p8to8_integers(
    a: tuple[float, float], b: tuple[float, float], out: tuple[float, float], *, form: Form = "op"
) -> dict[str, int | float]:
    """Give the integers that `quantized_add_8p8to8` computes with, as a port has them in its registers.

    Parameters
    ----------
    a, b, out : (min, max)
        Ranges of the operands and of the output, as the op returns it. The op takes the coarser operand of ``spec``
        first; here they are taken as they come.
    form : str, optional
        ``flat`` or ``spec``, see `QuantizedAdd8p8to8`. ``op``, of equal shapes, and ``d32`` have the integers of
        ``flat``, here those for an `out` of which both ends are given.

    Returns
    -------
    dict
        ``flat``: ka, kb, offset, first_shift and right_shift; zero, what x is for 0 + 0; unit, the real size of 1 in x;
        feasible, False where the original refuses `out`. ``spec``: ialpha, ikappa, recip and offset, cut to 16 bits,
        not saturated; copies, True where the codes of a are the result (alpha >= 256), and none of these is used.

    Raises
    ------
    TypeError, ValueError
        A range that is not finite or with min > max; an operand 0 wide for ``spec``, an `out` 0 wide; another form.

    Notes
    -----
    Source: ``op_add.c``, ``quant_add_spec_h.S``.

    Examples
    --------
    >>> quantized_add_8p8to8_integers((0, 2), (0, 1), (0, 3), form="spec")
    {'ialpha': 256, 'ikappa': 256, 'recip': 10922, 'offset': 0, 'copies': False}
    """
    spec = known_form(form) == "spec"
    a, b, out = span(*a, "a"), span(*b, "b"), span(*out, "out")
    for name, (lo, hi) in (("a", a), ("b", b), ("out", out)):
        if lo == hi and (spec or name == "out"):
            raise ValueError(f"{name}: the range ({lo}, {hi}) is 0 wide")
    return kernels.add_spec_integers(a, b, out) if spec else kernels.add_flat_integers(a, b, out, True)
