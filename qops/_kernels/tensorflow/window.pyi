from typing import Any

from numpy.typing import NDArray

from qops._kernels.product.window import Window

Pair = tuple[int, int]

def four(values: object, name: str) -> tuple[int, int, int, int]: ...
def of_pool(image: NDArray[Any], ksize: object, strides: object) -> tuple[Pair, Pair]: ...
def over(image: NDArray[Any], kernel: Pair, stride: Pair, padding: str) -> Window | None: ...
