"""qops.sweep: the error of any op, against sums made by hand."""

import csv
import operator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import qops


def floored(t):
    """A bad op: the codes halved, rounded down."""
    data, lo, hi = t
    return data // 2, lo, hi


def half(x):
    return x / 2


def test_every_code_of_one_operand():
    (row,) = qops.sweep(floored, half, [(0.0, 255.0)])
    assert (row.ranges, row.refused, row.min, row.max) == (((0.0, 255.0),), "", 0.0, 255.0)
    assert (row.max_lsb, row.bias_lsb, row.mean_lsb) == (0.5, -0.25, 0.25)
    assert (row.codes, row.value, row.exact) == ((1,), 0.0, 0.5)


def test_every_pair_of_codes_of_two_operands_and_those_that_are_drawn():
    ranges = [((-1, 1), (0, 3)), ((5, 6), (-2, -1))]
    everything = qops.sweep(qops.quantized_add_8p8to8, np.add, ranges)
    some = qops.sweep(qops.quantized_add_8p8to8, np.add, ranges, codes=100)
    assert [row.ranges for row in everything] == [tuple(r) for r in ranges]
    for each, drawn in zip(everything, some, strict=True):
        down, across = np.indices((256, 256), np.uint8)
        a, b = (down, *map(float, each.ranges[0])), (across, *map(float, each.ranges[1]))
        report = qops.error(qops.quantized_add_8p8to8(a, b), qops.values(a) + qops.values(b))
        assert (each.max_lsb, each.codes) == (report.max, report.worst.index)
        assert 0 < drawn.max_lsb <= 0.6
    assert everything.worst is max(everything, key=operator.attrgetter("max_lsb"))
    assert some == qops.sweep(qops.quantized_add_8p8to8, np.add, ranges, codes=100)


def test_three_operands_and_wide_codes_take_a_number():
    (row,) = qops.sweep(lambda a, b, c: a, lambda a, b, c: a, [((0, 1),) * 3], codes=9)
    assert (row.max_lsb, len(row.codes)) == (0.0, 3)
    (row,) = qops.sweep(lambda t: t, lambda x: x, [(-1, 1)], codes=9, dtype="int16")
    assert row.max_lsb == 0


def test_what_an_op_refuses_is_a_row():
    found = qops.sweep(qops.quantized_mul_8x8to8, np.multiply, [((-1e30, 1e30),) * 2, ((0, 1),) * 2])
    assert "float32" in found[0].refused
    assert np.isnan(found[0].max_lsb)
    assert found.worst is found[1]
    with pytest.raises(ValueError, match="refused all ranges"):
        _ = qops.Sweep(found[:1]).worst


def test_an_executor_gives_the_same_rows():
    with ThreadPoolExecutor(2) as pool:
        assert qops.sweep(floored, half, [(0, 1), (0, 2)], executor=pool) == qops.sweep(floored, half, [(0, 1), (0, 2)])
    opened = qops.sweep(floored, half, [(0, 1), (0, 2)], executor=ThreadPoolExecutor)
    assert opened == qops.sweep(floored, half, [(0, 1), (0, 2)])


def test_several_ops_have_names_and_what_an_op_tells_is_kept():
    def told(t):
        return qops.QTensor(*floored(t)), int(t.data[-1])

    ranges = [(0.0, 255.0), (0.0, 1.0)]
    found = qops.sweep({"floored": floored, "told": told}, half, ranges)
    assert [(row.op, row.ranges[0], row.info) for row in found] == [
        *(("floored", each, None) for each in ranges),
        *(("told", each, 255) for each in ranges),
    ]
    assert [row._replace(op="") for row in found[:2]] == qops.sweep(floored, half, ranges)
    assert [row._replace(op="", info=None) for row in found[2:]] == qops.sweep(floored, half, ranges)
    assert found.to_columns()["op"] == ["floored", "floored", "told", "told"]


def test_true_results_are_made_once_for_all_ops_and_no_op_can_change_them():
    calls = []

    def exact(x):
        calls.append(x.size)
        return x / 2

    def zeroed(t):
        t.data.fill(0)
        return t

    def refuses(t):
        raise ValueError("t: not today")

    found = qops.sweep({"zeroed": zeroed, "refuses": refuses, "floored": floored}, exact, [(0, 255), (0, 510)])
    assert [row.max_lsb for row in found if not row.refused] == [127.5, 127.5, 0.5, 0.5]
    assert calls == [256, 256]
    assert qops.sweep(refuses, exact, [(0, 255)])[0].refused == "t: not today"
    assert calls == [256, 256]


def test_the_table_as_a_file(tmp_path):
    found = qops.sweep(floored, half, [(0, 255), (-1, 1)])
    found.to_csv(tmp_path / "sweep.csv")
    with (tmp_path / "sweep.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["max_lsb"]) for row in rows] == [row.max_lsb for row in found]
    assert rows[0] | {"min_0": "0.0", "max_0": "255.0", "code_0": "1"} == rows[0]
    assert list(found.to_columns()) == list(rows[0])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"ranges": [3]}, TypeError, "ranges: expected"),
        ({"ranges": [((0, 1), 2)]}, TypeError, "ranges: expected"),
        ({"ranges": [(0, 1), (2, 1)]}, ValueError, "ranges: min 2.0 > max 1.0"),
        ({"ranges": [(0, 1e39)]}, ValueError, r"ranges: the range \(0.0, 1e\+39\) is not finite"),
        ({"ranges": [(-1, 2)], "codes": 9, "dtype": "int32"}, ValueError, "ranges: .* is not symmetric"),
        ({"op": lambda t: 3}, TypeError, r"op: expected it to give \(data, min, max\), got 3"),
        ({"op": lambda t: (t.data / 2, 0.0, 1.0)}, TypeError, "op: expected uint8, .* got float64"),
        ({"op": lambda t: (t.data, 1.0, 0.0)}, ValueError, "op: min 1.0 > max 0.0"),
        ({"exact": lambda x: x[:3]}, ValueError, r"exact: shape \(3,\) does not fit"),
        ({"exact": lambda x: x + np.inf}, ValueError, "exact: has values that are NaN"),
        ({"ranges": [((0, 1),) * 3]}, ValueError, "codes: 'all' is for"),
        ({"op": {"mine": 3}}, TypeError, "op: expected a function"),
        ({"executor": 3}, TypeError, "executor: expected"),
        (
            {"executor": object},
            TypeError,
            "executor: expected what opens a concurrent.futures.Executor, it opened object",
        ),
        ({"codes": 0}, ValueError, "codes: "),
        ({"codes": "some"}, ValueError, "codes: expected 'all' or a number, got 'some'"),
        ({"dtype": "int16"}, ValueError, "codes: 'all' is for"),
        ({"dtype": "float32"}, TypeError, "dtype: "),
    ],
)
def test_bad_input_is_named(change, error, text):
    with pytest.raises(error, match=f"^{text}"):
        qops.sweep(**{"op": floored, "exact": half, "ranges": [(0, 1)], **change})


def test_errors_of_the_op_that_are_no_refusal_are_raised():
    with pytest.raises(ZeroDivisionError):
        qops.sweep(lambda t: 1 // 0, half, [(0, 1)])


def test_a_function_that_no_other_process_finds_is_refused_by_name():
    with ProcessPoolExecutor(1) as pool:
        with pytest.raises(TypeError, match=r"^exact: <lambda> cannot be sent to other processes: name it"):
            qops.sweep(floored, lambda x: x / 2, [(0, 1)], executor=pool)
        with pytest.raises(TypeError, match=r"^op: <lambda> .* or take a ThreadPoolExecutor$"):
            qops.sweep({"a": floored, "b": lambda t: t}, half, [(0, 1)], executor=pool)
