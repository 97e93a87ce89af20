"""What good calls are made of: the noun `Op`, and the arrays that several rooms share."""

from typing import Any, NamedTuple

import numpy as np

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
OTHER = np.uint8([[200, 10, 255], [0, 1, 77]])
CODES_32 = np.arange(-3, 3, dtype=np.int32).reshape(2, 3) * 300_000_000
REALS = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
S8 = np.int8([[-128, -3, 0], [7, 90, 127]])
S16 = np.int16([[-32768, -300, 0], [7, 900, 32767]])
ACC = np.int32([[1, -70_000], [0, 5]])
PAIRS_U8 = np.arange(16, dtype=np.uint8).reshape(2, 8) * 17
PAIRS_S8 = (np.arange(16, dtype=np.int16).reshape(2, 8) * 16 - 120).astype(np.int8)
NCHW = (np.arange(2 * 3 * 5 * 4) * 37 % 256).astype(np.uint8).reshape(2, 3, 5, 4)
OIHW = (np.arange(4 * 3 * 2 * 2) * 29 % 256 - 128).astype(np.int8).reshape(4, 3, 2, 2)
NHWC = (np.arange(2 * 4 * 5 * 3) * 37 % 256).astype(np.uint8).reshape(2, 4, 5, 3)
U8, S32, OTHER_U8 = (CODES, -1.0, 2.0), (CODES_32, -4.0, 4.0), (OTHER, 0.0, 3.0)


class Op(NamedTuple):
    """A good call of an op."""

    good: dict[str, Any]
    out: Any = None
    """The type of `out`; None if the op takes none."""
    each: bool = True
    """It works element by element, on arrays of any shape."""
    rows: bool = False
    """Each row of `out` must be contiguous."""
