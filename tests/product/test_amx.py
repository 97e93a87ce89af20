"""Products on the matrix unit, of every signedness, and what shares the process with it.

On a CPU without one the best tier there is takes its place: QOPS_EXPECT=amx fails there.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from ops import on_every_tier
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import pack_weights
from qops._kernels.gemm.gemm import product
from qops._kernels.gemm.packed import pack_b

import qops
from qops._kernels.machine import tiers as isa

U8, S8 = np.uint8, np.int8
SIGNS = [(a, b) for a in (U8, S8) for b in (S8, U8)]
ROWS, COLUMNS, DEPTHS = (16, 17, 31, 32, 33, 49, 64), (1, 16, 31, 48, 64, 97), (256, 260, 300, 333, 512, 1030, 4108)
REFUSING = """
import ctypes, platform, struct, sys
if sys.platform == "linux" and platform.machine() == "x86_64":
    load, equal, give = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (equal, 0, 3, 158), (load, 0, 0, 16), (equal, 0, 1, 0x1023), (give, 0, 0, 0x50001),
             (give, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
from qops._kernels.machine import tiers
print(*tiers.available())
"""
TOGETHER = """
import os, signal, threading, numpy as np
from qops._kernels.gemm.gemm import product
rng = np.random.default_rng(1)
pairs = [(rng.integers(0, 256, (m, k), np.uint8), rng.integers(-128, 128, (k, 100), np.int8))
         for m, k in ((16, 256), (40, 300), (200, 512))]
want = [a.astype(int) @ b.astype(int) for a, b in pairs]
def right(threads=1):
    return all((product(a, b, num_threads=threads) == c).all() for (a, b), c in zip(pairs, want))
handled, stop = [], threading.Event()
def handle(*_):
    handled.append(right())
    signal.setitimer(signal.ITIMER_REAL, 0.001)  # the next, however long this one took
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.001)
while len(handled) < 40:
    assert right()
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(handled)
def work():
    while not stop.is_set():
        assert right()
thread = threading.Thread(target=work)
thread.start()
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(0 if right() else 1)
    children.append(child)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
stop.set()
thread.join()
print(right(4))
"""


def codes(rng, dtype, shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def in_a_new_process(code, **environment):
    root = str(Path(qops.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, **environment}
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True)


@pytest.mark.long
@pytest.mark.parametrize(("a_type", "b_type"), SIGNS)
def test_every_edge_of_what_the_matrix_unit_takes(rng, a_type, b_type):
    for m in ROWS:
        for _ in range(6):
            n, k = int(rng.choice(COLUMNS)), int(rng.choice(DEPTHS))
            a, b = codes(rng, a_type, (m, k)), codes(rng, b_type, (k, n))
            c = codes(rng, S8, (m, n)).astype(np.int32)
            left, under = (
                a.astype(float),
                b.astype(float),
            )  # sums below 2**53 are exact, in a tenth of the time of int64
            want, shifted = (left @ under).astype(np.int32), (left - 3) @ (under + 7)
            for right in (b, pack_b(b)):
                assert np.array_equal(product(a, right), want), (m, n, k)
                assert np.array_equal(product(a, right, c.copy(), accumulate=True), want + c), (m, n, k)
                assert np.array_equal(product(a, right, offsets=(3, -7)), shifted), (m, n, k)


def test_more_than_a_block(rng):
    a, b = codes(rng, U8, (300, 4100)), codes(rng, S8, (4100, 70))
    want = (a.astype(float) @ b.astype(float)).astype(np.int32)
    for right in (b, pack_b(b)):
        assert np.array_equal(product(a, right), want)


def test_the_worst_sums_wrap_on_every_tier():
    a, b = np.full((40, 70_000), 255, U8), np.full((70_000, 20), 255, U8)
    assert (on_every_tier(product, a, b) == (255 * 255 * 70_000 + 2**31) % 2**32 - 2**31).all()


@pytest.mark.parametrize("channels", [32, 36, 68])
@pytest.mark.parametrize(("x_type", "w_type"), SIGNS)
def test_convolution(rng, x_type, w_type, channels):
    x, w = codes(rng, x_type, (2, 5, 37, channels)), codes(rng, w_type, (21, channels, 3, 2))
    for window, pad in ((Window(), 0), (Window((1, 2), (2, 1), ((1, 2), (3, 0))), 5)):
        for weights in (w, pack_weights(w)):
            got = convolve(Images(x, window, pad, 3), weights, None, Finish(-2))
            want = on_every_tier(convolve, Images(x, window, pad, 3), w, None, Finish(-2))
            assert np.array_equal(got, want)


def test_threads_meet(rng):
    a, b = codes(rng, U8, (130, 516)), codes(rng, S8, (516, 150))
    want = a.astype(int) @ b.astype(int)
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda i: product(a[: 16 + i], b, num_threads=1 + i % 3), range(100)):
            assert np.array_equal(got, want[: len(got)])


@pytest.mark.long
def test_signals_and_forked_processes_find_it_as_they_need_it():
    done = in_a_new_process(TOGETHER)
    assert done.stdout.strip() == "True", done.stderr


def test_without_permission_the_tier_below_does_the_work():
    done = in_a_new_process(REFUSING, QOPS_ISA="")
    assert done.stdout.split() == [name for name in isa.available() if name != "amx"], done.stderr
    done = in_a_new_process(REFUSING, QOPS_ISA="amx")
    assert "ValueError: QOPS_ISA: 'amx' is not one of the tiers" in done.stderr
