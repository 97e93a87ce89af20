"""A host that changes floating point: rounding modes are refused by every op, subnormal numbers may become 0."""

import json
import subprocess
import sys
import threading

import numpy as np
import pytest
from children import environment
from host_modes import MODES, flushing, rounding
from ops import OPS, PREPARED

import qops
from qops import rules
from qops._kernels.machine import host

OF_NO_FLOATS = {"isa_tier", "bound", "rules.emit", "safe_products"}
"""What computes nothing: the tier of an instruction set, a number from a table, the text of a C function."""


@pytest.fixture(scope="module")
def refusals():
    """What comes of each call of the registry in each mode, in a process that can be left in one."""
    command = [sys.executable, "-m", "host_modes"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_every_op_refuses_a_rounding_mode_but_to_nearest(mode, refusals):
    """Functions, prepared ops that were made before the mode was set, and constructors, which read scales."""
    found = {name: came for in_mode, name, came in refusals if in_mode == mode}
    assert len(found) == len(OPS) + 2 * len(PREPARED)
    start = f"floating point is rounded {mode} in this thread"
    assert {name: came for name, came in found.items() if not came.startswith(start)}.keys() == OF_NO_FLOATS


def test_the_error_says_how_to_put_the_mode_back():
    with rounding("upward"):
        assert host.rounding() == "upward"
        with pytest.raises(FloatingPointError) as refusal:
            qops.relu((np.uint8([1]), 0.0, 1.0))
        how = str(refusal.value).rpartition(" in Python ")[2]
        exec(how, {})
        assert host.rounding() == "to nearest"


def test_nothing_is_written_where_the_mode_is_refused():
    acc, out = np.int32([1, 3, 5, 7]), np.int8([9, 9, 9, 9])
    op = rules.Requantize("fp32-even", scale=0.5)
    for refused in (op, lambda x, out: rules.requantize(x, "fp32-even", scale=0.5, out=out)):
        with rounding("downward"), pytest.raises(FloatingPointError):
            refused(acc, out)
        assert out.tolist() == [9, 9, 9, 9]
    assert op(acc, out).tolist() == [0, 2, 2, 4]


def test_a_mode_belongs_to_a_thread():
    came = []
    with rounding("downward"):
        other = threading.Thread(target=lambda: came.append(host.rounding()))
        other.start()
        other.join()
        qops_here = host.rounding()
    assert qops_here == "downward"
    assert came[0] in ("to nearest", "downward")  # a thread may begin with what the one that starts it has


WORKERS = """
import sys, time
import numpy as np
from contextlib import nullcontext
from host_modes import flushing
from qops import onednn
from qops._kernels.machine import threads
src, weights = np.full((4, 16, 60, 60), 1, np.uint8), np.full((64, 16, 3, 3), 1, np.int8)
attr = onednn.Attr(src_scale=1e-20, wei_scale=5e-21, dst_scale=1.2e-38)
op = onednn.Convolution(weights, dst_dt="u8", attr=attr)
starts, runs = (flushing, nullcontext) if sys.argv[1] == "flushing" else (nullcontext, flushing)
with starts():
    want = op(src)
    while not threads.workers:
        op(src, num_threads=8)
        time.sleep(0.01)
found = set()
with runs():
    alone = op(src)
    for _ in range(60):
        found.add(op(src, num_threads=8).tobytes() == alone.tobytes())
with starts():
    found.add(op(src, num_threads=8).tobytes() == want.tobytes())
print(found, alone.any(), want.any())
"""


@pytest.mark.long
@pytest.mark.parametrize(("started", "alone"), [("flushing", True), ("keeping", False)])
def test_workers_compute_as_their_caller_does_and_not_as_the_one_that_started_them(started, alone):
    """A worker begins with the settings of its first caller. What the sums are multiplied by is subnormal."""
    command = [sys.executable, "-c", WORKERS, started]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{{True}} {alone} {not alone}\n", "")


def test_what_subnormal_numbers_that_become_0_change():
    """As docs/text/trust/host.md says."""
    codes = np.uint8([0, 1, 255])
    narrow, wide = (codes, 0.0, 2.9e-36), (codes, 0.0, 3.1e-36)  # of 255 steps, subnormal and not
    assert (qops.dequantize(narrow)[1:] > 0).all()
    want = qops.dequantize(wide).tolist()
    with flushing():
        assert not qops.dequantize(narrow).any()
        assert qops.dequantize(wide).tolist() == want
        assert qops.quantize([0.0, 1e-40]).max == 0.0
        assert rules.requantize([1], "q31", scale=1e-39).tolist() == [0]
    assert qops.quantize([0.0, 1e-40]).max > 0
    with pytest.raises(ValueError, match="scale"):
        rules.requantize([1], "q31", scale=1e-39)
