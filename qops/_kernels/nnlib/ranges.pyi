from typing import TypedDict

class Adjusted(TypedDict):
    min: float
    max: float
    step: float
    recip_step: float

class Moved(TypedDict):
    code: int
    min: float
    max: float

class Level(TypedDict):
    zero: int
    step: float

def quantized(x: float, lo: float, hi: float) -> int: ...
def level(lo: float, hi: float) -> Level: ...
def adjusted(lo: float, hi: float) -> Adjusted: ...
def moved(lo: float, hi: float, fixed: int, narrowest: float) -> Moved: ...
