"""The threads that products share: a process always ends, nothing is written after a call, nobody waits in vain.

Each script runs in a process of its own, which is ended if it takes too long.
"""

import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest
from qops._kernels.gemm.gemm import product

import qops
from qops._kernels.machine import threads

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
SECONDS = 20  # each script takes less than 2
BEGIN = """
import _thread, gc, os, signal, sys, threading, time
import numpy as np
from qops._kernels.gemm.gemm import product
from qops._kernels.machine import threads
threads_there = lambda: len(os.listdir("/proc/self/task"))
a, b = np.full((600, 300), 2, np.uint8), np.full((300, 400), 3, np.int8)
def right(n=3):
    assert (product(a, b, num_threads=n) == 1800).all()
"""


def run(script, before=""):
    """What a script prints, with nothing on stderr."""
    environment = os.environ | {"PYTHONPATH": str(Path(qops.__file__).parents[1])}
    call = [sys.executable, "-c", before + BEGIN + script]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_a_product_is_the_same_in_any_number_of_parts(rng):
    a, b = rng.integers(0, 256, (70, 90), np.uint8), rng.integers(-128, 128, (90, 200), np.int8)
    want = a.astype(np.int32) @ b
    for count in (1, 2, 3, 7, 60, 1000):
        np.testing.assert_array_equal(product(a, b, num_threads=count), want)
    end = time.monotonic() + SECONDS
    while not threads.workers and time.monotonic() < end:  # nobody waits for a thread to start
        time.sleep(0.01)
    assert 1 <= len(threads.workers) <= max(1, PROCESSORS - 1)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and counts threads as Linux does")

INTERRUPTS = """
caught = rings = 0
def ring(*_):
    global rings
    rings += 1
    if rings == 1:
        signal.setitimer(signal.ITIMER_REAL, 2e-4)  # the second follows while the first is handled
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
big, kept = np.full((3000, 500), 2, np.uint8), []
weights, out = np.full((500, 600), 3, np.int8), np.empty((3000, 600), np.int32)
end = time.monotonic() + 1
while time.monotonic() < end or caught < 20:  # a second, longer where others keep the cores
    try:
        try:
            rings = 0
            signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + caught % 20))
            while True:
                product(big, weights, out, num_threads=3)
        finally:
            out[:] = -7
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        out[:] = -7
        time.sleep(0.002)
        assert (out == -7).all(), "written after the call"
        caught += 1
right()
print("ended")
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no timers that interrupt")
def test_nothing_is_written_after_a_call_that_is_interrupted_twice():
    assert run(INTERRUPTS) == ["ended"]


STARTING = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in what it runs in the background
start = _thread.start_new_thread
def interrupted(*call):
    start(*call)
    signal.raise_signal(signal.SIGINT)
_thread.start_new_thread = interrupted
try:
    right()
except KeyboardInterrupt:
    print("interrupted")
_thread.start_new_thread = start
right()
print("ended")
"""


def test_an_interrupt_while_a_worker_starts_leaves_a_process_that_ends():
    assert run(STARTING) == ["interrupted", "ended"]


@on_linux
def test_without_leave_to_start_threads_the_caller_does_all_parts():
    script = """
import resource
if os.getuid() == 0:
    os.setuid(54321)  # no limit holds root back
resource.setrlimit(resource.RLIMIT_NPROC, (1, resource.getrlimit(resource.RLIMIT_NPROC)[1]))
one = threads_there()
for _ in range(20):
    right()
print(threads_there() == one)
"""
    assert run(script) == ["True"]


@on_linux
def test_with_little_address_space_threads_that_die_hold_nobody_up():
    """From too little for a stack to enough for all that a thread needs, in small steps."""
    script = """
import resource
right(1)
out, sizes, most = np.empty((600, 400), np.int32), open("/proc/self/statm"), resource.getrlimit(resource.RLIMIT_AS)[1]
sys.unraisablehook = lambda _: None  # says that a thread died
for step in range(0, 2 << 20, 64 << 10):
    sizes.seek(0)
    room = int(sizes.read().split()[0]) * resource.getpagesize() + (8 << 20) + step
    resource.setrlimit(resource.RLIMIT_AS, (room, most))
    try:
        product(a, b, out, num_threads=3)
    except MemoryError:
        pass
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    threads._forget()  # so that the next product starts workers again
right()
print("right")
"""
    assert run(script) == ["right"]


@pytest.mark.parametrize("dies", ["lambda *_: 1", "refuse", "lambda f, args: start(lambda: None, ())"])
def test_threads_that_cannot_start_or_die_at_once_hold_nobody_up(dies):
    script = f"""
start, began = _thread.start_new_thread, time.monotonic()
def refuse(*_):
    raise RuntimeError("can't start new thread")
_thread.start_new_thread = {dies}
for _ in range(50):
    right(5)
assert not threads.workers and not threads.jobs.qsize()
_thread.start_new_thread = start
right()
print(time.monotonic() - began < 10)
"""
    assert run(script) == ["True"]


FORKS = """
stop = threading.Event()
def work():
    while not stop.is_set():
        right()
thread = threading.Thread(target=work)
thread.start()
for i in range(20):
    right()
    child = os.fork()
    if child == 0:
        assert not threads.workers
        right()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
print("ended")
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="cannot fork")
def test_a_child_forked_during_products_has_workers_of_its_own():
    script = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n" + FORKS
    assert run(script) == ["ended"]


@on_linux
def test_workers_are_few_and_hold_nothing_of_a_call():
    script = """
import weakref
one = threads_there()  # numpy may have some of its own
for n in (2, 5, 60):
    right(n)
callers = [threading.Thread(target=right, args=(9,)) for _ in range(20)]
for caller in callers: caller.start()
for caller in callers: caller.join()
class Held(np.ndarray): pass
held = np.ones((50, 50), np.uint8).view(Held)
seen = weakref.ref(held)
product(held, np.ones((50, 50), np.int8), num_threads=4)
del held
processors = len(os.sched_getaffinity(0))
print(seen() is None, threads.jobs.qsize() <= processors)
time.sleep(0.1)
print(0 < threads_there() - one <= max(1, processors - 1))
"""
    assert run(script) == ["True"] * 3


@on_linux
def test_workers_are_as_few_as_the_processors_that_the_process_may_use():
    script = """
right(60)
time.sleep(0.1)
print(len(threads.workers))
"""
    assert run(script, before="import os; os.sched_setaffinity(0, [*os.sched_getaffinity(0)][:1])\n") == ["1"]


EXIT = """
import atexit
def product_(where):
    right()
    print(where)
class Last:
    def __del__(self, product=product_):
        product("del")
def later():
    threading.main_thread().join()
    product_("thread")
last = {last}
atexit.register(product_, "atexit")
threading.Thread(target=later).start()
{first}
"""


@pytest.mark.parametrize("first", ["", "product_('main')"])
def test_products_are_right_while_python_exits(first):
    # free-threaded Python empties all modules, qops' too, before it deletes what a script's names held
    keeps = not sysconfig.get_config_var("Py_GIL_DISABLED")
    printed = run(EXIT.format(first=first, last="Last()" if keeps else None))
    assert sorted(printed) == sorted(["atexit", "thread", *["del"] * keeps, *["main"] * bool(first)])
