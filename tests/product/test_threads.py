"""The threads that products share: one pool, nothing that goes on after an error, and serial parts at exit."""

import os
import subprocess
import sys
import sysconfig
import threading
import time
import weakref
from pathlib import Path

import pytest

import qops
from qops._kernels.machine import threads
from qops._kernels.machine.threads import run_parts


def test_every_part_is_called_once():
    for count in (1, 2, 3, 70):
        done = []
        run_parts([lambda i=i, done=done: done.append(i) for i in range(count)])
        assert sorted(done) == list(range(count))


def test_one_pool_serves_every_number_of_parts():
    for count in (2, 5, 60):
        run_parts([lambda: time.sleep(0.001)] * count)
    named = [thread for thread in threading.enumerate() if thread.name.startswith("qops")]
    assert 1 <= len(named) <= os.cpu_count()


@pytest.mark.parametrize("failing", [0, 1, 3])
def test_nothing_goes_on_after_an_error(failing):
    """As after a KeyboardInterrupt, which is raised in the thread of the caller: between its parts."""
    running, done = [], []

    def work(i):
        running.append(i)
        if i == failing:
            raise KeyboardInterrupt(f"part {i}")
        time.sleep(0.05)
        done.append(i)

    count = 12 + 4 * os.cpu_count()
    with pytest.raises(KeyboardInterrupt, match=f"part {failing}"):
        run_parts([lambda i=i: work(i) for i in range(count)])
    before = len(done)
    assert len(running) < count, "what waited for a thread was dropped"
    assert sorted([*done, failing]) == sorted(running), "what was running has ended"
    time.sleep(0.1)
    assert len(done) == before, "and nothing was begun"


def test_a_part_is_called_once_where_no_thread_can_be_started(monkeypatch):
    """As where a container limits threads. The pool has taken the part before it finds that out."""
    begun = [[] for _ in range(5)]

    def refused(thread):
        raise RuntimeError("can't start new thread")

    threads._pool.cache_clear()
    parts = [lambda i=i: begun[i].append("alone") for i in range(3)]
    held = [weakref.ref(part) for part in parts]
    with monkeypatch.context() as limits:
        limits.setattr(threading.Thread, "start", refused)
        run_parts(parts)
    del parts
    assert [part() for part in held] == [None] * 3
    run_parts([lambda i=i: begun[i].append("later") for i in (3, 4)] * 2)
    time.sleep(0.05)
    assert begun == [["alone"]] * 3 + [["later"] * 2] * 2


EXIT = """
import atexit, threading, numpy as np
from qops import onednn
a, b = np.ones((300, 40), np.uint8), np.ones((40, 30), np.int8)
def product(where):
    assert (onednn.gemm_u8s8s32(a, b, num_threads=3) == 40).all(), where
    print(where)
class Last:
    def __del__(self, product=product):
        product("del")
def later():
    threading.main_thread().join()
    product("thread")
last = {last}
atexit.register(product, "atexit")
threading.Thread(target=later).start()
{first}
"""


@pytest.mark.parametrize("first", ["", "product('main')"])
def test_products_run_serially_while_python_exits(first):
    environment = os.environ | {"PYTHONPATH": str(Path(qops.__file__).parents[1])}
    # free-threaded Python empties all modules, qops' too, before it deletes what a script's names held
    keeps = not sysconfig.get_config_var("Py_GIL_DISABLED")
    call = [sys.executable, "-c", EXIT.format(first=first, last="Last()" if keeps else None)]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert sorted(done.stdout.split()) == sorted(["atexit", "thread", *["del"] * keeps, *["main"] * bool(first)])
