"""Graphs: what runs them drops, refuses and names."""

import gc
import weakref

import numpy as np
import pytest

from qops.models import Graph, Op, Tensor


def chain(calls):
    """A graph of ops one after another, of one input."""
    names = [f"t{i}" for i in range(len(calls) + 1)]
    tensors = {name: Tensor(name, (None, 2), "int8", np.float32(1), np.int64(0)) for name in names}
    ops = [
        Op(f"op{i}", "OP", (a,), (b,), (a,), call)
        for i, (a, b, call) in enumerate(zip(names, names[1:], calls, strict=False))
    ]
    return Graph("chain", names[:1], names[-1:], tensors, ops)


def test_tensors_are_dropped_after_their_last_reader():
    made = []

    def call(x):
        gc.collect()
        alive = sum(ref() is not None for ref in made)
        assert alive <= 1, "what the op before the last one made is gone"
        y = x + np.int8(1)
        made.append(weakref.ref(y))
        return (y,)

    graph = chain([call] * 9)
    assert [*graph.run(np.int8([[1, 2]]))] == ["t9"]
    made.clear()
    assert [*chain([lambda x: (x,)] * 3).run(np.int8([[1, 2]]), keep="all")] == ["t0", "t1", "t2", "t3"]


@pytest.mark.parametrize(
    "error",
    [ValueError("w: no"), TypeError("w: no"), IndexError("no"), KeyError("no"), ZeroDivisionError("no"), MemoryError()],
)
def test_what_an_op_raises_is_one_error_with_its_place(error):
    def call(x):
        raise error

    with pytest.raises(ValueError, match=r"^chain: op1 \(OP\): .*(no|MemoryError)"):
        chain([lambda x: (x,), call]).run(np.int8([[1, 2]]))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.int8([1]), r"^x: expected shape \(\?, 2\), got \(1,\)$"),
        (np.uint8([[1, 2]]), r"^x: expected int8, got uint8$"),
        ({"t0": np.int8([[1]])}, r"^x\['t0'\]: expected shape"),
        ({"t1": np.int8([[1, 2]])}, r"^x: chain has no input 't1', only 't0'$"),
        ({}, r"^x: the input 't0' is missing$"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(x, words):
    with pytest.raises((ValueError, TypeError), match=words):
        chain([lambda x: (x,)]).run(x)


def test_graphs_that_cannot_run_are_refused():
    t = {name: Tensor(name, (1,), "int8") for name in "abc"}

    def op(name, reads, writes):
        return Op(name, "OP", reads, writes, reads, lambda x: (x,))

    with pytest.raises(ValueError, match=r"^g: one \(OP\) reads 'b', which nothing before it writes$"):
        Graph("g", ("a",), ("b",), t, (op("one", ("b",), ("c",)), op("two", ("a",), ("b",))))
    with pytest.raises(ValueError, match=r"^g: one \(OP\) writes 'a', which stands already$"):
        Graph("g", ("a",), ("a",), t, (op("one", ("a",), ("a",)),))
    with pytest.raises(ValueError, match=r"^g: nothing writes the output 'c'$"):
        Graph("g", ("a",), ("c",), t, (op("one", ("a",), ("b",)),))
    with pytest.raises(ValueError, match=r"^g: two ops are called 'one'$"):
        Graph("g", ("a",), ("c",), t, (op("one", ("a",), ("b",)), op("one", ("b",), ("c",))))
