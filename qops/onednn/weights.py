"""A matrix of weights, and its products with a source as oneDNN's GEMM and BRGEMM make them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.gemm.gemm import product
from qops._kernels.gemm.packed import PackedB, pack_b
from qops.onednn.machine import Machine
from qops.prepared import Prepared

__all__ = ["Product", "Weights"]


class Product(Prepared):
    """Base of oneDNN's prepared products.

    The constructor of a subclass copies all arrays, checks every argument, and packs the weights; an op for a single
    call packs weights only as that call needs them.
    """

    __slots__ = ()

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for a source of this shape. ValueError if that does not fit.

        Parameters
        ----------
        shape : tuple of int

        Returns
        -------
        tuple of int
        """
        return self._shape(shape)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        raise NotImplementedError


class Weights(NamedTuple):
    """An s8 matrix B (K, N) for the products of one machine.

    Unless it is `packed`, each product packs it on the way.
    """

    codes: NDArray[np.int8]
    machine: Machine
    saturates: bool
    """Pairs of products saturate; else products are exact, as in the reference kernels of any machine."""
    whole: PackedB | None = None
    """B packed with pairs along all of k."""
    in_blocks: PackedB | None = None
    """B packed with pairs inside each k block of GEMM. Where these are the same pairs, both are one object."""

    def packed(self) -> Weights:
        """Give the same weights, packed once for many products. An empty matrix stays as it is."""
        if not self.codes.size:
            return self
        starts = self.machine.pair_starts(len(self.codes))
        whole = pack_b(self.codes, pairs=() if self.saturates else None)
        in_blocks = pack_b(self.codes, pairs=starts) if self.saturates and starts else whole
        return self._replace(whole=whole, in_blocks=in_blocks)

    def product(
        self, a: NDArray[Any], *, in_blocks: bool = False, offsets: tuple[int, int] = (0, 0), num_threads: int = 1
    ) -> NDArray[np.int32]:
        """Multiply A (M, K), u8 or s8, by B, as BRGEMM does, or as GEMM does, where pairs stay `in_blocks`.

        `offsets` are subtracted from the codes of A and of B. That is done after the product and saturates nothing.
        """
        b: Any = self.in_blocks if in_blocks else self.whole
        pairs: tuple[int, ...] | None = None
        if b is None:
            b = self.codes
            if self.saturates:
                pairs = self.machine.pair_starts(len(self.codes)) if in_blocks else ()
        return product(a, b, offsets=offsets, pairs=pairs, num_threads=num_threads)

    def gemm(self, a: NDArray[Any], vector: str | None = None, num_threads: int = 1) -> NDArray[np.int32]:
        """Multiply A (M, K), u8 or s8, by B as GEMM does.

        `vector` names the matrix, "a" or "b", that is a single row or column. Some machines have a kernel for that,
        without k blocks.
        """
        if vector == "b" and self.saturates and self.machine.gemv and a.dtype == np.int8:  # oneDNN shifts the vector
            return product(self.codes.T, a.T, pairs=()).T
        in_blocks = vector is None or not self.machine.gemv
        return self.product(a, in_blocks=in_blocks, num_threads=num_threads)
