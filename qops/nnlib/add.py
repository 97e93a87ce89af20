"""nnlib's QuantizedAdd_8p8to8, in all its forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import add as kernels
from qops.checks import both_ends
from qops.nnlib.add_node import Form, QuantizedAdd8p8to8, known_form
from qops.qtensor import QTensor, TensorLike

__all__ = ["quantized_add_8p8to8", "quantized_add_8p8to8_integers"]


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
    """QuantizedAdd_8p8to8 on its first run: one call of a new `QuantizedAdd8p8to8`, which has the formulas.

    Parameters
    ----------
    a, b : uint8 tensor
        Of equal shapes for ``flat`` and ``d32``; for ``spec`` their shapes broadcast.
    guess_min, guess_max : float, optional
        Given ends of the output range; the op finds an end that is left out.
    form : {"op", "flat", "spec", "d32"}
        Which kernel of the original, see `QuantizedAdd8p8to8`.
    padding : (int, int), optional
        For ``spec`` alone: the codes in memory after the last element of a and of b. The original works on 128 bytes at
        a time, and includes what lies after the data in the range it finds. Without `padding`, the last element of each
        is repeated there.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes and the range of the last pass.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`). For ``flat`` and ``d32``, an output range that the original refuses:
        one 0 wide, or narrower than 1/64 of both input ranges together (1/4096 if both ends are given). For ``spec``,
        input for which the original never returns: no elements, two ranges 0 wide, ranges for which the retry rules
        never settle. For ``op``, shapes that broadcast along another axis than the last of four, where the original
        reads beyond its data.

    See Also
    --------
    qops.quantized_add_8p8to8 : the same method, at most two passes and 0.6 LSB for all ranges.

    Notes
    -----
    Source: ``op_add.c``, ``op_add_d32.c``, ``quant_add_spec_h.S``.

    **Hazards.** In ``spec`` the sum x of the formulas wraps: 200.0 + 1.0 in the range (0, 201) is 255 LSB off.

    >>> top = np.array([255], np.uint8)
    >>> qops.nnlib.quantized_add_8p8to8((top, 0.0, 200.0), (top, 0.0, 1.0), 0.0, 201.0, form="spec").data
    array([0], dtype=uint8)

    For ranges far from 0, ikappa wraps, and the range that is found is wrong:

    >>> ends, mid = np.array([0, 255], np.uint8), np.array([160], np.uint8)
    >>> qops.nnlib.quantized_add_8p8to8((ends, 1000.0, 1001.0), (ends, 0.0, 1.0), form="spec").max
    0.5

    The last subtraction wraps, so a code that should saturate to 255 is stored as 0:

    >>> qops.nnlib.quantized_add_8p8to8((top, 0.0, 127.0), (top, 0.0, 1.0), -1.0, 0.0, form="spec").data
    array([0], dtype=uint8)

    If the given range is narrower than that of b, recip is limited to 32767. A range 0 wide is not refused:

    >>> qops.nnlib.quantized_add_8p8to8((mid, -1.0, 1.0), (mid, -1.0, 1.0), -0.5, 0.5, form="spec").data  # 0.51
    array([193], dtype=uint8)
    >>> qops.nnlib.quantized_add_8p8to8((ends, -1.0, 1.0), (ends, -1.0, 1.0), 0.0, 0.0, form="spec").data
    array([  0, 255], dtype=uint8)

    The retry rules of ``spec`` may never end: the third asks for a width that float32 may round away each time.

    >>> a, b = (np.array([128], np.uint8), -24.254631, 20.347172), (np.array([255], np.uint8), -0.9, 0.1)
    >>> qops.nnlib.quantized_add_8p8to8(a, b, form="spec")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: a, b: for (-24.25463104248047, 20.347171783447266) and (-0.8999999761581421, 0.10000000149011612), ...

    From alpha = 256 on, ``spec`` copies the codes of a, and returns them with the output range instead of a's own.

    >>> qops.nnlib.quantized_add_8p8to8((top, -300.0, 300.0), (top, -1.0, 1.0), form="spec")
    QTensor(np.uint8([255]), -360.0, 360.0)
    >>> qops.nnlib.quantized_add_8p8to8((top, -300.0, 300.0), (top, -1.0, 1.0), -302.0, 300.0, form="spec").min
    -302.1803894042969

    ``flat`` loses the offset of a range that excludes 0 (1 + 0 is 0 here). If the upper end is given, ``flat`` never
    moves the lower end, although that was not given.

    >>> qops.nnlib.quantized_add_8p8to8(
    ...     (np.array([0], np.uint8), 1.0, 2.0), (np.array([0], np.uint8), 0.0, 1.0), 0.0, 3.0, form="flat"
    ... ).data
    array([0], dtype=uint8)
    >>> qops.nnlib.quantized_add_8p8to8(
    ...     (np.array([0], np.uint8), -1.0, 1.0), (np.array([0], np.uint8), -1.0, 1.0), guess_max=2.0
    ... ).min
    0.0

    Examples
    --------
    >>> a, b = (np.array([0, 255], np.uint8), 0.0, 2.0), (np.array([0, 255], np.uint8), 0.0, 1.0)
    >>> qops.nnlib.quantized_add_8p8to8(a, b, 0.0, 3.0)
    QTensor(np.uint8([0, 255]), 0.0, 3.0)
    """
    return QuantizedAdd8p8to8(guess_min, guess_max, form=form)(a, b, padding=padding, out=out)


def quantized_add_8p8to8_integers(
    a: tuple[float, float], b: tuple[float, float], range: tuple[float, float], *, form: Form = "op"
) -> dict[str, int | float]:
    """Give the integers with which `quantized_add_8p8to8` computes, for a port to compare with.

    Parameters
    ----------
    a, b, range : (min, max)
        Ranges of the operands, and the range that the op returns. For ``spec``, `a` must be the coarser operand; the op
        itself exchanges the operands if needed.
    form : {"op", "flat", "spec", "d32"}
        See `QuantizedAdd8p8to8`. All but ``spec`` have the integers of ``flat``, here those for two given ends.

    Returns
    -------
    dict
        For ``flat``: ka, kb, offset, first_shift and right_shift; zero, the x of 0 + 0; unit, the real size of one unit
        of x; feasible, False if the original refuses `range`. For ``spec``: ialpha, ikappa, recip and offset, modulo
        2**16; copies, True if alpha >= 256: then the codes of a are the result and the integers are not used.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); a `range` 0 wide; for ``spec``, an operand 0 wide.

    Notes
    -----
    Source: ``op_add.c``, ``quant_add_spec_h.S``.

    Examples
    --------
    >>> qops.nnlib.quantized_add_8p8to8_integers((0, 2), (0, 1), (0, 3), form="spec")
    {'ialpha': 256, 'ikappa': 256, 'recip': 10922, 'offset': 0, 'copies': False}
    """
    spec = known_form(form) == "spec"
    a, b, kept = both_ends(a, "a"), both_ends(b, "b"), both_ends(range, "range")
    for name, (lo, hi) in (("a", a), ("b", b), ("range", kept)):
        if lo == hi and (spec or name == "range"):
            raise bad_value(name, f"the range ({lo}, {hi}) is 0 wide")
    return kernels.add_spec_integers(a, b, kept) if spec else kernels.add_flat_integers(a, b, kept, True)
