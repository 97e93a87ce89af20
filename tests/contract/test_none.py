"""None in place of any argument of any private function: an error or a result, never a process that ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import qops

ENDED = """
import importlib, inspect, itertools, os, pkgutil, random, sys, warnings
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
count = 0
for info in pkgutil.walk_packages(qops._kernels.__path__, "qops._kernels."):
    module = importlib.import_module(info.name)
    for name, f in vars(module).items():
        if is_ours(f, module):
            count += 1
            child = os.fork()
            if child == 0:
                sys.stderr = open(os.devnull, "w")
                try:
                    call(f)
                except BaseException as error:
                    print(f"{module.__name__}.{name}: {error!r}", flush=True)
                os._exit(0)
            if status := os.waitpid(child, 0)[1]:
                print(f"{module.__name__}.{name} ended the process: {status}", flush=True)
print(count > 150)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs each function in a process of its own")
def test_no_private_function_ends_the_process_for_none():
    environment = os.environ | {"PYTHONPATH": str(Path(qops.__file__).parents[1])}
    call = [sys.executable, "-c", ENDED]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.split("\n") == ["True", ""], done.stdout + done.stderr
