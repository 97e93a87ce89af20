"""QuantizedAdd and QuantizedBiasAdd: 8 bit plus 8 bit, to int32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.tensorflow import add as kernels
from qops._kernels.tensorflow.ends import WIDEST, flushed, in_order
from qops.checks import S32, output
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, operands, shape_text
from qops.tensorflow.broadcast import collapsed, repeated

__all__ = ["quantized_add", "quantized_bias_add"]


def quantized_add(x: TensorLike, y: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Add two uint8 tensors into int32 codes.

    ``max = 2**14 * max(|min(x_min, y_min)|, |max(x_max, y_max)|)``, ``min = -max``, one step ``2 * max / 2**32``. Only
    codes 0 and 1 of an operand are converted, to c0 and c1 (each value and each quotient rounded half away from zero).
    All other codes follow in whole steps::

        z = term(x) + term(y)    term(q) = c0 + q * (c1 - c0)

    A term has at most 17 bits and a sign, so nothing saturates. **An operand with one element is treated differently**:
    its code is converted directly.

    Parameters
    ----------
    x, y : (data, min, max)
        uint8 tensors, min < max. Their shapes are the same; or one of them is a single element; or one operand repeats
        along one of two axes, when neighbouring axes are taken together (see Hazards).
    out : ndarray of int32, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; ``max_x must be larger than min_x``, or NaN; ``Incompatible shapes``;
        ``Broadcast between ... is not supported``; no elements to repeat (``Must have some elements to add``); a range
        whose step is below the normal float32 or whose output range is beyond float32; an `out` that does not fit.
        Shapes that broadcast both ways, such as (3, 1) and (1, 4), where TensorFlow leaves outputs uninitialised.

    Notes
    -----
    Source: TensorFlow, ``quantized_add_op.cc``, ``quantization_utils.h``.

    **Hazards.** c1 - c0 is an integer, so an operand some 1028 times narrower than the other vanishes:

    >>> wide, all_codes = (np.zeros(256, np.uint8), 0.0, 1e6), np.arange(256, dtype=np.uint8)
    >>> qops.tensorflow.quantized_add(wide, (all_codes, 0.0, 1.0)).data.any()
    np.False_

    A wider operand is still rounded coarsely. A single element is not, so adding one element gives another result than
    adding a tensor that is filled with it, here by 92 codes:

    >>> x, y_range = (np.zeros(2, np.uint8), -1.0, 1.0), (-12.625, 3.3)
    >>> alone = qops.tensorflow.quantized_add(x, (np.uint8(255), *y_range)).data
    >>> filled = qops.tensorflow.quantized_add(x, (np.full(2, 255, np.uint8), *y_range)).data
    >>> int(alone[0]), int(filled[0])
    (24022, 23930)

    The operand that repeats is repeated along the *flat* index. That is right only if it has the last axes. A column
    does not:

    >>> row_of_zeros, column = np.zeros((2, 3), np.uint8), np.array([[0], [255]], np.uint8)
    >>> z = qops.tensorflow.quantized_add((row_of_zeros, 0.0, 1.0), (column, 0.0, 1.0))
    >>> np.rint(z.data * z.scale)
    array([[0., 1., 0.],
           [1., 0., 1.]])

    Examples
    --------
    >>> z = qops.tensorflow.quantized_add(
    ...     (np.array([0, 255], np.uint8), 0.0, 6.0), (np.array([255, 255], np.uint8), -3.0, 0.0)
    ... )
    >>> z.max
    98304.0
    >>> np.abs(np.round(z.data * z.scale, 3))
    array([0., 6.])
    """
    a, b = operands(STEPS, ("quint8",), x=x, y=y)
    axes = collapsed(a[0].shape, b[0].shape, "Must have some elements to add")
    in_order(x=a, y=b)
    if max(a[2], b[2], -a[1], -b[1]) >= 2.0**113:
        raise bad_value("x, y", f"the output range for {a[1:]}, {b[1:]} is beyond float32")
    out = output(out, S32, a[0], b[0], "x, y")
    x_alone = len(axes) < 2 and a[0].size == 1
    y_alone = len(axes) < 2 and b[0].size == 1 and not x_alone  # TensorFlow tries x first
    if len(axes) == 2:
        a, b = repeated(a, b, out.shape)
    z_max = kernels.quantized_add(a, x_alone, b, y_alone, out)
    return tensor(out, -z_max, z_max)


def quantized_bias_add(input: TensorLike, bias: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Add a bias to the last axis, both uint8 or both int8, into int32 codes.

    ``max = 2**17 * max(in_max, -in_min, bias_max, -bias_min)``, ``min = -max``. In float32, each operation rounded,
    each operand by itself, with L its lowest code, rounding half away from zero::

        step = (in_max - in_min) / 255    value = (round(in_min / step) * step - L * step) + q * step
        per_unit = (2**32 - 1) / (max - min)
        code = clamp(round(value * per_unit) - (round(min * per_unit) + 2**31))
        output = code(input) + code(bias) + code_of_0

    2**32 - 1 is divided in double. ``code_of_0 = -round(min * (2**32 / width)) - 2**31`` is all in double, where
    ``width = (max - min) * (2**32 / (2**32 - 1))``. It is 0 or -1, and -2**31 if max is 0.

    Parameters
    ----------
    input : (data, min, max)
        uint8 or int8, at least 2-D; the range in any order.
    bias : (data, min, max)
        Codes of the same type, 1-D, as many as the last axis of `input` is long.
    out : ndarray of int32, optional
        Where the codes are written; of the shape of `input`.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor (``Input tensor must be at least 2D``, ``Biases must be 1D``, ``Must
        provide as many biases as the last dimension of the input tensor``, ``at least 1 bias``); a range that is not
        finite or whose step is below the normal float32; an output range beyond float32; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``quantized_bias_add_op.cc``, ``quantization_utils.h``.

    **Hazards.** The factor is 2**17 here and 2**14 in `quantized_add`. The sum can wrap. If all ranges are (0, 0), it
    does, because each of the three terms is the lowest code then:

    >>> zeros = np.zeros((1, 2), np.uint8)
    >>> qops.tensorflow.quantized_bias_add((zeros, 0.0, 0.0), (zeros[0], 0.0, 0.0))
    QTensor(np.int32([[-2147483648, -2147483648]]), -0.0, 0.0)

    A range whose min is not a whole number of steps from 0 is read as if it were moved by up to half a step. Here
    255.4 + 0 gives 255:

    >>> t = qops.tensorflow.quantized_bias_add(
    ...     (np.array([[255]], np.uint8), 0.4, 255.4), (np.array([0], np.uint8), 0.0, 1.0)
    ... )
    >>> round(float(t.data[0, 0] * t.scale), 1)
    255.0

    Examples
    --------
    >>> t = qops.tensorflow.quantized_bias_add(
    ...     (np.array([[0, 255]], np.uint8), 0.0, 6.0), (np.array([0, 255], np.uint8), -3.0, 0.0)
    ... )
    >>> t.max, t.data
    (786432.0, array([[-8192, 16384]], dtype=int32))
    """
    checked, checked_bias = flushed(operands(STEPS, ("quint8", "qint8"), input=input, bias=bias))
    x, b = checked[0], checked_bias[0]
    texts = shape_text(b.shape), shape_text(x.shape)
    if b.dtype != x.dtype:
        raise bad_type("bias", f"expected {x.dtype} data like the input, got {b.dtype}")
    if x.ndim < 2:
        raise bad_value("input", f"Input tensor must be at least 2D: {texts[1]}")
    if b.ndim != 1:
        raise bad_value("bias", f"Biases must be 1D: {texts[0]}")
    if b.size != x.shape[-1]:
        raise bad_value(
            "bias", f"Must provide as many biases as the last dimension of the input tensor: {texts[0]} vs. {texts[1]}"
        )
    if b.size == 0:
        raise bad_value("bias", f"Must provide at least 1 bias, got shape {texts[0]}")
    t_max = kernels.quantized_bias_add_max(checked, checked_bias)
    if 2 * abs(t_max) >= WIDEST:
        raise bad_value("input, bias", f"the output range for {checked[1:]}, {checked_bias[1:]} is beyond float32")
    out = output(out, S32, x, b, "input, bias")
    kernels.quantized_bias_add(checked, checked_bias, t_max, out)
    return tensor(out, -t_max, t_max)  # of ranges whose ends are both reversed, so is this
