"""None in place of any argument of any private function: an error or a result, never a process that ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import qops

ENDED = """
import importlib, inspect, itertools, mmap, os, pkgutil, random, sys, warnings
import qops._kernels

def arguments(f):
    '''None or 1 for each argument: a number is converted before what stands beside it is used.'''
    try:
        parameters = [p for p in inspect.signature(f).parameters.values() if p.kind < p.VAR_KEYWORD]
    except ValueError:  # a class without a signature that Python can read
        parameters = [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)] * 6
    named = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
    for given in range(len(parameters) - len(named) + 1):
        choices = list(itertools.product((None, 1), repeat=given + len(named)))
        for values in random.Random(1).sample(choices, min(len(choices), 512)):
            yield values[:given], dict(zip(named, values[given:]))
            yield values[:given], {}

def call(f):
    for positional, named in arguments(f):
        try:
            f(*positional, **named)
        except (TypeError, ValueError, OverflowError, AttributeError, MemoryError, ZeroDivisionError):
            pass

def is_ours(x, module):
    return callable(x) and getattr(x, "__module__", None) == module.__name__

warnings.simplefilter("ignore")
count, at = 0, mmap.mmap(-1, 2)  # which function a child is at; its parent reads it where the child ended
for info in pkgutil.walk_packages(qops._kernels.__path__, "qops._kernels."):
    module = importlib.import_module(info.name)
    left = [name for name, f in vars(module).items() if is_ours(f, module)]
    count += len(left)
    while left:  # in a child, and after one that ended those that it did not come to in another
        child = os.fork()
        if child == 0:
            sys.stderr = open(os.devnull, "w")
            for i, name in enumerate(left):
                at[:] = i.to_bytes(2)
                try:
                    call(getattr(module, name))
                except BaseException as error:
                    print(f"{module.__name__}.{name}: {error!r}", flush=True)
            os._exit(0)
        status, i = os.waitpid(child, 0)[1], int.from_bytes(at[:])
        if status:
            print(f"{module.__name__}.{left[i]} ended the process: {status}", flush=True)
        left = left[i + 1 :] if status else []
print(count > 150)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs each function in a process of its own")
def test_no_private_function_ends_the_process_for_none():
    environment = os.environ | {"PYTHONPATH": str(Path(qops.__file__).parents[1])}
    call = [sys.executable, "-c", ENDED]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.split("\n") == ["True", ""], done.stdout + done.stderr
