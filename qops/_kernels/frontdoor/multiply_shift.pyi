from collections.abc import Callable
from typing import Any

def known(rounding: object, rules: tuple[str, ...]) -> str: ...

multiply_shift: Callable[..., Any]
multiply_shift_by: Callable[..., Any]
