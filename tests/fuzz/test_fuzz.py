"""A short run of `make fuzz`, and that it finds what it looks for, in ops made up for that."""

import os
import signal
import sys

import draw
import fuzz
import judge
import numpy as np
import pytest
from calls.parts import Op
from ops import OPS

from qops._kernels.machine import tiers

CALLS = int(os.environ.get("QOPS_FUZZ", "1500"))
"""How many calls; `make debug` with more of them searches with sanitizers."""
NEEDS_TIERS = pytest.mark.skipif(len(tiers.available()) < 2, reason="one tier cannot differ from others")


@pytest.mark.long
def test_a_short_run_finds_nothing(capsys):
    found = [*fuzz.verdicts(fuzz.child, 7, 0, CALLS)]
    assert fuzz.report(found, 7) == 0, capsys.readouterr().out
    assert [one["number"] for one in found] == [*range(CALLS)]
    good = [one["outcome"] for one in found if one["kind"] == "good"]
    assert good.count("result") > 0.7 * len(good), "most good calls are taken"
    assert {one["kind"] for one in found} == {*draw.KINDS}


@pytest.mark.long
def test_a_call_is_drawn_by_its_seed_and_number():
    one, again, other = draw.drawn(3, 5), draw.drawn(3, 5), draw.drawn(4, 5)
    assert repr(one) == repr(again)
    assert repr(one) != repr(other)
    left = {*draw.NAMES}
    for number in range(4000):
        left.discard(draw.drawn(3, number).name)
        if not left:
            break
    assert not left


# --- faults ----------------------------------------------------------------------------------------------------------


def fine(x, *, out=None):
    if x.size > 9:
        raise ValueError(f"x: {x.size} elements")
    return np.add(x, 1, out=out)


def raising(x, *, out=None):
    raise OverflowError("x: too large")


def nameless(x, *, out=None):
    raise ValueError("shapes differ")


def wordy(x, *, out=None):
    raise ValueError(f"x: {'very ' * 200} wrong")


def warning(x, *, out=None):
    return np.uint8(200) + np.uint8(100) + x


def spoiling(x, *, out=None):
    x[...] = 1
    raise ValueError("x: wrong")


def early(x, *, out=None):
    if out is not None:
        out[...] = 0
    raise ValueError("x: wrong")


def another(x, *, out=None):
    return x + np.uint8(1)


def history(x, *, out=None):
    history.calls += 1
    return np.add(x, history.calls, out=out, casting="unsafe")


history.calls = 0


FAULTS = {
    raising: "raises OverflowError",
    nameless: "names no argument",
    wordy: "characters",
    warning: "raises RuntimeWarning",
    spoiling: "argument has changed",
    early: "after out",
    another: "another array is returned",
}


def judged(function, monkeypatch, size=6):
    for module in (draw, judge):
        monkeypatch.setattr(module, "function", lambda name: function)
    monkeypatch.setitem(OPS, "made_up", Op({"x": np.arange(size, dtype=np.uint8)}, np.uint8))
    return judge.judged(draw.Call("made_up", "good", OPS["made_up"].good))["wrong"]


@pytest.mark.parametrize(("function", "text"), FAULTS.items())
def test_faults_are_found(function, text, monkeypatch):
    assert text in judged(function, monkeypatch)


@NEEDS_TIERS
def test_tiers_that_differ_are_found(monkeypatch):
    assert judged(history, monkeypatch).startswith(f"{tiers.available()[1]}: ")


def test_what_is_right_is_no_fault(monkeypatch):
    assert judged(fine, monkeypatch) == ""
    assert judged(fine, monkeypatch, size=10) == ""


# --- processes that die ----------------------------------------------------------------------------------------------

LINES = "import json, os, time\nfor n in range({first}, {end}):\n    print(json.dumps(dict(number=n)), flush=True)\n"
VERDICT = "    print(json.dumps(dict(name='f', kind='good', outcome='result', seconds=0, wrong='')), flush=True)\n"


def verdicts(fault):
    def command(seed, first, end):
        return [sys.executable, "-c", LINES.format(first=first, end=end) + f"    if n == 2: {fault}\n" + VERDICT]

    return [one["wrong"] for one in fuzz.verdicts(command, 1, 0, 4, seconds=2)]


def test_calls_that_end_the_process_or_never_return_are_told_and_the_rest_is_made():
    assert verdicts("pass") == [""] * 4
    killed, late = verdicts("os.abort()"), verdicts("time.sleep(100)")
    assert [*map(bool, killed)] == [*map(bool, late)] == [False, False, True, False]
    assert killed[2].startswith(f"the process ended, {-signal.SIGABRT}: ")
    assert late[2] == "no answer in 2 s"


@pytest.mark.long
def test_one_call_is_shown_and_made_alone(capsys):
    fuzz.main(["--seed", "3", "--call", "5"])
    shown = capsys.readouterr().out
    assert draw.drawn(3, 5).name in shown
    assert all(f"{key} = " in shown for key in draw.drawn(3, 5).arguments)
    assert "1 calls" in shown
