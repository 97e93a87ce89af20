"""nnlib's QuantizedAdd_8p8to8, in the forms it has had."""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import add as kernels
from qops.qtensor import U8, QTensor, TensorLike, integer, operand, output, real, span, tensor

Form: TypeAlias = Literal["op", "flat", "spec", "d32"]


class QuantizedAdd8p8to8:
    """A QuantizedAdd_8p8to8 of a graph: it remembers its output range from call to call.

    ``flat`` (equal shapes, since 2019)
        Starts with an eighth of all that can come, and makes one pass or two::

            x = (a * ka + b * kb) >> 8    c = sat_u8((sat_s16(x + offset) + half) >> right_shift)

        with ka + kb < 2**14 the steps in 2**-(8 + right_shift) output steps. Where the sums leave the range and the
        upper end is free, the free ends they are beyond move out, with 15 % to spare, and everything is written again.
        The range never narrows. Ends that are given move by up to half a step, to put 0 on a code.
    ``spec`` (unequal shapes, and before 2019 all)
        Starts with (0, 0.5) and, with a the coarse operand, Ra and Rb the ranges, alpha = Ra / Rb, computes in 16 bits
        that wrap::

            x = ((a - 128) * ialpha + 64 >> 7) + b + ikappa        c = sat_u8((x * recip + 0x4000 >> 15) - offset)
            ialpha = trunc(128 * alpha)                            recip = trunc(min(32767, 32768 * 255 / step))
            ikappa = trunc(128 * alpha + 255 * (a_min + b_min) / Rb)     step = 255 * (c_max - c_min) / Rb
            offset = trunc(255 * c_min / (c_max - c_min) - 0.5)

        After each pass, the first of these that holds is done, and the op runs again: the sums exceed a free upper end
        (it becomes 1.2 times their maximum), a free lower end (the same), the range is narrower than Ra and its upper
        end free (it becomes Ra + lower end).
    ``d32``
        ``flat`` of the blocked layout: given ends are cut to hold 0, and any free end may move.
    ``op``
        What the op does: ``flat`` for equal shapes, else ``spec``.

    Parameters
    ----------
    guess_min, guess_max : float, optional
        Ends of the output range that are given. A given end is never checked: what is beyond it saturates.
    form : str
        One of the four.

    Attributes
    ----------
    passes : int
        How many times the last call ran over the data in the original.

    Raises
    ------
    TypeError, ValueError
        A guess that is no finite number, guess_min > guess_max, an unknown form.

    Notes
    -----
    Source: ``op_add.c``, ``op_add_d32.c``, ``quant_add_spec_h.S``. A node is not for two threads at once.

    Examples
    --------
    >>> node = QuantizedAdd8p8to8()
    >>> small, large = (np.uint8([120, 136]), -1.28, 1.27), (np.uint8([0, 255]), -1.28, 1.27)
    >>> [(round(node(t, t).max, 3), node.passes) for t in (small, large, small)]
    [(0.317, 1), (3.305, 2), (3.305, 1)]
    """

    def __init__(self, guess_min: float | None = None, guess_max: float | None = None, *, form: Form = "op") -> None:
        if form not in get_args(Form):
            raise ValueError(f"form: {form!r} is none of {', '.join(get_args(Form))}")
        lo = None if guess_min is None else real(guess_min, "guess_min")
        hi = None if guess_max is None else real(guess_max, "guess_max")
        if lo is not None and hi is not None:
            span(lo, hi, "guess")
        self._form, self._guess = form, (lo, hi)
        self._looks = not (lo is not None and hi is not None) if form == "d32" else hi is None
        self._node = kernels.Node(lo, hi, form == "d32")
        self.passes = 0

    def __call__(
        self,
        a: TensorLike,
        b: TensorLike,
        *,
        padding: tuple[int, int] | None = None,
        out: NDArray[np.uint8] | None = None,
    ) -> QTensor:
        """Add two tensors; see `quantized_add_8p8to8`. A call that raises leaves the remembered range as it was."""
        x, a_min, a_max = operand(a, "a", U8)
        y, b_min, b_max = operand(b, "b", U8)
        form = self._form
        if form == "op":
            form = "flat" if x.shape == y.shape else "spec"
        if form != "spec" and x.shape != y.shape:
            raise ValueError(f"a, b: shapes {x.shape} and {y.shape} differ, which {form} does not take")
        result = output(out, U8, x, y)
        codes = result if out is None else np.empty(result.shape, np.uint8)  # `out` stays as it is if this raises
        if form == "spec":
            if self._form == "op":
                _check_expansion(x.shape, y.shape, codes.shape)
            _check_spec(a_max == a_min and b_max == b_min, padding, codes.size)
            passes = self._node.spec(x, a_min, a_max, y, b_min, b_max, padding if codes.size % 128 else None, codes)
        else:
            passes = self._node.flat(x, a_min, a_max, y, b_min, b_max, self._looks, codes)
        if passes == 0:
            why = "never settles" if form == "spec" else "is too narrow for the inputs"
            raise ValueError(
                f"a, b: for ({a_min}, {a_max}) and ({b_min}, {b_max}), with guess_min {self._guess[0]} and guess_max "
                f"{self._guess[1]}, the output range {why}, or is beyond float32"
            )
        if codes is not result:
            result[...] = codes
        self.passes = passes
        return tensor(result, *self._node.ends)  # min > max in some of its wraps


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
    a: tuple[float, float], b: tuple[float, float], out: tuple[float, float], *, form: Literal["flat", "spec"] = "flat"
) -> dict[str, int | float]:
    """Give the integers that `quantized_add_8p8to8` computes with, as a port has them in its registers.

    Parameters
    ----------
    a, b, out : (min, max)
        Ranges of the operands and of the output. For ``spec`` the op puts the coarser operand first; here they are
        taken as they come.
    form : {"flat", "spec"}, optional
        See `QuantizedAdd8p8to8`. For ``flat``, both ends of `out` are given.

    Returns
    -------
    dict
        ``flat``: ka, kb, zero (x of 0 + 0), offset, first_shift, right_shift, unit (real size of 1 in x), feasible.
        ``spec``: ialpha, ikappa, recip, offset; cut to 16 bits, not saturated.

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
    {'ialpha': 256, 'ikappa': 256, 'recip': 10922, 'offset': 0}
    """
    ends = [span(*r, name) for name, r in (("a", a), ("b", b), ("out", out))]
    widths = [hi - lo for lo, hi in ends]
    if form not in ("flat", "spec"):
        raise ValueError(f"form: {form!r} is none of flat, spec")
    if widths[2] == 0 or (form == "spec" and 0 in widths):
        raise ValueError(f"a, b, out: a range of {ends} is 0 wide")
    if form == "flat":
        return kernels.add_flat_integers(*ends[0], *ends[1], *ends[2], True)
    return kernels.add_spec_integers(*ends[0], *ends[1], *ends[2])


def _check_expansion(a: tuple[int, ...], b: tuple[int, ...], whole: tuple[int, ...]) -> None:
    """Refuse what the op, which takes four axes, expands along others than the last: there it reads beyond the end."""
    if len(whole) > 4:
        raise ValueError(f"a, b: shapes {a} and {b}, the op takes at most 4 axes")
    for name, shape in (("a", a), ("b", b)):
        if ((1,) * (4 - len(shape)) + shape)[:3] != ((1,) * (4 - len(whole)) + whole)[:3]:
            raise ValueError(f"{name}: shape {shape} to {whole}: the original reads beyond the end of the operand")


def _check_spec(both_flat: bool, padding: tuple[int, int] | None, size: int) -> None:
    if both_flat:
        raise ValueError("a, b: both ranges are 0 wide, of which spec makes NaN")
    if size == 0:
        raise ValueError("a, b: no elements, with which spec never ends")
    if padding is None:
        return
    if not isinstance(padding, tuple | list) or len(padding) != 2:
        raise TypeError(f"padding: expected two codes, got {padding!r:.80}")
    for code in padding:
        integer(code, "padding", 0, 255)
