"""qops: DSP-style quantized ops on ``(data, min, max)`` triples."""

from qops.add import quantized_add_8p8to8, quantized_add_8p8to32
from qops.qtensor import QTensor

__all__ = ["QTensor", "quantized_add_8p8to8", "quantized_add_8p8to32"]
