"""Matrices of weights, packed once for many products."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.gemm.packed import pack_b
from qops._kernels.onednn.gemm import Packed, packed_for
from qops.onednn import _checks as check
from qops.onednn.machine import DEFAULT_VERSION, machine

__all__ = ["Packed", "PackedWeights", "Weights", "codes_of", "pack_weights", "packed_for"]

Weights: TypeAlias = NDArray[np.int8] | Packed


class PackedWeights(Packed):
    """An s8 matrix (K, N) as the kernels read it; `pack_weights` makes it.

    Attributes
    ----------
    codes : ndarray of int8, (K, N)
        A copy of what was packed, read-only.
    machine : Machine
        The only one whose products it may take part in.
    whole, in_blocks : PackedB
        Packed with pairs along all of k, and with pairs inside each k block of GEMM. Where these are the same pairs,
        both are one object.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"PackedWeights({self.shape}, isa={self.machine.isa!r}, version={self.machine.version!r})"


def pack_weights(b: ArrayLike, *, isa: str = "vnni", version: str = DEFAULT_VERSION) -> PackedWeights:
    """Pack an s8 matrix once, for products with many sources.

    `gemm_u8s8s32` and `gemm_s8s8s32` take it in place of ``b`` (``transb="N"``), `matmul` in place of ``weights``.
    `inner_product` takes the packed transpose of its weights. The results have the same bits.

    Parameters
    ----------
    b : ndarray of int8, (K, N)
        It is copied.
    isa, version : str, optional
        See `gemm_u8s8s32`. They decide which codes form pairs, so a product must name the same.

    Returns
    -------
    PackedWeights

    Raises
    ------
    TypeError, ValueError
        Other dtypes or dimensions, an unknown `isa` or `version`.

    Notes
    -----
    Source: none; oneDNN's own packed matrices (src/cpu/gemm/gemm_pack.hpp) are not modelled.

    **Hazards.** A matrix packed for one machine is refused by another:

    >>> packed = pack_weights(np.int8([[127], [127]]), isa="avx2")
    >>> packed
    PackedWeights((2, 1), isa='avx2', version='3.13')
    >>> from qops.onednn import gemm_u8s8s32
    >>> gemm_u8s8s32(np.uint8([[255, 255]]), packed, isa="avx2")
    array([[32767]], dtype=int32)
    >>> gemm_u8s8s32(np.uint8([[255, 255]]), packed)
    Traceback (most recent call last):
    ValueError: b: packed for isa 'avx2' of version '3.13', expected isa 'vnni' of version '3.13'
    """
    m = machine(version, isa)
    codes = check.array(b, "b", [np.int8], 2).copy()
    codes.flags.writeable = False
    whole = in_blocks = pack_b(codes, pairs=() if m.saturates else None)
    starts = m.k_starts(len(codes))
    if m.saturates and any(start % 2 for start in starts):
        in_blocks = pack_b(codes, pairs=starts)
    return PackedWeights(codes, m, whole, in_blocks)


def codes_of(b: NDArray[np.int8] | Packed) -> NDArray[np.int8]:
    """Give the codes of a matrix, packed or not."""
    return b.codes if isinstance(b, Packed) else b
