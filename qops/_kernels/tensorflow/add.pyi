from typing import Any

from numpy.typing import NDArray

def quantized_add_integers(min_x: float, max_x: float, min_y: float, max_y: float) -> dict[str, Any]: ...
def quantized_add(
    x: NDArray[Any],
    min_x: float,
    max_x: float,
    y: NDArray[Any],
    min_y: float,
    max_y: float,
    single: str,
    out: NDArray[Any],
) -> float: ...
def quantized_bias_add_max(min_input: float, max_input: float, min_bias: float, max_bias: float) -> float: ...
def quantized_bias_add(
    x: NDArray[Any],
    min_input: float,
    max_input: float,
    bias: NDArray[Any],
    min_bias: float,
    max_bias: float,
    out: NDArray[Any],
) -> float: ...
