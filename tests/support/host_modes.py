"""Sets the floating point of this thread as a library might: rounding modes, and subnormal numbers that become 0."""

import ctypes
import ctypes.util
import json
import platform
import struct
import sys
from contextlib import contextmanager

IS_ARM = platform.machine() in ("aarch64", "arm64")
MODES = (
    {"upward": 0x400000, "downward": 0x800000, "toward zero": 0xC00000}
    if IS_ARM
    else {"downward": 0x400, "upward": 0x800, "toward zero": 0xC00}
)
"""What `fesetround` takes for each mode but to nearest, which is 0."""


def library():
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m"))


@contextmanager
def rounding(mode):
    """Rounds in this mode, one of `MODES`."""
    assert library().fesetround(MODES[mode]) == 0
    try:
        yield
    finally:
        library().fesetround(0)


@contextmanager
def flushing(results=True, operands=True):
    """Subnormal results, and subnormal operands, are 0: in FPCR of ARM both, in MXCSR of x86 by a bit each."""
    environment = ctypes.create_string_buffer(64)
    place, bits = (0, 1 << 24) if IS_ARM else (28, 0x8000 * results | 0x40 * operands)
    library().fegetenv(environment)
    before = environment.raw
    (control,) = struct.unpack_from("I", before, place)
    struct.pack_into("I", environment, place, control | bits)
    library().fesetenv(environment)
    try:
        yield
    finally:
        library().fesetenv(before)


def outcome(call, *arguments, **keywords):
    """What a call does: the text of its FloatingPointError, or something else that it should not do."""
    try:
        call(*arguments, **keywords)
    except FloatingPointError as refusal:
        return str(refusal)
    except BaseException as other:
        return f"raised {type(other).__name__}: {other}"
    return "returned"


def refusals():
    """For each mode and each way to call an op of the registry, what comes of it."""
    from ops import OPS, PREPARED, function
    from prepared_ops import kind_of, parts

    made = {name: (kind_of(name), *parts(name)) for name in PREPARED}
    ready = {name: (kind(**numbers), data) for name, (kind, numbers, data) in made.items()}
    for mode in MODES:
        for name in OPS:
            with rounding(mode):
                came = outcome(function(name), **OPS[name].good)
            yield mode, name, came
        for name, (op, data) in ready.items():
            with rounding(mode):
                came = outcome(op, **data)
            yield mode, f"{name}, made before", came
            kind, numbers, _ = made[name]
            with rounding(mode):
                came = outcome(kind, **numbers)
            yield mode, f"{name}, made", came


if __name__ == "__main__":
    print(json.dumps([*refusals()]))
