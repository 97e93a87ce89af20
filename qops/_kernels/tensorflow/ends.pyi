from typing import Any

NORMAL: float
WIDEST: float

def fit(lo: Any, hi: Any, steps: float) -> tuple[float, float] | None: ...
