from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

def short_way(
    a_type: int, machines: Mapping[tuple[str, str], Any], packed_type: type
) -> Callable[[Function], Function]: ...
