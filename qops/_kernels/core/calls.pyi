from typing import Any, TypeVar

from numpy.typing import NDArray

from qops._kernels.core.pair_stage import PairCodes
from qops._kernels.core.rows import Codes, FloatCodes

Made = TypeVar("Made")

class KnownCodes:
    def keep(
        self,
        run: Codes,
        rule: object,
        scale: object,
        integers: object,
        zero_point: object,
        dtype: object,
        qmin: object,
        qmax: object,
        typenum: int,
    ) -> None: ...
    def __call__(
        self,
        acc: object,
        out: object,
        rule: object,
        scale: object,
        integers: object,
        zero_point: object,
        dtype: object,
        qmin: object,
        qmax: object,
        in_zero_point: object,
        axis: object,
    ) -> NDArray[Any] | None: ...

class KnownQuantizers:
    def keep(
        self, run: FloatCodes, rule: object, scale: object, zero_point: object, dtype: object, typenum: int
    ) -> None: ...
    def __call__(
        self, x: object, out: object, rule: object, scale: object, zero_point: object, dtype: object
    ) -> NDArray[Any] | None: ...

class KnownPairs:
    def keep(
        self,
        run: PairCodes,
        a: NDArray[Any],
        rule: object,
        a_scale: object,
        a_zero: object,
        b_scale: object,
        b_zero: object,
        y_scale: object,
        y_zero: object,
    ) -> None: ...
    def __call__(
        self,
        a: object,
        b: object,
        out: object,
        rule: object,
        a_scale: object,
        a_zero: object,
        b_scale: object,
        b_zero: object,
        y_scale: object,
        y_zero: object,
    ) -> NDArray[Any] | None: ...

class KnownCalls:
    def is_second(self, array: object) -> bool: ...
    def keep(self, made: Made, array: object, arguments: tuple[object, ...]) -> Made: ...
    def __call__(self, array: object, arguments: tuple[object, ...]) -> Any: ...
