"""What TensorFlow 2.21's quantized CPU kernels (x86) compute, bit for bit, on ``(data, min, max)`` triples.

A quint8, qint8, quint16, qint16 or qint32 is numpy's uint8, int8, uint16, int16 or int32. The plain kernels are
modelled (``TF_ENABLE_ONEDNN_OPTS=0``). `quantize_v2`, `dequantize` and `quantized_avg_pool` give other results with
oneDNN on, which is TensorFlow's default on x86, and have an argument for it.

A tensor is one argument, where TensorFlow takes three: its ``requantize(*z, *requantization_range(*z))`` is
``requantize(z, *requantization_range(z))`` here.

The ops whose names begin with ``uniform_`` take scales and zero points instead, and return arrays.

Not modelled: ``QuantizedReluX``, ``QuantizedDepthwiseConv2D``, ``QuantizedConv2DPerChannel``, ``QuantizedConcatV2``,
``QuantizedMatMulWithBias``, ``QuantizedConv2DWithBias``, ``QuantizedConv2DAndRequantize``,
``UniformQuantizedDotHybrid``, ``UniformQuantizedConvolutionHybrid``, ``FakeQuantWithMinMaxVars``,
``QuantizeAndDequantizeV4``; ARM builds; an int8 filter of ``QuantizedConv2D``; with oneDNN on, windows along the
channels of a pool; ranges whose step is below the normal float32.
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
from qops.tensorflow.add import quantized_add, quantized_bias_add
from qops.tensorflow.batch_norm import quantized_batch_norm_with_global_normalization
from qops.tensorflow.concat import quantized_concat
from qops.tensorflow.convolution import quantized_conv2d
from qops.tensorflow.dequantize import dequantize
from qops.tensorflow.instance_norm import quantized_instance_norm
from qops.tensorflow.matmul import quantized_matmul
from qops.tensorflow.mul import quantized_mul
from qops.tensorflow.pooling import quantized_avg_pool, quantized_max_pool
from qops.tensorflow.quantize import quantize_v2
from qops.tensorflow.relu import quantized_relu, quantized_relu6
from qops.tensorflow.requantize import quantize_down_and_shrink_range, requantization_range, requantize
from qops.tensorflow.requantize_per_channel import requantization_range_per_channel, requantize_per_channel
from qops.tensorflow.reshape import quantized_reshape
from qops.tensorflow.resize_bilinear import quantized_resize_bilinear
from qops.tensorflow.uniform_add import uniform_quantized_add, uniform_quantized_clip_by_value
from qops.tensorflow.uniform_convolution import uniform_quantized_convolution
from qops.tensorflow.uniform_dot import uniform_quantized_dot
from qops.tensorflow.uniform_quantize import uniform_dequantize, uniform_quantize
from qops.tensorflow.uniform_requantize import uniform_requantize

__all__ = [
    "dequantize",
    "quantize_down_and_shrink_range",
    "quantize_v2",
    "quantized_add",
    "quantized_avg_pool",
    "quantized_batch_norm_with_global_normalization",
    "quantized_bias_add",
    "quantized_concat",
    "quantized_conv2d",
    "quantized_instance_norm",
    "quantized_matmul",
    "quantized_max_pool",
    "quantized_mul",
    "quantized_relu",
    "quantized_relu6",
    "quantized_reshape",
    "quantized_resize_bilinear",
    "requantization_range",
    "requantization_range_per_channel",
    "requantize",
    "requantize_per_channel",
    "uniform_dequantize",
    "uniform_quantize",
    "uniform_quantized_add",
    "uniform_quantized_clip_by_value",
    "uniform_quantized_convolution",
    "uniform_quantized_dot",
    "uniform_requantize",
]
__dir__ = __all__.copy
name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
