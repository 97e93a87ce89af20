"""Every front-door op from eight threads at once gives what one thread gives."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
from frontdoor import ARGUMENTS, function, same

import qops

THREADS = 8
ROUNDS = 5


def enlarged(name):
    """Arguments with arrays of 30,000 elements, enough for the kernels of two threads to meet."""
    return {
        key: (np.tile(v[0], (100, 50)), *v[1:])
        if isinstance(v, tuple) and isinstance(v[0], np.ndarray)
        else np.tile(v, (100, 50))
        if isinstance(v, np.ndarray)
        else v
        for key, v in ARGUMENTS[name].items()
    }


def test_every_op_gives_the_same_from_eight_threads():
    calls = {name: enlarged(name) for name in ARGUMENTS}
    want = {name: function(name)(**arguments) for name, arguments in calls.items()}
    start = Barrier(THREADS)

    def work(first):
        order = [*calls][first:] + [*calls][:first]  # each thread begins with another op
        start.wait()
        return [(name, function(name)(**calls[name])) for _ in range(ROUNDS) for name in order]

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(work, range(THREADS)))
    assert sum(map(len, results)) == THREADS * ROUNDS * len(ARGUMENTS)
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
