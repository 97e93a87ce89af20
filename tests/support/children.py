"""Numbered calls in a child process, which may die of one: the calls after it are made by another."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
from pathlib import Path

SUPPORT = Path(__file__).parent


def environment():
    """That of a child, which imports what this process does."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (SUPPORT, *sys.path[1:], SUPPORT.parents[1])))}


def answers(command, first, end, seconds, variables=None):
    """What children say of each call, in order; {"ended": why} of a call that ends its process, or does not return.

    ``command(first, end)`` starts a child, in this environment or that of `variables`. It prints a line of JSON before
    each call, {"number": n}, and one after it.
    """
    while first < end:
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command(first, end), stdout=subprocess.PIPE, stderr=errors, env=variables or environment()
            )
            why = ""
            for line in lines(process.stdout, seconds):
                if line is None:
                    why = f"no answer in {seconds} s"
                    process.kill()
                    break
                found = json.loads(line)
                if "number" in found:
                    first = found["number"]
                else:
                    yield {"number": first, **found}
                    first += 1
            process.communicate()
            errors.seek(0)
            said = errors.read()[-2000:].decode("utf-8", "replace")
        if first < end:
            why = why or f"the process ended, {process.returncode}: {said}"
            yield {"number": first, "ended": why}
            first += 1


def lines(stream, seconds):
    """The lines of a pipe until its end, or until none comes for so long, and then None."""
    rest = b""
    with selectors.DefaultSelector() as ready:
        ready.register(stream, selectors.EVENT_READ)
        while ready.select(seconds):
            read = os.read(stream.fileno(), 1 << 16)
            if not read:
                return
            *whole, rest = (rest + read).split(b"\n")
            yield from whole
    yield None
