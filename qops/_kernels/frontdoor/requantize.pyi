from collections.abc import Callable
from typing import Any

def requantize_integers(step: float, lo: float, hi: float, is_signed: bool = False) -> dict[str, Any]: ...

requantization_range: Callable[..., Any]
requantize: Callable[..., Any]
requantize_32to8: Callable[..., Any]
