from collections.abc import Callable

TIERS: tuple[str, ...]

def available() -> tuple[str, ...]: ...
def use(wanted: str) -> None: ...

name: Callable[[], str]
