from typing import Any

from numpy.typing import NDArray

from qops._kernels.core.rows import Codes

FORMS: dict[str, int]

class PairCodes:
    def __init__(
        self,
        form: str,
        a: dict[str, Any],
        b: dict[str, Any],
        last: Codes,
        *,
        of_b: Codes | None = None,
        exchanged: bool = False,
    ) -> None: ...
    def with_tail(self, width: int, tail: PairCodes) -> PairCodes: ...
    def __call__(self, a: NDArray[Any], b: NDArray[Any], out: NDArray[Any]) -> None: ...
