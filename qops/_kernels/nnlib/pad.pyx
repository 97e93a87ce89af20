"""The code of nnlib's QuantizedPad_8."""

from qops._kernels.nnlib.ranges cimport steps
from qops._kernels.stage.rounding cimport plus_half_dsp_s32


def code_of(float value, float lo, float hi):
    """plus_half(255 * (value - min) / (max - min)), not cut to codes."""
    return plus_half_dsp_s32(steps() * (value - lo) / (hi - lo))
