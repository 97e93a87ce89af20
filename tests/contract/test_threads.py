"""Every op of every room from eight threads at once gives what one thread gives."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from ops import OPS, arrays, call, changed, same

import qops

THREADS = 8
ROUNDS = 3


def enlarged(name):
    """Changes that give element-wise ops arrays of 30,000 elements, enough for the kernels of two threads to meet."""
    return {key: changed(name, key, lambda x: np.tile(x, (100, 50))) for key in arrays(name) if OPS[name].each}


@pytest.mark.long
def test_every_op_gives_the_same_from_eight_threads():
    calls = {name: enlarged(name) for name in OPS}
    want = {name: call(name, **changes) for name, changes in calls.items()}
    start = Barrier(THREADS)

    def work(first):
        order = [*calls][first * 10 :] + [*calls][: first * 10]  # each thread begins with another op
        start.wait()
        return [(name, call(name, **calls[name])) for _ in range(ROUNDS) for name in order]

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(work, range(THREADS)))
    assert sum(map(len, results)) == THREADS * ROUNDS * len(OPS)
    for name, got in (pair for result in results for pair in result):
        same(got, want[name])


def test_threads_may_share_inputs_and_write_apart():
    """One output array, a row a thread."""
    a = np.random.default_rng(1).integers(0, 256, 50_000, np.uint8)
    out = np.zeros((THREADS, a.size), np.uint8)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda row: qops.quantized_add_8p8to8((a, 0.0, 1.0), (a[::-1], -1.0, 1.0), out=row), out))
    want = qops.quantized_add_8p8to8((a, 0.0, 1.0), (a[::-1], -1.0, 1.0))
    assert (out == want.data).all()
