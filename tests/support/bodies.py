"""Counts how many elements each SIMD body does, by breakpoints in the compiled kernels, as a debugger sets them.

A body is a local function of a compiled kernel, and its name has the word of its tier. While a call is counted, every
body begins with a breakpoint. There the handler puts the instruction back, and sets a breakpoint where the body returns
to. Then a register holds what the body returns, which is how many elements it did. So this counts in the build that
users get, and what is counted computes as always.
"""

import ctypes
import platform
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import qops._kernels

CAN_COUNT = sys.platform == "linux" and platform.machine() == "x86_64"
BREAK = b"\xcc"
RAX, RSP, RIP = 144, 160, 168  # where a ucontext_t of Linux has what was returned, the stack, and the next instruction
TIER = re.compile(r"(?<![a-z0-9])(avx2|avxvnni|avx512|vnni|vbmi|amx)(?![a-z0-9])")
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
PAGE, READ_WRITE_EXECUTE, SA_SIGINFO = 4096, 7, 4


class Body(NamedTuple):
    kernel: str
    name: str
    tier: str
    code: bytes  # its first byte


class Action(ctypes.Structure):
    """The struct sigaction of Linux."""

    _fields_ = (
        ("handler", HANDLER),
        ("mask", ctypes.c_char * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


@cache
def bodies():
    """All bodies by their addresses, from the tables of symbols, which `nm` of the compiler's tools reads."""
    found, starts, files = {}, {}, map(str, Path(qops._kernels.__path__[0]).rglob("*.so"))
    table = subprocess.run(["nm", "-A", *files], check=True, capture_output=True, text=True).stdout
    symbols = re.findall(r"^(.+):(\w+) [tT] (\S+)$", table, re.MULTILINE)
    for file, at, name in symbols:
        if name.startswith("PyInit_"):
            starts[file] = ctypes.cast(getattr(ctypes.CDLL(file), name), ctypes.c_void_p).value - int(at, 16)
    for file, at, name in symbols:
        if (tier := TIER.search(name)) and not name.endswith(".cold"):  # a cold part is entered by a jump
            at = starts[file] + int(at, 16)
            found[at] = Body("/".join(Path(file).parts[-2:]), name, tier[1], ctypes.string_at(at, 1))
    for page in {at // PAGE for at in found}:
        make_writable(page)
    return found


@cache
def make_writable(page):
    assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(page * PAGE), PAGE, READ_WRITE_EXECUTE)


@contextmanager
def handling(stopped):
    """Call ``stopped(context)`` at each breakpoint."""
    action, before = Action(HANDLER(lambda _number, _info, context: stopped(context)), flags=SA_SIGINFO), Action()
    set_action = ctypes.CDLL(None).sigaction
    assert not set_action(signal.SIGTRAP, ctypes.byref(action), ctypes.byref(before))
    yield
    assert not set_action(signal.SIGTRAP, ctypes.byref(before), None)


def counted(calls):
    """Give for each call the bodies that run in it, in this thread, and how many elements they do.

    For a body that returns nothing the number says nothing.
    """
    found, returns, put = [], {}, ctypes.memmove

    def stopped(context):
        rax, rsp, rip = (ctypes.c_ssize_t.from_address(context + register) for register in (RAX, RSP, RIP))
        rip.value = at = rip.value - 1
        if at in returns:
            code, begun = returns.pop(at)
            put(at, code, 1)
            for body in begun:
                found[-1][bodies()[body]] += rax.value
                put(body, BREAK, 1)
        else:
            put(at, bodies()[at].code, 1)
            to = ctypes.c_size_t.from_address(rsp.value).value
            if to not in returns:  # otherwise another body ends with a jump to this one, and both return there
                make_writable(to // PAGE)
                returns[to] = ctypes.string_at(to, 1), []
                put(to, BREAK, 1)
            returns[to][1].append(at)

    with handling(stopped):
        for at in bodies():
            put(at, BREAK, 1)
        try:
            for call in calls:
                found.append(Counter())
                call()
        finally:
            for at, body in bodies().items():
                put(at, body.code, 1)
    return found
