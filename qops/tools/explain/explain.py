"""Finds the rules that produced given integers, and for every other rule the first integer that it gets wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from qops._kernels.arrays.refusal import bad_value
from qops.checks import flag
from qops.qtensor import TensorLike
from qops.tools.explain.arguments import dump_of
from qops.tools.explain.explanation import Explanation
from qops.tools.explain.verdicts import explained

if TYPE_CHECKING:
    from qops.nnlib.fused_node import FusedNode

__all__ = ["explain"]


def explain(
    x: ArrayLike | TensorLike,
    y: ArrayLike | TensorLike,
    *,
    kind: str = "requantize",
    scale: ArrayLike | None = None,
    b: ArrayLike | None = None,
    probe: bool = False,
    fit: bool = False,
    op: FusedNode | None = None,
    **numbers: Any,
) -> Explanation:
    """Find the rules that produced the integers `y`, and for each other rule the first integer that it gets wrong.

    If no rule gives all of them, the nearest rules are listed, with how many elements differ, by how much and where.
    Then common mistakes are undone, one at a time, and all rules are tried again: mistakes in how the scale was formed
    or how many steps it stands for, in the sign or the side of the zero point, a sign offset of 128, clamps, the
    layout, exchanged operands. A mistake is named only if a rule gives every integer once it is undone.

    Parameters
    ----------
    x : array_like
        requantize: accumulators, of 48 bits at most. add, mul: codes of the first operand. quantize: float32 values.
        average_pool: codes, NHWC. accumulate: codes of int8 or uint8, (..., K): the data of a layer, or what is under
        its windows, all channels of a tap and then those of the next.
    y : ndarray
        The result of the device; its dtype is the type of the codes. accumulate: int32 sums without a bias, (..., N).
    kind : {"requantize", "add", "mul", "quantize", "average_pool", "accumulate"}
        What was computed.
    scale : float or 1-D array_like, optional
        requantize: how many output steps an input step is: one number, one for each channel along ``axis``, or one for
        each element. quantize: the size of a code step.
    b : ndarray, optional
        Codes of the second operand of add and mul; weights of accumulate, (K, N).
    probe : bool
        Also look for at most 256 inputs that separate every two of the rules in `exact`, or of the nearest rules if
        there are none.
    fit : bool
        For requantize, if no rule gives all integers: search the space that the rules span, multipliers of 1 or of 4 to
        32 bits, one shift or two in either order, the rounding of each, the zero point inside or outside, the order of
        the clamps, how the scale is formed, and near the scale that is given other scales. If none fits, rules of one
        shift that add a real bias to the product: the ``bias`` that is given, or any one, for each channel that has a
        scale; a bias that is not given is not looked for where a mistake explains the integers. Then ``scale`` may be
        missing: it is read from the codes, with ``axis`` for each channel. `Explanation.fit` has rules that
        `qops.rules.requantize` and `qops.rules.emit` take, and says how many inputs would decide.
    op : Supernode, DepthwiseSupernode, InputSupernode, Supernode3322 or SuperFC, optional
        A prepared op of `qops.nnlib`. Then `x` and `y` are the tensors that it read and gave on the device, with their
        ranges, and no number is given. Its own arithmetic is tried in the range of `y`, on both chips where it has an
        ``arch``, and all other rules on its exact sums. `Explanation.notes` say in which channels a chip gives other
        codes, and which channels a V65 rescales.
    **numbers
        requantize: ``in_scale``, ``w_scale`` (one or several, like ``scale``) and ``out_scale`` instead of ``scale``,
        or ``integers``, the multiplier and the right shift of a port, each one or one for each channel;
        ``zero_point`` and ``in_zero_point``, by default 0; ``axis``, by default the last one of ``x`` that has as many
        elements as there are scales, which `Explanation.axis` says; a real ``bias``, one or one for each channel, which
        the rules of `qops.rules.REAL_BIAS` add after scaling and all others as an integer, ``rint(bias / (in_scale *
        w_scale))``; for OpenVINO ``rmin`` and ``rmax`` of its FakeQuantize instead of ``out_scale``; for MNN ``w_sums``
        and ``x_zero_point``. quantize: ``zero_point``;
        with ``axis`` and ``block`` as `qops.rules.quantize` takes them, arrays of scales and zero points; or
        instead of it and ``scale`` the range ``rmin``, ``rmax``, for which every rule of `qops.rules.RANGE_RULES` is
        tried. add, mul: ``a_scale``, ``a_zero_point``, ``b_scale``, ``b_zero_point``, ``y_scale``, ``y_zero_point``;
        or ``integers`` instead of the scales, as `qops.rules.add` and `qops.rules.mul` take them, for rules of
        integers. average_pool: ``kernel`` and ``zero_point``; ``stride``, ``padding`` and
        ``count_padding`` as `qops.rules.average_pool` takes them, by default 1, none and as the rule does; ``x_scale``,
        ``y_scale`` and ``y_zero_point`` too if the result has a scale of its own, and for onnxruntime's rules, which
        are not tried without. accumulate: ``x_zero_point`` and ``w_zero_point``, by default 0. All others: ``qmin`` and
        ``qmax``, the codes that the result was clamped to, as by a fused ReLU.

    Returns
    -------
    Explanation
        It names all rules that give every integer, even if they are the same function on these data.

    Raises
    ------
    TypeError, ValueError
        An unknown kind, a number that is missing or that this kind does not have, data of the wrong type or shape.

    See Also
    --------
    qops.rules.TABLE : the rules of requantize.

    Notes
    -----
    Source: none; `qops.rules` names the sources of the rules.

    **Versions.** Only versions of oneDNN and onnxruntime whose results were stored can be named; others stay unnamed.

    **Hazards.** On ordinary data many rules give the same integers. Rules that round once differ only at ties, or near
    the boundary of a code. More than one name in `exact` means that the data do not decide.

    Examples
    --------
    >>> acc = np.arange(-300, 300, 7, dtype=np.int32)
    >>> y = np.clip((acc * 3 + 4) >> 3, -128, 127).astype(np.int8)
    >>> found = qops.explain(acc, y, scale=0.375)
    >>> len(found.exact), found.exact[:3]  # 3/8 is a multiplier of 2 bits, so these rules are one function
    (10, ['tflite-single', 'torch-acl', 'rndnu'])
    >>> even = next(v for v in found.excluded if v.rule == "fp32-even")
    >>> even.differs, even.kind, even.first  # -91.5
    (5, 'ties only', Witness(index=(8,), acc=-244, got=-91, wanted=-92))

    Sums of onnxruntime on a CPU without VNNI:

    >>> x, w = np.full((2, 16), 255, np.uint8), np.full((16, 2), 127, np.int8)
    >>> sums = qops.onnx.matmul_integer(x, w, runtime="ort_avx2")
    >>> found = qops.explain(x, sums, kind="accumulate", b=w)
    >>> found.systems["ort_avx2"].split(":")[0]
    'onnxruntime on x86 with AVX2, without VNNI'

    A dump of a supernode, of which weights of channel 1 are 129 codes and more from their zero:

    >>> w = np.array([[0, 255, 100]], np.uint8).repeat(8, 0).reshape(1, 1, 8, 3), 0.0, 1.0
    >>> op = qops.nnlib.Supernode(w, (np.zeros(3, np.int32), -1.0, 1.0), (1, 1), "VALID", 0.0, 7.0)
    >>> x = np.arange(160, dtype=np.uint8).reshape(1, 4, 5, 8), 0.0, 1.0
    >>> found = qops.explain(x, op(x), op=op)
    >>> found.exact
    ['nnlib-supernode (v65)']
    >>> for note in found.notes:
    ...     print(note)
    nnlib-supernode (v60): 7 differ, by 1 at most, in channel 1
    a v65 rescales the weights of channel 1
    """
    if op is not None:
        others = {"scale": scale, "b": b, "probe": probe or None, "fit": fit or None, **numbers}
        for name in (name for name, value in others.items() if value is not None):
            raise bad_value(name, "expected none beside op, which has all numbers")
        from qops.tools.explain.nnlib_node import explained_node, node_of  # loads the room of nnlib

        return explained_node(node_of(op), x, y)
    numbers = {"scale": scale, **numbers}
    dump = dump_of(kind, x, y, b, numbers, may_lack_scale=flag(fit, "fit"))
    return explained(dump, flag(probe, "probe"), fit=fit)
