from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from qops._kernels.product.packed import PackedB

class _ForMachine(Protocol):
    @property
    def machine(self) -> Any: ...

_Packed = TypeVar("_Packed", bound=_ForMachine)

class Packed:
    def __init__(self, codes: NDArray[np.int8], machine: Any, whole: PackedB, in_blocks: PackedB) -> None: ...
    @property
    def codes(self) -> NDArray[np.int8]: ...
    @property
    def machine(self) -> Any: ...
    @property
    def whole(self) -> PackedB: ...
    @property
    def in_blocks(self) -> PackedB: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def panels(self, k_starts: Sequence[int]) -> PackedB: ...

class Update:
    def __init__(
        self,
        ao: int = 0,
        bo: int = 0,
        alpha: float = 1.0,
        beta: float = 0.0,
        old: NDArray[np.int32] | None = None,
        co: NDArray[np.int32] | None = None,
    ) -> None: ...
    @property
    def ao(self) -> int: ...
    @property
    def bo(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def beta(self) -> float: ...
    @property
    def old(self) -> NDArray[np.int32] | None: ...
    @property
    def co(self) -> NDArray[np.int32] | None: ...

class Manner:
    def __init__(self, machine: Any) -> None: ...

def packed_for(b: _Packed, name: str, machine: Any) -> _Packed: ...
def bare(
    a: NDArray[Any], b: NDArray[np.int8] | Packed, machine: Any, vector: str | None = None, num_threads: int = 1
) -> NDArray[np.int32]: ...
def gemm_of(
    a_type: int,
    machine: Callable[[str, str], Any],
    usual_isa: str,
    usual_version: str,
    updated: Callable[..., NDArray[np.int32]],
) -> Callable[..., NDArray[np.int32]]: ...
