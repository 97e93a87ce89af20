"""Calls of a system on the CPU that is compared: in this process, or in one in an emulator of another CPU.

Only the system runs there. What is drawn, and what qops computes, is made here.
"""

import contextlib
import ctypes
import importlib
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import cpus
from cpu import EMULATED

__all__ = ["call"]

SERVE = str(Path(__file__).parent / "serve.py")


def end_with_parent():
    """Has Linux end this process when its parent ends."""
    die_with_parent = 1
    ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL)


class Emulated:
    """A process on another CPU; it ends this one if it dies of a call."""

    def __init__(self, name):
        self.process = subprocess.Popen(
            [*cpus.command(name), SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=cpus.environment(name),
            preexec_fn=end_with_parent,
        )

    def call(self, module, function, *arguments):
        """The result of a function of a module there, or RuntimeError with its own error's text."""
        try:
            pickle.dump((module, function, arguments), self.process.stdin)
            self.process.stdin.flush()
            word, found = pickle.load(self.process.stdout)
        except (BrokenPipeError, EOFError):
            with contextlib.suppress(BrokenPipeError), self.process:
                pass
            sys.exit(f"the process in the emulator ended, {self.process.returncode}")
        if word == "refused":
            raise RuntimeError(found)
        return found


def here(module, function, *arguments):
    """The same in this process."""
    return getattr(importlib.import_module(module), function)(*arguments)


call = Emulated(EMULATED).call if EMULATED else here
