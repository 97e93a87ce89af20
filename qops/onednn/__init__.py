"""oneDNN's int8 primitives, bit for bit: versions 2.6, 3.2 and 3.13 on AVX2, AVX-512 and AVX-512 VNNI.

Each primitive is a pure function of arrays. `Attr` holds the scales and zero points, as in oneDNN. The arguments `isa`
and `version` name the machine to be reproduced; what differs between machines stands in one table,
`qops.onednn.machine`. The default is VNNI, whose products are exact. Without VNNI, pairs of products saturate:

>>> a, b = np.array([[255, 255]], np.uint8), np.array([[127], [127]], np.int8)
>>> int(qops.onednn.gemm_u8s8s32(a, b).item()), int(qops.onednn.gemm_u8s8s32(a, b, isa="avx2").item())
(64770, 32767)

On CPUs with AMX nothing saturates and no weights are halved, as with VNNI. AMX is not modelled, but most results have
the bits of VNNI: 2.6.3, 3.2.0 and 3.13.2 were run on an Intel Sapphire Rapids. There they differ in this:

* GEMM cuts k elsewhere, so an alpha other than 1 rounds elsewhere; sums above 2**24 may lose other bits as floats.
* Kernels of 3.13 that use AMX multiply by src_scale*wei_scale, as 3.2 does. The sizes decide which kernels these are.
* matmul of 3.13 gives other sums at each call for some K above 64 that are no multiples of 64.
* Some groups of a convolution of 3.13 take the zero point of other filters; see `convolution`.
* matmul of 2.6 ends the process by an illegal instruction for some sizes, such as 65 rows and K = 127.

Not modelled: ``deconvolution``, ``softmax``, ``layer_normalization``, ``batch_normalization``, ``resampling``,
``concat``, ``prelu``, ``shuffle``, ``reduction``, ``rnn_vanilla``, ``lbr_gru``, ``augru``; other versions than 2.6, 3.2
and 3.13; SSE4.1, AMX and ARM; packed GEMM of the C interface; k split over threads.
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
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
name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
