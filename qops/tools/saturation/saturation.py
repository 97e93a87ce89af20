"""saturation: whether the sums of a layer or of a network fit the lanes and the accumulators of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, shown
from qops.isa.machines import Machine
from qops.models.lanes.runtimes import place_of
from qops.models.lanes.sums import Sums, type_of
from qops.tools.saturation.codes_given import codes_of, ends_of
from qops.tools.saturation.looked import looked_at
from qops.tools.saturation.report import Saturation

if TYPE_CHECKING:
    from qops.models.graph import Graph

__all__ = ["saturation"]


@refusing_unknown
def saturation(
    what: str | Path | Graph | Any,
    data: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    machine: str | Machine | None = None,
    runtime: str | None = None,
    ends: tuple[int, int] | None = None,
    **unknown: Never,
) -> Saturation:
    """Tell whether sums of products saturate or overflow on a machine: for every input, and for data.

    A lane of the machine adds a group of products. With codes x in [lo, hi], the sums of a group with weights w lie
    between ``sum(min(w * lo, w * hi))`` and ``sum(max(w * lo, w * hi))``, and inputs meet both ends. A layer is safe if
    all of these fit the lane, and if the sums of all products, less the zero points and with the bias, fit the
    accumulator. The bias alone must fit it too, as it is stored in that type. If a lane is not safe, the report has an
    input that saturates.

    Parameters
    ----------
    what : str, Path, Graph, prepared layer, or ndarray
        A model file; a graph of `qops.models.load`; a layer such as `qops.MatMul`, `qops.onnx.QLinearConv`,
        `qops.tflite.Conv2D`, `qops.onednn.Convolution` or `qops.rules.Accumulate`; or weights of 8 bits: (outputs, k),
        or (outputs, channels, taps...), one group of filters.
    data : array_like, or dict of str to array_like, optional
        What the model or the layer reads, as `Graph.run` takes it. For weights, codes (rows, k). For layers of the
        front door also a QTensor or ``(codes, min, max)``, whose range says the codes of a bias of real values.
    machine : str or Machine, optional
        A name of `qops.isa.MACHINES`, or the lanes of a kernel of your own. By default "avx2"; for TFLite "s32"; for
        layers of oneDNN and of `qops.rules` the machine that they name as their `isa` or `rule`.
    runtime : str, optional
        Whose order of codes along k, and whose narrow and wide kernels: "ort", onnxruntime; "fbgemm", "x86" and
        "onednn", engines of PyTorch, the last of TensorFlow too; "openvino", and "openvino_gemm" for its other kernel;
        "tflite", or one of its kernel libraries by the names of `qops.tflite`, such as "xnnpack_neon"; "ort_avx2",
        "ort_arm" and "ort_neon" name the machine as well. "plain" uses the lanes of the machine for each layer, taps
        before channels, and moves codes of 8 bits to its types by 128; "exact" has wide lanes alone. By default "ort"
        for what is of ONNX, "tflite" for what is of TFLite where no `machine` is given, and else "plain"; a graph of a
        runtime with narrow lanes has its own. A layer of oneDNN has the kernels of its version under "onednn", its
        default, and one of `qops.rules` the library of its rule.
    ends : (int, int), optional
        For weights and layers: the lowest and the highest code of the data. By default those of the type. Padding has
        its own code, the zero point, which may lie beyond them.

    Returns
    -------
    Saturation
        ``print`` shows a table. ``.safe``, ``.layers`` and ``.as_dict()`` say it to programs.

    Raises
    ------
    TypeError, ValueError
        Another `what`, `machine` or `runtime`; a machine on which a runtime is not known, or that multiplies other
        types; a model without layers of codes; data that do not fit.
    OSError
        A file that cannot be opened.

    See Also
    --------
    qops.safe_products : how many products a lane of a hand-written kernel holds.
    qops.isa.Machine : lanes of a machine of your own.

    Notes
    -----
    onnxruntime and fbgemm order the codes of a convolution as (kernel height, kernel width, channels), so pairs cross
    from one tap to the next when the channels are odd, and padding takes part with the code of its zero point. OpenVINO
    and oneDNN begin a pair at each tap; in oneDNN padding adds 0. ConvInteger of onnxruntime is safe for uint8 images;
    for int8 images with uint8 weights it swaps the roles. Where the size of an image is not known, a window is taken to
    lie inside of it somewhere. Of files with QuantizeLinear and DequantizeLinear, onnxruntime on x86 makes uint8 of
    int8 codes first.

    **Hazards.** Weights with a scale for each channel have a code of 127 in each channel, and are often unsafe:

    >>> found = qops.saturation(np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8))
    >>> found.safe, found.layers[0].channels.tolist(), found.layers[0].witness.there
    (False, [0], 32767)

    Data of 7 bits are safe with any weights of 8 bits:

    >>> qops.saturation(np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8), ends=(0, 127)).safe
    True

    Examples
    --------
    >>> print(qops.saturation(
    ...     np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8), np.array([[9, 9, 200, 90]], np.uint8)
    ... ))
    weights on avx2, plain: 1 of 1 layers can saturate or overflow
      layer    lanes          unsafe  channels  may lose  bits   wrong  lost  codes
      weights  pairs along k     1/4         1     32003    18  50.00%  4063
    """
    if unknown:
        raise unknown_keyword(saturation, unknown)
    if isinstance(what, np.ndarray):
        place = place_of(runtime, machine, "")
        x = None if data is None else codes_of(data, "data")
        found = _of_weights(what, place.machine.left if x is None else type_of(x.dtype))
    else:  # imports stand here, because weights need no room of a system and no model files
        if isinstance(what, str | Path) or type(what).__module__ == "qops.models.graph":
            from qops.tools.saturation.networks import of_network

            if ends is not None:
                raise bad_value("ends", f"a model has its own, got {shown(ends)}")
            return of_network(what, data, machine, runtime)
        from qops.tools.saturation.layers import read_layer

        found, place, x = read_layer(what, data, machine, runtime)
    if ends is not None:
        found = replace(found, x_ends=ends_of(ends, found.x_type))
    found = replace(found, name=found.name or found.kind)
    layer, _ = looked_at(found, place, x)
    return Saturation(found.name, place.machine.name, place.runtime, (layer,))


def _of_weights(what: NDArray[Any], x_type: str) -> Sums:
    what = as_array(what, "what")
    if what.dtype.name not in ("int8", "uint8"):
        raise bad_type("what", f"expected weights of int8 or uint8, got {what.dtype}")
    if what.ndim < 2 or not what.size:
        raise bad_value("what", f"expected weights (outputs, k) or (outputs, channels, taps...), got {what.shape}")
    cells = what.reshape(1, *what.shape[:2], -1)
    row = codes.TABLE[x_type]
    return Sums("weights", "weights", cells, x_type, (row.lowest, row.highest), is_convolution=what.ndim > 2)
