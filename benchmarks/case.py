"""What is timed, and the check that everything passes before it is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

LINE = 64  # bytes


class WrongResult(ValueError):
    """A result is further from the reference than its maker documents."""


@dataclass(frozen=True)
class Candidate:
    """One way to compute an op, ready to be called again and again.

    Attributes
    ----------
    run : callable
        One call, arguments bound, into buffers made beforehand where the maker allows that.
    result : callable
        What the last `run` made, in the units of the reference.
    within : float
        Largest difference from the reference that its maker documents; 0: equal.
    times : int
        How many times one run does the work; only a ceiling does it more than once.
    """

    run: Callable[[], object]
    result: Callable[[], ArrayLike]
    within: float
    times: int = 1


@dataclass(frozen=True)
class Rate:
    """How the work of an op is counted, and which candidate does nothing but that work.

    Attributes
    ----------
    column, share : str
        Names of the columns: work per second, and that as a share of the ceiling's.
    scale : float
        Units of work in one of the column.
    unit : str
        Name of the column's unit.
    ceiling : callable
        Gives a candidate that does the same amount of work, as fast as the machine can.
    """

    column: str
    share: str
    scale: float
    unit: str
    ceiling: Callable[[int], Candidate]


@dataclass(frozen=True)
class Case:
    """An op of qops.

    Attributes
    ----------
    name : str
        Name in the table, and in the `FORMS` of each peer.
    inputs : callable
        ``inputs(rng, n)`` gives the keyword arguments of `reference`, `qops` and each peer's forms.
    reference : callable
        The exact result, straight from the formula.
    qops : callable
        Gives the candidate that is judged.
    work : callable
        ``work(n)`` in the units of `rate`, such as bytes read and written.
    rate : Rate
    sizes, quick : tuple of int
        Values of n, all of them and few.
    beside : str
        Another row, whose peers are those of this one as well; "" for peers of its own.
    """

    name: str
    inputs: Callable[[np.random.Generator, int], dict[str, Any]]
    reference: Callable[..., NDArray[Any]]
    qops: Callable[..., Candidate]
    work: Callable[[int], int]
    rate: Rate
    sizes: tuple[int, ...] = (16, 10_000, 100_000, 1_000_000, 10_000_000)
    quick: tuple[int, ...] = (16, 100_000)
    beside: str = ""


def both(case: Case) -> list[Case]:
    """Make two rows of one: of the function, and of the prepared op, beside the same peers.

    The maker of the case's candidate takes ``prepared=True``, and then gives one that calls an op which it has made.
    """
    prepared = replace(case, name=f"{case.name}_prepared", qops=partial(case.qops, prepared=True), beside=case.name)
    return [case, prepared]


def from_line(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """Make an array that begins with a cache line, as the tensors of frameworks do; numpy's own begin anywhere."""
    size = n * np.dtype(dtype).itemsize
    memory = np.empty(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype)


def blank(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """Make a buffer, its pages touched, full of bytes 0xA5: no op has done its work by chance."""
    return _refilled(from_line(n, dtype))


def shared(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """Give the buffer that all candidates of a row write their results into, blank again.

    Where an array lies in memory changes the speed of writing it by up to a quarter at 4 MB.
    """
    return _refilled(_shared(n, dtype))


@lru_cache(maxsize=1)
def _shared(n: int, dtype: DTypeLike) -> NDArray[Any]:
    return from_line(n, dtype)


def _refilled(buffer: NDArray[Any]) -> NDArray[Any]:
    buffer.view(np.uint8).fill(0xA5)
    return buffer


def check(name: str, candidate: Candidate, reference: NDArray[Any]) -> None:
    """Run the candidate once; WrongResult if it is not within what it documents."""
    candidate.run()
    got = np.asarray(candidate.result())
    if got.shape != reference.shape:
        raise WrongResult(f"{name}: shape {got.shape}, expected {reference.shape}")
    off = np.abs(np.subtract(got, reference, dtype=np.float64)).max()
    if not off <= candidate.within:  # NaN is not
        raise WrongResult(f"{name}: off by {off:.6g}, documented {candidate.within:.6g}")
