"""oneDNN's int8 primitives, bit for bit: versions 2.6, 3.2 and 3.13 on AVX2, AVX-512 and AVX-512 VNNI.

Each primitive is a pure function of arrays. `Attr` holds the scales and zero points, as in oneDNN. The arguments `isa`
and `version` name the machine to be reproduced; what differs between machines stands in one table,
`qops.onednn.machine`. The default is VNNI, whose products are exact. Without VNNI, pairs of products saturate:

>>> a, b = np.uint8([[255, 255]]), np.int8([[127], [127]])
>>> int(qops.onednn.gemm_u8s8s32(a, b).item()), int(qops.onednn.gemm_u8s8s32(a, b, isa="avx2").item())
(64770, 32767)

Not modelled: ``deconvolution``, ``softmax``, ``layer_normalization``, ``batch_normalization``, ``resampling``,
``concat``, ``prelu``, ``shuffle``, ``reduction``, ``rnn_vanilla``, ``lbr_gru``, ``augru``; other versions than 2.6, 3.2
and 3.13; SSE4.1, AMX and ARM; packed GEMM of the C interface; k split over threads.
"""

from qops.onednn import workflow
from qops.onednn.attr import Attr, Eltwise, Scales, Sum
from qops.onednn.binary import binary
from qops.onednn.convolution import Convolution, convolution
from qops.onednn.eltwise import eltwise
from qops.onednn.gemm import GemmS8S8S32, GemmU8S8S32, gemm_s8s8s32, gemm_u8s8s32
from qops.onednn.gru import gru
from qops.onednn.inner_product import InnerProduct, inner_product
from qops.onednn.lstm import lstm
from qops.onednn.matmul import MatMul, matmul
from qops.onednn.pooling import pooling
from qops.onednn.reorder import reorder
from qops.onednn.rnn import StateQuant, recommended_weights_scale
from qops.onednn.saturation import Saturation, saturated_pairs, unsafe_pairs
from qops.onednn.sum import sum
from qops.onednn.window import Window

__all__ = [
    "Attr",
    "Convolution",
    "Eltwise",
    "GemmS8S8S32",
    "GemmU8S8S32",
    "InnerProduct",
    "MatMul",
    "Saturation",
    "Scales",
    "StateQuant",
    "Sum",
    "Window",
    "binary",
    "convolution",
    "eltwise",
    "gemm_s8s8s32",
    "gemm_u8s8s32",
    "gru",
    "inner_product",
    "lstm",
    "matmul",
    "pooling",
    "recommended_weights_scale",
    "reorder",
    "saturated_pairs",
    "sum",
    "unsafe_pairs",
    "workflow",
]
__dir__ = __all__.copy
