"""The runtimes whose bits the operators give: a library on a kind of CPU is a column of facts.

`qops.onnx` says what they compute. With AVX-VNNI, AVX-512 VNNI or AMX, and without AVX2, the column is ``ort``. ARM
cores without dot products are the Cortex-A53, -A57, -A72 and -A73, as in a Raspberry Pi 3 and 4. The Cortex-A55, -A76,
the Neoverse-N1 and later ones have them.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

__all__ = ["COLUMNS", "ORT", "RUNTIMES", "Column", "Pairs"]

Pairs: TypeAlias = Literal["", "saturate", "lowest"]
U8, S8 = np.dtype(np.uint8), np.dtype(np.int8)


class Column(NamedTuple):
    """A library on a kind of CPU: what its kernels compute otherwise than others.

    Attributes
    ----------
    system : str
        What it is, in words.
    pairs : {"", "saturate", "lowest"}
        What two products that share a word of 16 bits do. "": sums are exact. "saturate": neighbours (k, k+1) of uint8
        by int8 saturate. "lowest": (k, k+8) of each 16, by int8, lose 65536 if all four codes are the lowest.
    add, add_beyond, mul, pool : str
        The rules of `qops.rules` for QLinearAdd, for one whose ratios of scales `add` does not take, for QLinearMul and
        QLinearAveragePool.
    fuses : bool
        Whether a product and a sum of floats are rounded once.
    is_ort : bool
        Whether it is onnxruntime, which refuses more than the standard and runs its own operators.
    allows_int8 : bool
        Whether graphs of int8 codes are fused as they are; else onnxruntime makes uint8 of them first.
    sums_blocks : bool
        Whether it is known in which order MatMulNBits sums floats.
    """

    system: str
    pairs: Pairs = ""
    add: str = "ort-x86"
    add_beyond: str = ""
    mul: str = "ort-x86"
    pool: str = "ort"
    fuses: bool = False
    is_ort: bool = True
    allows_int8: bool = False
    sums_blocks: bool = False

    @property
    def saturates(self) -> bool:
        """Whether neighbours of uint8 by int8 saturate."""
        return self.pairs == "saturate"

    def pairs_of(self, left: np.dtype[Any], right: np.dtype[Any]) -> Pairs:
        """Give what pairs do in a product of codes of these types; the left ones have the rows.

        Parameters
        ----------
        left, right : dtype
            uint8 or int8.

        Returns
        -------
        {"", "saturate", "lowest"}
        """
        can = right == S8 and (left == U8 or self.pairs == "lowest")
        return self.pairs if can else ""

    def pairs_of_layer(self, x: np.dtype[Any], w: np.dtype[Any], is_depthwise: bool, is_symmetric: bool) -> Pairs:
        """Give what pairs do in QLinearConv, which has two kernels whose sums are exact on all CPUs.

        One is for groups of one channel and one filter, the other on ARM for int8 by int8 with zero points of 0.

        Parameters
        ----------
        x, w : dtype
            uint8 or int8: of the image and of the filters.
        is_depthwise, is_symmetric : bool
            Whether each group has one channel and one filter; whether the zero points of the filters are 0.

        Returns
        -------
        {"", "saturate", "lowest"}
        """
        has_own_kernel = is_depthwise or (x == S8 and is_symmetric)
        return "" if has_own_kernel else self.pairs_of(x, w)


_ARM = "qnnpack", "ort-arm-float", "ort-arm", "ort-arm", True, True, True
COLUMNS = {
    "onnx": Column("the ONNX standard as written", is_ort=False),
    "ort": Column("onnxruntime on x86 with VNNI"),
    "ort_avx2": Column("onnxruntime on x86 with AVX2, without VNNI", "saturate", sums_blocks=True),
    "ort_arm": Column("onnxruntime on 64-bit ARM with dot products", "", *_ARM),
    "ort_neon": Column("onnxruntime on 64-bit ARM without dot products", "lowest", *_ARM),
}
"""All runtimes, by the names that arguments take."""
RUNTIMES = (*COLUMNS,)
ORT = tuple(name for name, column in COLUMNS.items() if column.is_ort)
"""Those of onnxruntime."""
