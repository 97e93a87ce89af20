"""`make live` on systems made up for that: it counts what is equal, refused and different, and shows a difference."""

from types import SimpleNamespace

import draws
import live
import numpy as np
import pytest
from draws import Pair

X = np.uint8([1, 2, 3])


def refuse():
    raise ValueError("x: wrong")


CASES = {
    "equal": (X, X.copy(), "equal"),
    "two arrays": ((X, np.float32(0)), [X, np.float32(0)], "equal"),
    "not a number": (np.float32([np.nan]), np.float32([np.nan]), "equal"),
    "a code": (X, np.uint8([1, 2, 4]), "different"),
    "a type": (X, X.view(np.int8), "different"),
    "a shape": (X, X[None], "different"),
    "a sign of 0": (np.float32([0.0]), np.float32([-0.0]), "different"),
    "fewer": ((X, X), (X,), "different"),
    "both refuse": (refuse, refuse, "refused"),
    "it refuses": (refuse, X, "different"),
    "qops refuses": (X, refuse, "different"),
}


def pair(theirs, ours):
    return Pair(*(x if callable(x) else lambda x=x: x for x in (theirs, ours)), {"x": X})


@pytest.mark.parametrize(("theirs", "ours", "found"), CASES.values(), ids=CASES)
def test_results_are_compared_bit_for_bit(theirs, ours, found):
    assert live.compare(pair(theirs, ours))[0] == found


def made_up(op):
    return SimpleNamespace(VERSION="1.0", OPS={"Op": op})


def test_the_table_counts_and_the_first_difference_is_shown(monkeypatch, capsys):
    systems = {
        "good": made_up(lambda rng: pair(X, X)),
        "bad": made_up(lambda rng: pair(X, X + rng.integers(2, dtype="u1"))),
    }
    monkeypatch.setattr(
        live, "installed", lambda names: ({"good": systems["good"]}, {"none": "No module named 'none'"})
    )
    assert live.main(["--calls", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "without none: No module named 'none'"
    assert lines[2].split() == ["good", "1.0", "Op", "20", "0", "0"]
    monkeypatch.setattr(live, "installed", lambda names: (systems, {}))
    assert live.main(["--calls", "20", "--seed", "3"]) == 1
    shown = capsys.readouterr().out
    equal, refused, different = map(int, shown.splitlines()[2].split()[3:])
    assert (equal + different, refused) == (20, 0)
    assert min(equal, different) > 0
    assert "bad Op, call " in shown
    assert "of seed 3: 3 of 3 elements, at [0]: 1, 2" in shown
    assert shown.endswith("1 ops differ\n")


def test_a_system_that_is_not_installed_is_named():
    found, missing = live.installed(["no_such_system"])
    assert found == {}
    assert "no_such_system_" in missing["no_such_system"]


def test_a_call_is_drawn_by_its_seed_op_and_number():
    def make(rng):
        return [draws.quantized(rng, 9, np.int8), draws.values(rng, 9, 0.5)]

    assert repr(live.drawn(make, "a", 1, 2)) == repr(live.drawn(make, "a", 1, 2))
    others = [live.drawn(make, *which) for which in (("b", 1, 2), ("a", 2, 2), ("a", 1, 3))]
    assert all(repr(other) != repr(live.drawn(make, "a", 1, 2)) for other in others)


def test_values_hold_ties_and_their_neighbours():
    x = draws.values(np.random.default_rng(1), 1000, 0.25) / np.float32(0.125)
    assert 500 < (x % 2 == 1).sum() + (x % 2 == 0).sum() < 900
    assert ((x % 1 != 0) & (abs(x - np.rint(x)) < 1e-4)).sum() > 50
