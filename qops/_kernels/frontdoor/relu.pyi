from collections.abc import Callable
from typing import Any

relu: Callable[..., Any]
