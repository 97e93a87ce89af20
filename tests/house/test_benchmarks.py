"""The benchmarks run, give the columns that they name, and refuse to time what is wrong."""

import json
import sys
from dataclasses import replace
from functools import cache
from timeit import timeit

import imports
import numpy as np
import pytest
from ops import PREPARED
from prepared_ops import kind_of

from benchmarks import __main__ as bench
from benchmarks import machine, peak, threads, timing
from benchmarks.case import Candidate, WrongResult, check, shared
from benchmarks.cases import CASES
from benchmarks.measure import SEED, measure, placed
from benchmarks.memcpy import BYTES
from benchmarks.peers import installed
from benchmarks.timing import Time, microseconds, sample, time_of
from qops import nnlib, onnx, tflite
from qops.prepared import Prepared

NAMED = {"op", "n", "qops_us", "best_peer", "best_peer_us"}
BY_NAME = {case.name: case for case in CASES}
asks_git_once = cache(machine._commit)


@pytest.fixture(autouse=True)
def leaves_the_process_alone(monkeypatch):
    monkeypatch.setattr(bench, "pin", lambda cpu: cpu)
    monkeypatch.setattr("os.environ", {})
    monkeypatch.setattr(machine, "_commit", asks_git_once)


def wrong(a, b):
    """A candidate whose only fault is one code, three steps off."""
    right = BY_NAME["quantized_add_8p8to32"].qops(a, b)

    def result():
        codes = np.array(right.result())
        codes[-1] += 3
        return codes

    return Candidate(right.run, result, right.within)


def no_timing(*arguments):
    pytest.fail("a wrong result was timed")


@pytest.mark.parametrize("name", BY_NAME)
def test_quick_run_writes_the_named_columns(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(timing, "calls_per_sample", lambda run: 1)  # times are of no interest here
    monkeypatch.setattr(timing, "sample", lambda run, calls: 1e9 * timeit(run, number=1))
    target, rate = tmp_path / "build" / "bench.json", BY_NAME[name].rate
    columns = {rate.column, rate.share}
    assert columns in ({"gb_per_s", "share_of_memcpy"}, {"gops", "share_of_peak"})
    sizes = (16, 1000) if rate is BYTES else (8, 34)
    sizes = (1, 2) if BY_NAME[name].sizes[0] == 1 else sizes  # images, each as large as it is in its network
    options = ["--rounds", "2", "--peers", "numpy", "--json", str(target)]
    status = bench.main(["--ops", name, "--sizes", *map(str, sizes), *options])
    on, rows = json.loads(target.read_text()).values()
    assert status == 0
    assert [(row["op"], row["n"]) for row in rows] == [(name, n) for n in sizes]
    assert all(on[key] for key in ("cpu", "tier", "python", "numpy", "qops"))
    assert "commit" in on
    for row in rows:
        low, high = row["qops_quartiles_us"]
        assert low <= row["qops_us"] <= high
        assert row.keys() >= NAMED | columns
        assert row["best_peer"].startswith("numpy ")
        assert not row["left_out"]
        assert min(row["qops_us"], row["best_peer_us"], *(row[column] for column in columns)) > 0
    assert capsys.readouterr().out.count(name) == 2


def test_every_row_is_right_at_the_smallest_size_that_it_times():
    wrong = []
    for case in CASES:
        inputs = {name: placed(x) for name, x in case.inputs(np.random.default_rng(SEED), min(case.sizes)).items()}
        try:
            check(case.name, case.qops(**inputs), case.reference(**inputs))
        except WrongResult as why:
            wrong.append(str(why))
    assert not wrong


def test_wrong_op_is_refused(monkeypatch):
    monkeypatch.setattr("benchmarks.measure.microseconds", no_timing)
    with pytest.raises(WrongResult, match=r"off by [23]\.\d+, documented 0.507"):
        measure(replace(BY_NAME["quantized_add_8p8to32"], qops=wrong), 100, {}, 1)


def test_wrong_op_ends_the_run_without_a_file(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "CASES", [replace(BY_NAME["quantized_add_8p8to32"], qops=wrong)])
    target = tmp_path / "bench.json"
    assert bench.main(["--sizes", "100", "--peers", "--json", str(target)]) == 1
    assert not target.exists()
    assert "not timed: qops quantized_add_8p8to32" in capsys.readouterr().err


def test_wrong_peer_is_left_out_and_named(capsys):
    numpy_forms = installed(("numpy",))[0]["numpy"]["quantized_add_8p8to32"]
    peers = {"numpy": {"quantized_add_8p8to32": {**numpy_forms, "wrong": wrong}}}
    row = measure(BY_NAME["quantized_add_8p8to32"], 100, peers, 1)
    assert list(row["peers_us"]) == ["numpy float32"]
    assert list(row["left_out"]) == ["numpy wrong"]
    assert "off by" in capsys.readouterr().err


def test_nan_is_never_within_a_bound():
    case = BY_NAME["dequantize"]

    def nan(a):
        return Candidate(lambda: None, lambda: np.full(a.size, np.nan, np.float32), np.inf)

    with pytest.raises(WrongResult, match="nan"):
        measure(replace(case, qops=nan), 10, {}, 1)


def test_peer_that_is_missing_is_told():
    found, missing = installed(("numpy", "nonexistent"))
    assert list(found) == ["numpy"]
    assert list(missing) == ["nonexistent"]


def test_results_share_a_buffer_that_is_blank_for_each_candidate():
    first = shared(100, np.int32)
    assert (first == np.uint32(0xA5A5A5A5).astype(np.int32)).all()
    first[:] = 0
    again = shared(100, np.int32)
    assert np.shares_memory(first, again)
    assert first.all()


@pytest.mark.parametrize(("timed", "untimed"), [(1, 2), (2, 2), (7, 7)])
def test_as_many_calls_as_are_timed_come_before(timed, untimed):
    calls = []
    sample(lambda: calls.append(1), timed)
    assert len(calls) == timed + untimed


def test_samples_are_interleaved():
    order = []
    microseconds({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=8)
    turns = [letter for i, letter in enumerate(order) if i == 0 or order[i - 1] != letter]
    assert len(turns) >= 8


def test_a_time_is_the_median_between_the_quartiles():
    assert time_of([5000.0, 1000.0, 2000.0, 3000.0, 4000.0]) == (3, 2, 4)
    assert time_of([7000.0]) == (7, 7, 7)


def test_an_earlier_table_stands_beside_the_new_one(tmp_path, capsys):
    target, options = tmp_path / "old.json", ["--ops", "dequantize", "--peers", "--rounds", "3"]
    bench.main([*options, "--sizes", "1000", "--json", str(target)])
    table = json.loads(target.read_text())
    table["machine"]["cpu"] = "an abacus"
    table["rows"][0].update(qops_us=1e6, qops_quartiles_us=[1e6, 1e6])
    target.write_text(json.dumps(table))
    capsys.readouterr()
    assert (
        bench.main([*options, "--sizes", "1000", "10", "--json", str(tmp_path / "new.json"), "--compare", str(target)])
        == 0
    )
    printed = capsys.readouterr().out
    assert "cpu: an abacus then, " in printed
    assert "  0.00 of 1000000.000 us *\n" in printed
    assert printed.endswith("(no time then)\n")


def test_a_file_that_is_no_table_is_named(tmp_path, capsys):
    wrong = tmp_path / "old.json"
    wrong.write_text("[]")
    for path in (wrong, tmp_path / "none.json"):
        with pytest.raises(SystemExit):
            bench.main(["--compare", str(path)])
        assert f"--compare {path}: no table" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--rounds 0", "--rounds -3", "--sizes 0", "--cpu 99999", "--cpu -1", "--json ."])
def test_a_bad_option_is_named_before_anything_is_timed(option, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        bench.main(["--ops", "quantize", *option.split()])
    assert f"error: {'' if 'json' in option else 'argument '}{option.split()[0]}" in capsys.readouterr().err


@pytest.mark.parametrize("rate", [peak.EXACT, peak.SATURATING], ids=["exact", "saturating"])
def test_peak_of_little_work_is_many_times_that(rate):
    for operations in (2, 1000, 2 * peak.AT_LEAST):
        ceiling = rate.ceiling(operations)
        assert ceiling.times == max(1, -(-peak.AT_LEAST // operations))
        ceiling.run()
    assert peak.name()


def test_ceiling_that_repeats_the_work_counts_once(monkeypatch):
    repeated = BY_NAME["gemm_u8s8s32"].rate.ceiling(2 * 8**3).times
    times = {name: Time(us, us, us) for name, us in {"qops": 8.0, "ceiling": 2.0 * repeated}.items()}
    monkeypatch.setattr("benchmarks.measure.microseconds", lambda runs, rounds: times)
    row = measure(BY_NAME["gemm_u8s8s32"], 8, {}, 1)
    assert (row["ceiling_us"], row["share_of_peak"]) == (2, 0.25)


def test_inputs_begin_with_a_line_and_keep_the_order_of_their_axes():
    x = np.arange(2 * 3 * 5 * 7, dtype=np.uint8).reshape(2, 5, 7, 3).transpose(0, 3, 1, 2)
    for given in (x, np.ascontiguousarray(x), x[0, 0, 0]):
        got = placed(given)
        assert got.ctypes.data % 64 == 0
        assert np.argsort(got.strides).tolist() == np.argsort(given.strides).tolist()
        np.testing.assert_array_equal(got, given)
    assert placed("SAME") == "SAME"


def test_two_threads_are_timed_beside_one_on_arrays_of_their_own(capsys):
    threads.main(["--ops", "quantize", "multiply_shift", "--size", "1000", "--rounds", "2"])
    first, heads, *lines = capsys.readouterr().out.splitlines()
    assert "GIL " in first
    assert heads.split() == ["one", "thread", "work", "of", "two", "copy", "in", "one", "in", "two"]
    assert [line.split()[0] for line in lines] == ["quantize", "multiply_shift"]
    assert all(float(number) > 0 for line in lines for number in line.replace(" us", "").split()[1:])
    outputs = [candidate.result() for candidate in threads.work_of(BY_NAME["quantize"], 100).both]
    assert not np.shares_memory(*outputs)


def test_threads_that_spoil_a_result_are_found(monkeypatch):
    case = BY_NAME["quantize"]

    def spoiled(x):
        right, calls = case.qops(x), []
        return Candidate(lambda: calls.append(right.run()), lambda: right.result() + 2 * (len(calls) > 1), right.within)

    with pytest.raises(WrongResult, match="quantize: two threads"):
        threads.gains([threads.work_of(replace(case, qops=spoiled), 100)], 1)


def test_help_lists_ops_by_names_that_can_be_copied(capsys):
    with pytest.raises(SystemExit):
        bench.main(["--help"])
    assert BY_NAME.keys() == set(capsys.readouterr().out.split("OP: ")[1].replace(",", " ").split())


def test_every_prepared_op_has_a_row_and_so_has_its_function(monkeypatch):
    """Rows of prepared ops make them before they are timed, and no other one while they are."""
    made, rows = [], {}
    keep = Prepared._keep
    monkeypatch.setattr(Prepared, "_keep", lambda op, *values: (made.append(type(op)), keep(op, *values))[1])
    for name in (name for name in BY_NAME if name.endswith("_prepared")):
        case = BY_NAME[name]
        made.clear()
        candidate = case.qops(**case.inputs(np.random.default_rng(1), 16 if case.rate is BYTES else 8))
        rows.update(dict.fromkeys(made, name))
        made.clear()
        candidate.run()
        assert not made, name
        assert name.removesuffix("_prepared") in BY_NAME
    # of rooms of many ops that share kernels, one of each kernel
    timed = {kind_of(name) for name in PREPARED if not name.startswith(("onnx.", "tflite.", "nnlib."))}
    timed |= {nnlib.Supernode, nnlib.DepthwiseSupernode}
    timed |= {tflite.Conv2D, tflite.DepthwiseConv2D, tflite.FullyConnected, tflite.Tanh}
    timed |= {onnx.ConvInteger, onnx.QLinearConv, onnx.MatMulInteger, onnx.QLinearMatMul, onnx.QuantizeLinear}
    assert rows.keys() == timed


def modules_that_run(call):
    """The modules whose functions are called, and those of the classes that these name and of their bases."""
    found = set()

    def seen(frame, event, _):
        found.add(frame.f_globals["__name__"])
        named = (frame.f_globals.get(name) for name in frame.f_code.co_names)
        found.update(base.__module__ for kind in named if isinstance(kind, type) for base in kind.__mro__)

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {name for name in found if name.startswith("qops.")}


@pytest.mark.long
def test_every_kernel_has_a_row():
    """A module that runs in a row imports it, or a kernel that is imported uses it."""
    uses, ran = {}, set()
    for module, names in imports.arrows().items():
        for name in (part for text in names for part in (text, text.rpartition(".")[0])):
            uses.setdefault(module, set()).update({name} if name.startswith("qops._kernels.") else ())
    for case in CASES:
        arguments = case.inputs(np.random.default_rng(1), 16 if case.rate is BYTES else 8)
        ran |= modules_that_run(lambda case=case, arguments=arguments: case.qops(**arguments).run())
    reached, left = set(), ran
    while left:
        reached |= left
        left = {name for module in left for name in uses.get(module, ())} - reached
    kernels = {f"qops._kernels.{name}" for name in imports.modules("pyx")}
    assert len(kernels) > 70
    assert not sorted(kernels - reached)
