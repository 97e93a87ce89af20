"""nnlib's concatenation along the last axis: the kernel of the vector unit, and (``_ref``) the one in plain C."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib.concat import concat
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_concat_8", "quantized_concat_8_ref"]


def quantized_concat_8(tensors: Sequence[TensorLike], *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedConcat_8: concatenate along the last axis, recoded into a range that holds the ranges of all tensors.

    That range is ``out_min = min(0, every in_min)``, ``out_max = max(every in_max)``. With ``lo = min(0, in_min)`` and
    ``step = (in_max - lo) / 255``, each code q of an input becomes::

        c = sat_u8((wrap_s16(q + offset) * gain + 0x4000) >> 15)
        offset = max(0, plus_half((lo - out_min) / step))
        gain = min(plus_half(255 / (out_max - out_min) * step * 2**15), 32767)

    Parameters
    ----------
    tensors : sequence of uint8 tensors
        At least one, each with at least one axis; only the last axis may differ in length.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes in the range ``(out_min, out_max)``.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), no tensors, and an output range wider than float32.

    Notes
    -----
    Source: ``concat_execute_slice_asm``, ``op_concat.c``; ``memconvert_hvx.S``.

    **Hazards.** The sum wraps where the output range begins more than 2**15 steps of an input below that input. Then
    the codes of the input are far off; those of `quantized_concat_8_ref` are nearly right:

    >>> wide, fine = (np.array([0, 128], np.uint8), -10.0, 10.0), (np.array([0, 255], np.uint8), -0.01, 0.01)
    >>> qops.nnlib.quantized_concat_8([wide, fine]).data, qops.nnlib.quantized_concat_8_ref([wide, fine]).data
    (array([  0, 128,   0,   0], dtype=uint8), array([  0, 128, 128, 129], dtype=uint8))

    If the output range is some 2**17 times as wide as that of an input, the gain is 0, in both functions:

    >>> fine = (np.array([0, 255], np.uint8), -1e-5, 1e-5)
    >>> qops.nnlib.quantized_concat_8_ref([wide, fine]).data
    array([  0, 128,   0,   0], dtype=uint8)

    The codes of a range above 0 are read as if code 0 stood for 0:

    >>> qops.nnlib.quantized_concat_8([(np.array([0, 255], np.uint8), 1.0, 2.0)])  # 1 and 2
    QTensor(np.uint8([0, 255]), 0.0, 2.0)

    Examples
    --------
    >>> qops.nnlib.quantized_concat_8(
    ...     [(np.array([[0, 255]], np.uint8), 0.0, 2.0), (np.array([[100]], np.uint8), 0.0, 4.0)]
    ... )
    QTensor(np.uint8([[0, 128, 100]]), 0.0, 4.0)
    """
    return tensor(*concat(tensors, True, out))


def quantized_concat_8_ref(tensors: Sequence[TensorLike], *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedConcat_8_ref: `quantized_concat_8`, but its sum ``q + offset`` has 32 bits.

    Parameters
    ----------
    tensors, out
        As `quantized_concat_8` takes them.

    Returns
    -------
    QTensor
        As `quantized_concat_8` returns it.

    Raises
    ------
    TypeError, ValueError
        As `quantized_concat_8`.

    Notes
    -----
    Source: ``concat_execute_slice_ref``, ``op_concat.c``.

    **Hazards.** If the range of an input is much narrower than that of the output, the gain has few bits, and its error
    counts once for each step of a large offset. So zeros of the input do not become zeros of the output:

    >>> wide, fine = (np.array([128], np.uint8), -10.0, 10.0), (np.array([128], np.uint8), -0.0004, 0.0004)
    >>> qops.nnlib.quantized_concat_8_ref([wide, fine]).data
    array([128,  97], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantized_concat_8_ref(
    ...     [(np.array([[0, 255]], np.uint8), 0.0, 2.0), (np.array([[100]], np.uint8), 0.0, 4.0)]
    ... ).data
    array([[  0, 128, 100]], dtype=uint8)
    """
    return tensor(*concat(tensors, False, out))
