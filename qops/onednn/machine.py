"""What differs between CPUs and versions of oneDNN: one table of facts, in which a machine is a column.

The other modules read these facts. None of them asks for a version or an instruction set by name.
"""

from math import inf
from typing import Any, NamedTuple

from qops.onednn import _checks as check

__all__ = ["CONV_KERNELS", "DEFAULT_VERSION", "MACHINES", "ConvKernel", "Machine", "machine"]

DEFAULT_VERSION = "3.13"


class Machine(NamedTuple):
    """One version of oneDNN on one instruction set."""

    version: str
    isa: str
    saturates: bool
    """Products use VPMADDUBSW, whose pairs saturate to s16; else VPDPBUSD, which is exact."""
    k_block: int
    """GEMM cuts k into blocks of this length. No pair reaches from one block into the next."""
    k_single: int
    """A k up to this is one block, though. A k above it and below 2*k_block is cut into two halves."""
    gemv: bool
    """The product of a matrix and a vector has a kernel of its own, without k blocks."""
    s8_gemm: str
    """How gemm_s8s8s32 shifts: "inside" its kernel, or "around" gemm_u8s8s32 (with offsets: an f64 reference)."""
    zp_rowsum_s8: bool
    """A bug: with a zero point of the weights, the sums of a u8 source's rows are those of s8 codes."""
    s32_via_f32: bool
    """In an inner product, GEMM's result becomes f32 even if the destination is s32."""
    matmul_f32: bool
    """In a matmul, GEMM's result becomes f32 even if the destination is s32."""
    ip_oi: str
    """Who multiplies in an inner product of weights stored (OC, IC): "gemm", or "brgemm", which has no k blocks."""
    ip_any: str
    """Who multiplies in an inner product of weights in the layout that oneDNN prefers."""
    matmul: str
    """Who multiplies in a matmul."""
    scaling: str
    """The order of scale and bias.

    "old": (f + bias)*oscale; "merged": f*(src_scale*wei_scale) + bias; "split": (f*src_scale)*wei_scale + bias.
    """
    conv_1x1: str
    """The kernel of a convolution, a row of `CONV_KERNELS`. This one is for kernels of one tap without padding."""
    conv_u8: str
    """The kernel of a convolution of u8 images without a zero point."""
    conv_u8_zp: str
    """The kernel of a convolution of u8 images with a zero point."""
    conv_s8: str
    """The kernel of a convolution of s8 images."""
    conv_inputs: int
    """Images of fewer channels take "jit" in place of the last three."""
    conv_groups_1x1: str
    """The kernel of groups of one tap, if their inputs and outputs are multiples of 4. With more taps it is "jit"."""
    conv_groups: str
    """The kernel of all other groups. 2.6 has a GEMM there, which is not modelled."""
    group_inputs: float
    """Groups of more inputs than this take `conv_groups` too."""
    conv_unrolls: bool
    """In images of one channel, "brg" forms pairs of taps; see `qops.onednn.unrolled`."""
    ref_scaling: str
    """The order of scale and bias in the reference kernels of convolution and inner product; see `scaling`."""
    ref_matmul: str
    """The order of scale and bias in the reference kernels of matmul."""
    ref_divides: bool
    """The reference kernels divide by dst_scale. All other kernels multiply by f32(1/dst_scale)."""
    ref_minus_0: bool
    """In the reference kernels, a relu of alpha 0 makes -0 of negative numbers."""
    s32_overflow: bool
    """A reorder of 4, 8, 12, ... values to s32, without scale and Sum, makes INT_MIN of values that are too large."""
    f32_merged: bool
    """A reorder of f32 to f32 multiplies by the product src_scale*f32(1/dst_scale), before a Sum."""
    pool_global: str
    """How an image is pooled into one value: "jit" multiplies by 1/n, "ref" divides by n."""
    pool_min: int
    """Tensors of fewer elements are pooled by "ref"."""

    def k_starts(self, k: int) -> tuple[int, ...]:
        """Give the starts of GEMM's k blocks, for a product of length `k`.

        Examples
        --------
        >>> from qops.onednn.machine import machine
        >>> machine("2.6", "avx2").k_starts(257), machine("2.6", "avx512").k_starts(257)
        ((0, 129), (0,))
        """
        if k <= self.k_single:
            return (0,)
        step = (k + 1) // 2 if k < 2 * self.k_block else self.k_block
        return tuple(range(0, k, step))

    def pair_starts(self, k: int) -> tuple[int, ...]:
        """Give where GEMM's pairs begin anew. k blocks of an even length change no pair, so they are left out.

        Examples
        --------
        >>> from qops.onednn.machine import machine
        >>> machine("2.6", "avx2").pair_starts(257), machine("2.6", "avx2").pair_starts(259)
        ((0, 129), ())
        """
        starts = self.k_starts(k) if k < 2 * self.k_block else (0,)
        return starts if len(starts) > 1 and starts[1] % 2 else ()

    @property
    def divides(self) -> bool:
        """True for 3.x: it has src_scale, wei_scale, and dst_scale, which divides. 2.6 has oscale."""
        return self.scaling != "old"


_COLUMNS = [(version, isa) for version in ("2.6", "3.2", "3.13") for isa in ("avx2", "avx512", "vnni")]

# fmt: off
_FACTS: dict[str, tuple[Any, ...]] = {
    # version        2.6       2.6       2.6       3.2       3.2       3.2       3.13      3.13      3.13
    # isa            avx2      avx512    vnni      avx2      avx512    vnni      avx2      avx512    vnni
    "saturates":    (True,     True,     False,    True,     True,     False,    True,     True,     False),
    "k_block":      (384,      768,      1536,     384,      768,      1536,     384,      768,      1536),
    "k_single":     (256,      384,      384,      256,      384,      384,      256,      384,      384),
    "gemv":         (False,    True,     True,     False,    True,     True,     False,    True,     True),
    "s8_gemm":      ("around", "inside", "inside", "around", "inside", "inside", "around", "inside", "inside"),
    "zp_rowsum_s8": (True,     True,     False,    False,    False,    False,    False,    False,    False),
    "s32_via_f32":  (False,    False,    False,    False,    False,    False,    True,     False,    False),
    "matmul_f32":   (False,    False,    False,    True,     False,    False,    True,     False,    False),
    "ip_oi":        ("gemm",   "gemm",   "gemm",   "gemm",   "gemm",   "gemm",   "gemm",   "brgemm", "brgemm"),
    "ip_any":       ("gemm",   "gemm",   "brgemm", "gemm",   "brgemm", "brgemm", "gemm",   "brgemm", "brgemm"),
    "matmul":       ("gemm",   "gemm",   "brgemm", "gemm",   "brgemm", "brgemm", "gemm",   "brgemm", "brgemm"),
    "scaling":      ("old",    "old",    "old",    "merged", "merged", "merged", "merged", "split",  "split"),
    "conv_1x1":     ("jit1x1", "jit1x1", "brg",    "jit1x1", "jit1x1", "brg",    "jit1x1", "brg",    "brg"),
    "conv_u8":      ("jit",    "jit",    "brg",    "jit",    "jit",    "brg",    "jit",    "brg",    "brg"),
    "conv_u8_zp":   ("jit",    "jit",    "jit",    "jit",    "jit",    "brg",    "jit",    "brg",    "brg"),
    "conv_s8":      ("jit",    "jit",    "jit",    "jit",    "jit",    "brg",    "jit",    "brg",    "brg"),
    "conv_inputs":  (1,        1,        1,        1,        1,        5,        1,        1,        1),
    "conv_groups_1x1": ("jit", "jit1x1", "jit1x1", "jit",    "jit1x1", "jit1x1", "jit",    "jit1x1", "jit1x1"),
    "conv_groups":  ("ref",    "jit",    "brg",    "ref",    "brg",    "brg",    "ref",    "brg",    "brg"),
    "group_inputs": (inf,      inf,      16,       inf,      inf,      16,       inf,      16,       16),
    "conv_unrolls": (False,    False,    False,    False,    False,    False,    False,    True,     False),
    "ref_scaling":  ("old",    "old",    "old",    "merged", "merged", "merged", "split",  "split",  "split"),
    "ref_matmul":   ("old",    "old",    "old",    "split",  "split",  "split",  "split",  "split",  "split"),
    "ref_divides":  (False,    False,    False,    False,    False,    False,    True,     True,     True),
    "ref_minus_0":  (False,    False,    False,    False,    False,    False,    True,     True,     True),
    "s32_overflow": (True,     True,     True,     False,    False,    False,    False,    False,    False),
    "f32_merged":   (False,    False,    False,    True,     True,     True,     False,    False,    False),
    "pool_global":  ("ref",    "ref",    "ref",    "ref",    "ref",    "ref",    "jit",    "jit",    "jit"),
    "pool_min":     (16,       0,        0,        16,       0,        0,        16,       0,        0),
}
# fmt: on

MACHINES = {
    column: Machine(*column, **{fact: cells[i] for fact, cells in _FACTS.items()}) for i, column in enumerate(_COLUMNS)
}
"""All machines, by (version, isa)."""


class ConvKernel(NamedTuple):
    """What one kind of convolution kernel does."""

    exact: bool
    """Products are exact on every machine."""
    halves_s8: bool
    """On a machine that saturates, the weights of an s8 source are halved and the result is doubled."""
    compensates_in_f32: bool
    """The accumulator becomes f32 before -128*sum(w) and then -src_zp*sum(w) are added."""
    s32_via_f32: bool
    """The accumulator becomes f32 even if the destination is s32. In other kernels it does so if it is compensated."""
    is_ref: bool
    """It is plain C++, which fuses nothing; see `qops.onednn.output`."""
    whole_strides: bool
    """It takes only images whose height and width are multiples of the strides."""


# fmt: off
CONV_KERNELS = {
    #                        exact  halves_s8  comp_f32  via_f32  is_ref  whole_strides
    "jit":       ConvKernel(False, True,      False,    True,    False,  False),
    "jit1x1":    ConvKernel(False, True,      True,     True,    False,  True),
    "depthwise": ConvKernel(True,  True,      False,    True,    False,  False),
    "brg":       ConvKernel(False, True,      False,    False,   False,  False),
    "ref":       ConvKernel(True,  False,     False,    True,    True,   False),
}
# fmt: on
"""The kernels of convolutions, by name.

"jit" and "jit1x1" are generated directly, the latter for one tap without padding. "brg" is built on BRGEMM. "ref" is
plain C++, for images stored nchw and, on AVX2, for groups that are no multiples of 4. 2.6.3, 3.2.0 and 3.13.2 report
the names of their kernels, which tell when each is picked.
"""


def machine(version: str, isa: str) -> Machine:
    """Give the facts of a version on an instruction set; ValueError if there is no such column.

    Examples
    --------
    >>> from qops.onednn.machine import machine
    >>> machine("3.2", "vnni").saturates
    False
    >>> machine("2.6", "sse41")
    Traceback (most recent call last):
    ValueError: isa: expected one of avx2, avx512, vnni, got 'sse41'
    """
    try:
        return MACHINES[version, isa]
    except (KeyError, TypeError):
        check.choice(version, "version", dict.fromkeys(v for v, _ in _COLUMNS))
        check.choice(isa, "isa", dict.fromkeys(i for _, i in _COLUMNS))
        raise
