"""How machines add products of codes: which lanes hold how many products, and what happens where a lane is too narrow.

A machine multiplies codes and adds a `group` of products in one lane of `bits` bits. What leaves that lane saturates,
wraps, or cannot occur. The lanes are then added to an accumulator of `acc_bits` bits.

=============  ==========  ==========================  ==================================  ==========================
name           codes       one lane holds              beyond the lane                     instructions
=============  ==========  ==========================  ==================================  ==========================
avx2           u8 x s8     2 neighbours, 16 bits       saturates                           VPMADDUBSW, VPMADDWD, VPADDD
psign          s8 x s8     2 neighbours, 16 bits       saturates; -128 loses its sign      VPABSB, VPSIGNB, VPMADDUBSW
vnni           u8 x s8     4 neighbours, 32 bits       wraps                               VPDPBUSD
vnni_sat       u8 x s8     4 neighbours, 32 bits       saturates                           VPDPBUSDS
amx            8 x 8       4 neighbours, 32 bits       wraps                               TDPBUSD and its like
neon           s8 x s8     k and k + 8, 16 bits        wraps                               SMULL, SMLAL, SADALP
dotprod        s8 x s8     4 neighbours, 32 bits       wraps                               SDOT
dotprod_u8     u8 x u8     4 neighbours, 32 bits       wraps                               UDOT
i8mm           s8 x s8     8 neighbours, 32 bits       wraps                               SMMLA
hvx            u8 x s8     4 neighbours, 32 bits       wraps                               vrmpy
s32            s8 x s8     every product, 32 bits      wraps                               plain C
s32_16x8       s16 x s8    every product, 32 bits      wraps                               plain C
s48_16x8       s16 x s8    every product, 48 bits      wraps                               accumulators of MCU kernels
=============  ==========  ==========================  ==================================  ==========================

Which library uses which machine on which CPU is a fact about that library.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops._readable import shows_fields
from qops.checks import array, choice
from qops.isa.lanes import fit

__all__ = ["MACHINES", "Machine", "machine"]

_MOST = 64
"""The bits of sums."""
Overflow: TypeAlias = Literal["saturates", "wraps"]


@shows_fields
class Machine(NamedTuple):
    """How the lanes of a machine add products of codes. `MACHINES` has those of real CPUs; a kernel may have its own.

    Attributes
    ----------
    name : str
    left, right : str
        The code types that it multiplies, by their names in `qops.codes.TABLE`: data and weights.
    group : int
        How many products one lane holds; 0: all products of a dot product.
    bits : int
        The bits of that lane, whose sum is signed.
    overflow : {"saturates", "wraps"}
        What happens to a sum that leaves the lane.
    distance : int
        How far the products of a group are from each other: 1 for neighbours. With 8, the codes k and k + 8 of each
        block of 16 share a lane.
    acc_bits : int
        The bits of the accumulator, to which the lanes are added. It overflows in the way of the lane if it is the
        lane, else it wraps.
    magnitudes : bool
        Whether ``|a| * sign(b, a)`` stands for ``a * b``, which is wrong for negative a beside b = -128.
    instructions, cpus : str
        Its instructions, and which CPUs have them.

    Examples
    --------
    A kernel that adds eight products of 4 by 8 bits in 16 bits, where the data use 0..15 of the codes:

    >>> mine = qops.isa.Machine("mine", "u8", "s8", group=8, bits=16, overflow="wraps")
    >>> mine.dot(np.full(8, 15, np.uint8), np.full(8, 127, np.int8))
    array(15240, dtype=int32)
    """

    name: str
    left: str
    right: str
    group: int
    bits: int
    overflow: Overflow
    distance: int = 1
    acc_bits: int = 32
    magnitudes: bool = False
    instructions: str = ""
    cpus: str = ""

    @property
    def lowest(self) -> int:
        """The lowest sum that a lane holds."""
        return -(1 << self.bits - 1)

    @property
    def highest(self) -> int:
        """The highest sum that a lane holds."""
        return (1 << self.bits - 1) - 1

    def groups(self, x: NDArray[Any]) -> NDArray[Any]:
        """Split the last axis into groups that share a lane; what lacks codes is filled with 0.

        Parameters
        ----------
        x : ndarray, (..., k)

        Returns
        -------
        ndarray, (..., lanes, group)

        Examples
        --------
        >>> qops.isa.MACHINES["avx2"].groups(np.array([1, 2, 3])).tolist()
        [[1, 2], [3, 0]]
        >>> qops.isa.MACHINES["neon"].groups(np.arange(16))[:2].tolist()
        [[0, 8], [1, 9]]
        """
        length = x.shape[-1]
        group = self.group or max(1, length)
        lacking = -length % (group * self.distance)
        if lacking:
            x = np.concatenate([x, np.zeros((*x.shape[:-1], lacking), x.dtype)], axis=-1)
        blocks = x.reshape(*x.shape[:-1], -1, group, self.distance).swapaxes(-1, -2)
        return blocks.reshape(*x.shape[:-1], -1, group)

    def products(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
        """Multiply integers as the machine does, before anything is added.

        Parameters
        ----------
        a, b : ndarray of integers
            Shapes broadcast.

        Returns
        -------
        ndarray of int64

        Examples
        --------
        >>> a, b = np.array([-3]), np.array([-128])
        >>> [qops.isa.MACHINES[name].products(a, b).item() for name in ("dotprod", "psign")]
        [384, -384]
        """
        left, right = a.astype(np.int64), b.astype(np.int64)
        exact: NDArray[np.int64] = left * right
        if not self.magnitudes:
            return exact
        return np.where((right == codes.TABLE[self.right].lowest) & (left < 0), -exact, exact)

    def kept(self, sums: NDArray[np.int64], bits: int | None = None) -> NDArray[np.int64]:
        """Give what a lane keeps of sums: cut to its ends, or their low bits.

        Parameters
        ----------
        sums : ndarray of int64
        bits : int, optional
            The bits of another lane, which wraps: the accumulator.

        Returns
        -------
        ndarray of int64

        Examples
        --------
        >>> sums = np.array([64770, -5])
        >>> [qops.isa.MACHINES[name].kept(sums).tolist() for name in ("avx2", "neon")]
        [[32767, -5], [-766, -5]]
        """
        width = bits or self.bits
        if width == _MOST:
            return sums
        half = 1 << width - 1
        if self.overflow == "saturates" and width == self.bits:
            return np.clip(sums, -half, half - 1)
        return ((sums + half) & (2 * half - 1)) - half

    def dot(self, a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
        """Compute dot products along the last axis, as the lanes of the machine do.

        Parameters
        ----------
        a, b : ndarray, (..., k)
            Codes of the types `left` and `right`. Shapes broadcast.

        Returns
        -------
        ndarray of int32, or of int64 where the accumulator has more bits, (...)

        Raises
        ------
        TypeError
            Codes of another type.
        ValueError
            Shapes that do not fit.

        Examples
        --------
        >>> a, b = np.array([255, 255, 0], np.uint8), np.array([127, 127, 5], np.int8)
        >>> [qops.isa.MACHINES[name].dot(a, b).item() for name in ("avx2", "vnni")]
        [32767, 64770]
        """
        left = array(a, "a", codes.TABLE[self.left].dtype.num)
        right = array(b, "b", codes.TABLE[self.right].dtype.num)
        if left.ndim == 0 or right.ndim == 0 or left.shape[-1] != right.shape[-1]:
            raise bad_value("a, b", f"expected the same last axis, got shapes {left.shape} and {right.shape}")
        left, right = fit(left, right)
        lanes = self.kept(self.groups(self.products(left, right)).sum(axis=-1))
        wide = np.dtype(np.int32 if self.acc_bits <= 32 else np.int64)
        if self.bits < self.acc_bits or self.overflow == "wraps":
            return np.asarray(self.kept(lanes.sum(axis=-1), self.acc_bits)).astype(wide)
        acc = np.zeros(lanes.shape[:-1], np.int64)
        for lane in np.moveaxis(lanes, -1, 0):  # each addition saturates, so their order counts
            acc = self.kept(acc + lane)
        return acc.astype(wide)


_AVX2 = "VPMADDUBSW, VPMADDWD, VPADDD"
_ROWS = (
    Machine("avx2", "u8", "s8", 2, 16, "saturates", instructions=_AVX2, cpus="x86 with AVX2 or AVX-512, without VNNI"),
    Machine(
        *("psign", "s8", "s8", 2, 16, "saturates"),
        magnitudes=True,
        instructions=f"VPABSB, VPSIGNB, {_AVX2}",
        cpus="x86 with AVX2 or AVX-512, without VNNI",
    ),
    Machine(*("vnni", "u8", "s8", 4, 32, "wraps"), instructions="VPDPBUSD", cpus="x86 with AVX-512 VNNI or AVX-VNNI"),
    Machine(
        *("vnni_sat", "u8", "s8", 4, 32, "saturates"),
        instructions="VPDPBUSDS",
        cpus="x86 with AVX-512 VNNI or AVX-VNNI",
    ),
    Machine("amx", "u8", "s8", 4, 32, "wraps", instructions="TDPBUSD", cpus="x86 with AMX"),
    Machine(
        *("neon", "s8", "s8", 2, 16, "wraps"),
        distance=8,
        instructions="SMULL, SMLAL, SADALP",
        cpus="64-bit ARM without dot products: Cortex-A53, A72",
    ),
    Machine(
        *("dotprod", "s8", "s8", 4, 32, "wraps"),
        instructions="SDOT",
        cpus="64-bit ARM with dot products: Cortex-A55, A76, Neoverse N1",
    ),
    Machine(
        *("dotprod_u8", "u8", "u8", 4, 32, "wraps"),
        instructions="UDOT",
        cpus="64-bit ARM with dot products: Cortex-A55, A76, Neoverse N1",
    ),
    Machine("i8mm", "s8", "s8", 8, 32, "wraps", instructions="SMMLA", cpus="64-bit ARM with i8mm: Neoverse V1, N2"),
    Machine("hvx", "u8", "s8", 4, 32, "wraps", instructions="vrmpy", cpus="Hexagon with HVX"),
    Machine("s32", "s8", "s8", 0, 32, "wraps", cpus="any, plain C"),
    Machine("s32_16x8", "s16", "s8", 0, 32, "wraps", cpus="any, plain C"),
    Machine("s48_16x8", "s16", "s8", 0, 48, "wraps", acc_bits=48, cpus="accumulators of 48 bits, as DSPs have"),
)
MACHINES: dict[str, Machine] = {row.name: row for row in _ROWS}
"""The machines by name."""


def machine(name: str | Machine) -> Machine:
    """Give a machine by its name; a `Machine` is given as it is.

    Raises
    ------
    ValueError
        No machine has this name.
    """
    if isinstance(name, Machine):
        return name
    return MACHINES[choice(name, "machine", MACHINES)]
