"""`qops.explain`: dumps made by known rules are named, mistakes before the rounding found, bad input named."""

import json
import subprocess
import sys

import numpy as np
import pytest

import qops
from qops import nnlib, rules
from qops.__main__ import main
from qops.tools import progress
from qops.tools.explain.arguments import dump_of
from qops.tools.explain.verdicts import rules_of
from qops.tools.vectors.add_forms import FORMS

PAIR = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 100, "y_scale": 0.7, "y_zero_point": 30}
OF_OTHER_DATA = {"gemmlowp-legacy"}


def accumulators(rng, n=5000):
    return rng.integers(-30_000, 30_000, n).astype(np.int32)


@pytest.mark.parametrize("scale", [0.0033, 2.0**-8, 0.007])
@pytest.mark.parametrize("rule", [r for r in rules.TABLE if r not in OF_OTHER_DATA])
def test_the_rule_that_made_the_integers_is_named(rng, rule, scale):
    x = accumulators(rng)
    y = rules.requantize(x, rule, scale=scale, zero_point=5)
    found = qops.explain(x, y, scale=scale, zero_point=5)
    assert rule in found.exact
    for v in found.excluded:
        i = v.first.index
        assert (x[i], y[i]) == (v.first.acc, v.first.got)
        wanted = rules.requantize(x, v.rule, scale=scale, zero_point=5)
        assert (wanted[i], (wanted != y).sum()) == (v.first.wanted, v.differs)
    for group in found.indistinguishable:
        made = [rules.requantize(x, r, scale=scale, zero_point=5) for r in group]
        assert all((m == made[0]).all() for m in made)


@pytest.mark.parametrize("rule", sorted(rules.ADD.keys() - {"torch-tail", "torch-2.14-tail", "torch-acl-tail"}))
def test_adds_are_named(rng, rule):
    a, b = rng.integers(0, 256, (2, 3000)).astype(np.uint8)
    found = qops.explain(a, rules.add(a, b, rule, **PAIR), kind="add", b=b, **PAIR)
    assert rule in found.exact


def test_other_kinds_are_named(rng):
    a, b = rng.integers(0, 256, (2, 3000)).astype(np.uint8)
    y = rules.mul(a, b, "ort-x86", **PAIR)
    assert "ort-x86" in qops.explain(a, y, kind="mul", b=b, **PAIR).exact
    x = rng.normal(0, 3, 2000).astype(np.float32)
    x[:400] = np.arange(-200, 200) / 16  # ties
    y = rules.quantize(x, "fma-zp-inside", scale=0.125, zero_point=101)
    assert qops.explain(x, y, kind="quantize", scale=0.125, zero_point=101).exact == [
        *(
            "fma-zp-inside",
            "inv-even-zp-inside",
            "div-even-zp-inside",
            "div-even-or-up-zp-inside",
        )  # with a scale of 1 / 8 they are one function
    ]
    image = rng.integers(0, 256, (1, 9, 9, 28)).astype(np.uint8)
    y = rules.average_pool(image, "torch-nhwc", kernel=(2, 2), zero_point=9)
    found = qops.explain(image, y, kind="average_pool", kernel=(2, 2), zero_point=9)
    assert found.exact == ["torch-nhwc"]
    assert "at most; first at [0, " in str(found)
    assert "None" not in str(found)
    same = {"kernel": (2, 2), "zero_point": 9, "x_scale": 0.02, "y_scale": 0.02, "y_zero_point": 9}
    found = qops.explain(image, y, kind="average_pool", probe=True, **same)
    assert found.exact == ["torch-nhwc"]
    assert "ort" in {v.rule for v in found.excluded}
    assert str(found).endswith("probe: no inputs, as there are no two rules to tell apart")
    other = qops.explain(image, y, kind="average_pool", **same | {"y_zero_point": 8})
    assert {v.rule for v in other.excluded} == {"ort", "ort-arm", "ort-global"}


def test_code_by_hand_is_named_where_no_system_fits():
    x = np.arange(-160, 161) / 32
    found = qops.explain(x, np.trunc(x * 4).astype(np.int8), kind="quantize", scale=0.25, zero_point=0)
    assert not found.mistakes
    assert found.exact == ["div-truncate-zp-inside"]  # QONNX's DOWN; with a zero point of 0 there is no other side
    y = (np.trunc(x * 4) + 5).astype(np.int8)
    found = qops.explain(x, y, kind="quantize", scale=0.25, zero_point=5)
    assert found.exact == ["div-truncate", "inv-truncate", "div-truncate-cast", "inv-truncate-cast"]
    y = np.floor(x * 40 + 0.5).astype(int).astype(np.int8)  # 200 wraps
    found = qops.explain(x, y, kind="quantize", scale=0.025, zero_point=0)
    assert found.exact == ["div-half-up-cast"]
    image = np.arange(64, dtype=np.int8).reshape(1, 8, 8, 1) - 30
    y = np.trunc(image.reshape(1, 8, 4, 2, 1).sum(3) / 2).astype(np.int8)
    how = {"kernel": (1, 2), "zero_point": 0, "kind": "average_pool"}
    found = qops.explain(np.ascontiguousarray(image[:, :, :2]), y[:, :, :1], **how)
    assert found.exact == ["truncate", "truncate-stored"]


def test_values_beyond_float32_are_clamped():
    x, y = np.array([-1e300, 0.5, 1e300]), np.uint8([0, 5, 255])
    assert "div-even" in qops.explain(x, y, kind="quantize", scale=0.1, zero_point=0).exact


def test_one_integer_is_told_as_one():
    said = str(qops.explain(np.int32([100]), np.int8([50]), scale=0.5)).splitlines()[0]
    assert "the only integer" in said
    assert "integers" not in said


def test_range_rules_have_a_line_each(rng):
    x = rng.normal(0, 1, 300).astype(np.float32)
    scale, zero, _ = rules.choose_range(-1.0, 3.0, "tflite")
    y = rules.quantize(x, "div-even", scale=scale, zero_point=zero)
    found = qops.explain(x, y, kind="quantize", rmin=-1.0, rmax=3.0)
    first, *lines = str(found).splitlines()
    assert first == f"{len(found.exact)} rules give all 300 integers (the same function on these data):"
    listed = [line.strip().split(": ") for line in lines if line.startswith("    ") and ": " in line]
    printed = [f"{chosen}, {then}" for chosen, names in listed for then in names.split(", ")]
    assert sorted(printed) == sorted(found.exact)
    assert len({chosen for chosen, _ in listed}) == len(listed) > 1


@pytest.mark.parametrize(("rule", "shape"), [("tflite-opt-depthwise", (40, 12)), ("tflite-opt-quantize", (9, 17))])
def test_a_tail_of_blocks_is_named(rng, rule, shape):
    x = (rng.integers(-60, 0, shape) * 64 + 32).astype(np.int32)
    y = rules.requantize(x, rule, scale=2.0**-6, zero_point=3)
    found = qops.explain(x, y, scale=2.0**-6, zero_point=3, probe=True)
    assert found.exact == [rule]
    assert {"half-up-double", "tflite-double"} <= {v.rule for v in found.excluded}
    assert found.separated.separates == []


def test_a_rule_of_blocks_of_channels_is_found_in_many_rows(rng):
    """Of which samples are taken, that have other blocks."""
    x, scale = rng.integers(-20000, 20000, (1000, 19), np.int32), rng.uniform(0.001, 0.01, 19)
    y = rules.requantize(x, "tflite-opt-depthwise", scale=scale)
    assert rules_of(dump_of("requantize", x, y, None, {"scale": scale})) == ["tflite-opt-depthwise"]


@pytest.mark.parametrize(
    ("rule", "scales", "tie", "others"),
    [
        ("torch-onednn", (0.03125, 0.3120425343513489, 0.6240850687026978), -6048, set()),
        ("torch-onednn-amx", (80.0, 1.75, 840.0), -441, {"torch-onednn"}),
    ],
)
def test_three_scales_one_after_another_are_named(rule, scales, tie, others):
    x, parts = np.int32([[tie, 5], [77, 3000]]), dict(zip(("in_scale", "w_scale", "out_scale"), scales, strict=True))
    y = rules.requantize(x, rule, scales=scales, zero_point=198, dtype=np.uint8)
    found = qops.explain(x, y, **parts, zero_point=198)
    assert rule in found.exact
    assert {"fp32-even", "fp32-even-zp-inside", "torch-fbgemm"} | others <= {v.rule for v in found.excluded}


@pytest.mark.parametrize("ends", [(0.0, 0.5), (-0.5, 0.7), (-8.0, 9.0)])
def test_a_dump_of_a_supernode_of_nnlib_is_named(rng, ends):
    """Sums of exact weights, with zero points of 0, and of the middle."""
    x, w = rng.integers(0, 256, (1, 17, 17, 32), np.uint8), rng.integers(0, 256, (3, 3, 32, 8), np.uint8)
    bias, step = (np.zeros(8, np.int32), -1.0, 1.0), (-16 / 2040, 239 / 2040)
    node = (x, *step), (w, -128 / 255, 127 / 255), bias, (1, 1), "VALID", *ends
    y = nnlib.supernode(*node)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64) - 16, (3, 3), (1, 2))
    sums = np.tensordot(windows, w.astype(np.int64) - 128, ((4, 5, 3), (0, 1, 2)))
    out = (y.max - y.min) / 255
    parts = {"in_scale": 1 / 2040, "w_scale": 1 / 255, "out_scale": out, "zero_point": round(-y.min / out)}
    found = qops.explain(sums, y.data, **parts)
    assert "nnlib-supernode" in found.exact, str(found)
    assert y.data.std() > 1
    assert ends[1] < 1 or found.exact == ["nnlib-supernode"], "its zero point is rounded to a step of the sums"


def test_kinds_of_differences_are_told(rng):
    x = np.arange(-400, 400, dtype=np.int32)
    y = rules.requantize(x, "rndnu", scale=0.375)
    kinds = {v.rule: v.kind for v in qops.explain(x, y, scale=0.375).excluded}
    assert kinds["fp32-even"] == "ties only"
    ties = np.arange(-99, 101, 2, dtype=np.int32)
    found = qops.explain(ties, rules.requantize(ties, "fp32-even", scale=0.5) + np.int8(2), scale=0.5)
    kinds = {v.rule: v.kind for v in found.excluded}
    assert kinds["fp32-even"] == ""  # all are ties, but no tie goes two codes away
    x = accumulators(rng, 4003)
    y = rules.requantize(x, "fp32-even", scale=0.0033)
    y[4000:] += 1
    found = qops.explain(x, y, scale=0.0033)
    assert found.excluded[0].kind == "tail only"
    words = "the last 3 made in another way, after vectors of 8"
    assert words in {v.before for v in found.mistakes if v.rule == "fp32-even"}


def test_all_that_differences_have_in_common_is_told():
    x = np.append(np.arange(1, 65, dtype=np.int32) * 2, 29)  # one tie, at the end
    y = rules.requantize(x, "fp32-even", scale=0.5)
    y[-1] += 1
    verdict = next(v for v in qops.explain(x, y, scale=0.5).excluded if v.rule == "fp32-even")
    assert verdict.kind == "tail only, ties only"


def test_the_scale_is_formed_as_systems_do(rng):
    x = rng.integers(-(2**31), 2**31, 200_000).astype(np.int32)
    parts = {"in_scale": 0.1, "w_scale": 0.3, "out_scale": 123456.7}
    y = rules.requantize(x, "tflite-double", scale=rules.real_scale(*parts.values(), "f32-product"), dtype=np.int16)
    assert "tflite-double" in qops.explain(x, y, **parts).exact


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kind": "conv"}, "^kind: expected one of.* got 'conv'"),
        ({"scale": None}, "^scale: missing"),
        ({"scale": None, "in_scale": 1.0, "w_scale": 1.0}, "^out_scale: missing"),
        ({"in_scale": 1.0}, "^scale: given beside in_scale"),
        ({"kernel": (2, 2)}, "^kernel: requantize has no such number"),
        ({"y": np.zeros(3, np.int8)}, "^y: 3 elements"),
        ({"y": np.zeros(4)}, "^y: expected codes"),
        ({"y": np.zeros(0, np.int8), "x": np.zeros(0, int)}, "^y: has no elements"),
        ({"x": [0.5] * 4}, "^x: expected integers"),
        ({"x": [2**50] * 4}, "^x: 48 bits do not hold"),
        ({"b": np.zeros(4, np.int8)}, "^b: given, requantize has one"),
        ({"kind": "add"}, "^scale: add has no such number"),
        ({"kind": "quantize", "x": [0.5] * 4}, "^zero_point: missing"),
        ({"kind": "quantize", "x": [0.5, 1.0, 1.5, np.nan], "zero_point": 0}, "^x: has NaN"),
        ({"scale": "x"}, "^scale: expected a number"),
        ({"zero_point": 0.5}, "^zero_point: expected an integer"),
        ({"qmin": -999}, "^qmin: -999 is no code of y, int8"),
        ({"qmin": 9, "qmax": 1}, "^qmin: 9 is above qmax, 1"),
        ({"scale": [0.5, 0.5]}, "^scale: 2 of them do not fit axis"),
        ({"scale": -0.5}, "^scale: expected a number above 0, got -0.5"),
        ({"scale": 0}, "^scale: expected a number above 0, got 0"),
        ({"scale": [0.0] * 4}, "^scale: expected a number above 0, got"),
        ({"scale": None, "in_scale": 1.0, "w_scale": 0.0, "out_scale": 1.0}, "^w_scale: expected a number above 0"),
    ],
)
def test_bad_input_is_named(changes, text):
    how = {"x": [1, 2, 3, 4], "y": np.zeros(4, np.int8), "scale": 0.5} | changes
    with pytest.raises((ValueError, TypeError), match=text):
        qops.explain(how.pop("x"), how.pop("y"), **how)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32])
@pytest.mark.parametrize("scale", [1e-30, 0.3, 200.0, 1e30])
def test_odd_numbers_are_explained_too(rng, dtype, scale):
    x = np.concatenate([rng.integers(-(2**31), 2**31, 100), [-(2**31), 2**31 - 1, 0]]).astype(np.int32)
    y = rules.requantize(x, "double-away", scale=scale, dtype=dtype)
    found = qops.explain(x, y, scale=scale, probe=True)
    assert "double-away" in found.exact
    assert found.probe.size <= 256
    assert str(found).splitlines()[0].startswith(", ".join(found.exact))
    assert not qops.explain(x, y ^ np.array(1, dtype), scale=scale).exact


def test_rules_with_the_same_witness_are_printed_in_one_line_and_the_last_line_counts_the_others():
    x = np.int32([-14091, -4013, 909, 12121, 18690, 26212])
    found = qops.explain(
        x, rules.requantize(x, "tflite-double", scale=0.0033, zero_point=3), scale=0.0033, zero_point=3
    )
    lines = str(found).splitlines()[1:]
    assert len(lines) == 7
    witnesses = {(v.differs, v.largest, v.kind, v.first.index, v.first.wanted): [] for v in found.excluded}
    for v in found.excluded:
        witnesses[v.differs, v.largest, v.kind, v.first.index, v.first.wanted].append(v.label)
    assert max(map(len, witnesses.values())) > 4
    for line, (key, labels) in zip(lines[:-1], witnesses.items(), strict=False):
        more = f" and {len(labels) - 4} more" if len(labels) > 4 else ""
        assert line.startswith(f"  {', '.join(labels[:4])}{more}: {key[0]:,} differ")
        assert line.endswith(f"the rule {key[-1]}")
    assert lines[-1] == f"  and {sum(map(len, list(witnesses.values())[6:]))} more"


def test_rules_that_do_not_take_a_scale_are_told():
    x = np.arange(-9, 9, dtype=np.int32)
    found = qops.explain(x, np.zeros(18, np.int8), scale=2.0**-40)
    assert {"rndnu", "rndna", "q31", "q31-wrap"} <= found.refused.keys()
    assert "do not take these numbers: rndnu" in str(found)
    assert {*rules.TABLE, *rules.BLOCKS} - OF_OTHER_DATA == {
        *found.exact,
        *found.refused,
        *(v.rule for v in found.excluded),
    }


def test_scales_beyond_float32_are_explained_without_a_warning():
    assert not qops.explain(np.int32([1, 2]), np.int8([3, 4]), scale=1e300).exact


@pytest.mark.parametrize("probe", [False, True])
@pytest.mark.parametrize(
    ("kind", "numbers", "names"),
    [
        ("requantize", {"in_scale": 1e308, "w_scale": 1e300, "out_scale": 1.0}, "in_scale, w_scale, out_scale"),
        ("requantize", {"in_scale": 1.0, "w_scale": [1.0, 2.0], "out_scale": 5e-324}, "in_scale, w_scale, out_scale"),
        ("quantize", {"scale": 1e308, "zero_point": 0}, "scale"),
        ("quantize", {"scale": 5e-324, "zero_point": 0}, "scale"),
        ("quantize", {"rmin": -1e308, "rmax": 1e308}, "rmin, rmax"),
        ("quantize", {"rmin": 0.0, "rmax": 1e305}, "rmin, rmax"),
        ("mul", PAIR | {"a_scale": 1e308, "b_scale": 1e300}, "a_scale, b_scale, y_scale"),
        ("mul", PAIR | {"y_scale": 5e-324}, "a_scale, b_scale, y_scale"),
    ],
)
def test_odd_scales_are_refused_by_the_names_given(kind, numbers, names, probe):
    """A warning would be an error here."""
    codes = np.uint8([[1, 200], [7, 5]])
    x = codes.astype({"requantize": np.int32, "quantize": np.float32}.get(kind, np.uint8))
    with pytest.raises(ValueError, match=f"^{names}: "):
        qops.explain(x, codes, kind=kind, b=codes if kind == "mul" else None, probe=probe, **numbers)


@pytest.mark.long
def test_the_command_line_says_what_it_takes(capsys):
    done = subprocess.run([sys.executable, "-m", "qops", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: qops ")
    for word in ("explain", "vectors"):
        with pytest.raises(SystemExit, match=r"^0$"):
            main([word, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: qops {word}")


def test_the_command(rng, tmp_path, capsys):
    x = accumulators(rng, 5008)  # whole blocks of 16
    dump, probe = tmp_path / "dump.npz", tmp_path / "probe.npz"
    parts = {"in_scale": 0.5, "w_scale": 0.0066, "out_scale": 1.0, "zero_point": 3, "qmin": -128, "qmax": 127}
    scale = rules.real_scale(0.5, 0.0066, 1.0)
    np.savez(
        dump, kind="requantize", acc=x, y=rules.requantize(x, "half-up-double", scale=scale, zero_point=3), **parts
    )
    assert main(["explain", str(dump), "--json", "--probe", str(probe)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["exact"] == ["half-up-double"]
    assert set(found) == {"exact", "nearest", "indistinguishable", "systems"}
    assert found["systems"] == {"half-up-double": rules.TABLE["half-up-double"].systems}
    assert set(found["nearest"][0]) == {"rule", "differs", "share", "largest", "first"}
    assert set(found["nearest"][0]["first"]) == {"index", "acc", "got", "wanted"}
    assert len(found["nearest"]) <= 10
    assert np.load(probe)["acc"].dtype == np.int32
    text = tmp_path / "dump.json"
    few = {"kind": "requantize", "acc": [1, 2], "y": [100, 7], "dtype": "s8", "scale": 0.5, "zero_point": 0}
    text.write_text(json.dumps(few))
    assert main(["explain", str(text)]) == 1
    assert "no rule gives all 2 integers" in capsys.readouterr().out
    text.write_text(json.dumps({"kind": "add", "a": [1], "y": [2]}))
    assert main(["explain", str(text)]) == 2
    assert "b: missing in dump.json" in capsys.readouterr().err
    assert main(["explain", str(tmp_path / "none.npz")]) == 2


@pytest.mark.parametrize("words", [["emit"], ["vectors", "requantize"], ["vectors", "add"]])
def test_help_lists_rules_by_names_that_can_be_copied(monkeypatch, capsys, words):
    """No line ends within a name, and each rule says who uses it."""
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    table = FORMS if words[-1] == "add" else rules.TABLE
    if words[-1] == "requantize":
        table = {**rules.TABLE, **rules.REAL_BIAS}
    lines = capsys.readouterr().out.split("rules:\n")[1].splitlines()
    listed = dict(line.split(maxsplit=1) for line in lines if line[2] != " ")
    assert listed.keys() == table.keys()
    assert all(row.systems.startswith(listed[name]) for name, row in table.items())


def test_help_says_what_a_dump_holds(capsys):
    with pytest.raises(SystemExit):
        main(["explain", "--help"])
    said = "\n  average_pool  x, y, kernel, zero_point; stride, padding, count_padding,\n"
    assert said in capsys.readouterr().out


def test_progress_is_shown_on_a_terminal_after_a_second(monkeypatch, capsys):
    clock = iter([0.0, 0.5, 1.5, 1.55, 2.5, 3.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.Progress() as tell:
        for words in ("quick", "one rule", "too soon", "two"):
            tell(words)
    assert capsys.readouterr().err == "\rone rule\rtwo     \r   \r"


def test_the_axis_of_the_channels_is_found_and_said(rng, tmp_path, capsys):
    scales = rng.uniform(0.001, 0.01, 5)
    sums = rng.integers(-20_000, 20_000, (2, 5, 4, 3)).astype(np.int32)  # NCHW
    y = rules.requantize(sums, "tflite-single", scale=scales, axis=1)
    found = qops.explain(sums, y, scale=scales)
    assert "tflite-single" in found.exact
    assert found.axis == -3
    assert "\n  the scales are those of channels along axis -3 of x\n" in str(found)
    np.savez(tmp_path / "dump.npz", acc=sums, y=y, scale=scales)
    assert main(["explain", str(tmp_path / "dump.npz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["axis"] == -3
    assert qops.explain(sums, y, scale=scales, axis=1).axis == 1
    assert qops.explain(sums, rules.requantize(sums, "rndnu", scale=0.01), scale=0.01).axis is None
    square = sums.reshape(2, 3, 4, 5)[:, :, :, :3].copy()  # two axes of 3: the last one, unless it fits none
    y = rules.requantize(square, "tflite-single", scale=scales[:3], axis=1)
    found = qops.explain(square, y, scale=scales[:3])
    assert found.axis == -1
    assert "scales along axis 1" in {v.before for v in found.mistakes}


@pytest.mark.parametrize("scale", [0.0033, [0.0033, 0.002, 0.01]])
def test_integers_of_a_port_stand_for_scales(rng, tmp_path, scale):
    op = rules.Requantize("tflite-double", scale=scale, zero_point=3, dtype="int8")
    acc = rng.integers(-40_000, 40_000, (2000, 3)).astype(np.int32)
    acc[:9] = np.arange(-4, 5)[:, None] * 15_303
    given = {"integers": op.integers, "zero_point": 3}
    found = qops.explain(acc, op(acc), probe=True, **given)
    same = qops.explain(acc, op(acc), scale=scale, zero_point=3, probe=True)
    assert "tflite-double" in found.exact
    assert (found.exact, found.axis) == (same.exact, same.axis)
    np.testing.assert_array_equal(found.probe, same.probe)
    mistake = qops.explain(acc, rules.requantize(acc, "tflite-double", **given | {"zero_point": -3}), **given)
    assert "zero_point of the other sign" in {v.before for v in mistake.mistakes}
    np.savez(tmp_path / "dump.npz", acc=acc, y=op(acc), **given)
    assert main(["explain", str(tmp_path / "dump.npz"), "--probe", str(tmp_path / "probe.npz")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "probe.npz")["acc"], found.probe)


@pytest.mark.parametrize("rule", ["tflite-double", "xnnpack"])
def test_integers_of_sums_stand_for_three_scales(rng, tmp_path, rule):
    a, b = rng.integers(0, 256, (2, 3000)).astype(np.uint8)
    op = rules.Add(rule, **PAIR)
    zeros = {name: value for name, value in PAIR.items() if name.endswith("point")}
    given = {"kind": "add", "b": b, "integers": op.integers, **zeros}
    assert rule in qops.explain(a, op(a, b), **given).exact
    assert "a and b exchanged" in {v.before for v in qops.explain(a, op(b, a), **given).mistakes}
    np.savez(tmp_path / "dump.npz", a=a, y=op(a, b), **given)
    assert main(["explain", str(tmp_path / "dump.npz")]) == 0


def test_integers_of_products_stand_for_three_scales(rng):
    a, b = rng.integers(0, 256, (2, 3000)).astype(np.uint8)
    op = rules.Mul("tflite-single", **PAIR)
    zeros = {name: value for name, value in PAIR.items() if name.endswith("point")}
    found = qops.explain(a, op(a, b), kind="mul", b=b, integers=op.integers, **zeros)
    assert "tflite-single" in found.exact
    assert "integers: fp32-even multiplies by the scales themselves" in found.refused["fp32-even"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"scale": 0.5, "integers": (3, 4)}, "integers: given beside scale"),
        ({"integers": (3, 99)}, "integers: expected a multiplier of 32 bits"),
        ({"integers": 3}, "integers: expected .multiplier, right_shift."),
        ({"integers": ([3, 4], [5, 6])}, "integers: 2 of them do not fit axis -1"),
        ({"kind": "quantize", "integers": (3, 4)}, "(x: expected float32|integers: quantize has no such number)"),
    ],
)
def test_bad_integers_are_named(given, text):
    with pytest.raises((ValueError, TypeError), match=f"^{text}"):
        qops.explain(np.arange(5), np.zeros(5, np.int8), **given)


def layer_with_bias(rng):
    acc, scales = rng.integers(-3000, 3000, (8, 500)), rng.uniform(0.001, 0.01, 8)
    return acc, {"in_scale": 0.05, "w_scale": scales, "bias": rng.normal(0, 3, 8), "axis": 0}


VERSIONS_OF_ONEDNN = ["onednn-2.6", "onednn-3.2", "onednn-3.13"]


@pytest.mark.parametrize("rule", ["ncnn", "mnn", "openvino", "openvino-no-bias"])
def test_rules_with_a_real_bias_are_named(rule, rng):
    acc, given = layer_with_bias(rng)
    if "openvino" in rule:
        given |= {"rmin": -1.3, "rmax": 4.0}
        made = {"scales": (0.05, given["w_scale"], None), "range": (-1.3, 4.0), "dtype": "uint8"}
    else:
        given |= {"out_scale": 0.02}
        made = {"scales": (0.05, given["w_scale"], 0.02)}
    if rule == "mnn":
        made |= {"w_sums": rng.integers(-300, 300, 8), "x_zero_point": -7, "zero_point": 4}
        given |= {name: made[name] for name in ("w_sums", "x_zero_point", "zero_point")}
    if rule == "openvino-no-bias":
        del given["bias"]
    y = rules.requantize(acc, rule, axis=0, bias=given.get("bias"), **made)
    found = qops.explain(acc, y, **given)
    assert rule in found.exact
    others = ["torch-fbgemm-bias", *VERSIONS_OF_ONEDNN] if rule == "mnn" else []  # all but the same where nothing ties
    assert all(name.startswith(rule[:3]) or name in others for name in found.exact)
    assert not found.mistakes


def test_ties_tell_rules_with_a_real_bias_from_each_other():
    acc = np.arange(-900, 900).reshape(-1, 2).repeat(2, 1)
    given = {"in_scale": 0.5, "w_scale": np.full(4, 0.25), "out_scale": 1.0, "bias": np.arange(4.0), "axis": 1}
    given |= {"w_sums": np.zeros(4, int), "x_zero_point": -7, "zero_point": 4}
    how = {name: given[name] for name in ("bias", "axis", "w_sums", "x_zero_point", "zero_point")}
    y = rules.requantize(acc, "mnn", scales=(0.5, given["w_scale"], 1.0), **how)
    assert qops.explain(acc, y, **given).exact == ["mnn"]


def test_rows_of_onednn_by_version_say_which_ops_were_compared():
    for rule in VERSIONS_OF_ONEDNN:
        for name in (rule, f"{rule}-no-bias"):
            words = rules.REAL_BIAS[name].systems
            assert words.endswith("inner products, matmul and convolutions to codes of 8 bits on x86 with VNNI")
            assert not {"AVX2", "AVX-512"} & {*words.replace(",", " ").split()}


def test_a_bias_that_was_rounded_to_an_integer_is_told_from_a_real_one(rng):
    acc, given = layer_with_bias(rng)
    rounded = np.rint(given["bias"] / (0.05 * given["w_scale"])).astype(int)[:, np.newaxis]
    y = rules.requantize(acc + rounded, "fp32-even", scales=(0.05, given["w_scale"], 0.02), axis=0)
    found = qops.explain(acc, y, out_scale=0.02, **given)
    assert "fp32-even" in found.exact
    assert not {*found.exact} & {*rules.REAL_BIAS}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"in_scale": None, "w_scale": None, "out_scale": None, "scale": 0.5}, "^bias: a real bias is added between"),
        ({"bias": [1.0, 2.0]}, r"^bias, w_sums, w_scale: expected one for each channel, got \[2, 8\]"),
        ({"bias": "1"}, "^bias: expected numbers"),
        ({"rmin": 0.0}, "^rmax: missing beside a range"),
        ({"rmin": 1.0, "rmax": 0.0, "out_scale": None}, "^rmin: 1.0 is not below rmax"),
    ],
)
def test_a_bias_that_does_not_fit_is_refused_by_name(change, message, rng):
    acc, given = layer_with_bias(rng)
    with pytest.raises((ValueError, TypeError), match=message):
        qops.explain(acc, np.zeros((8, 500), np.int8), **given | {"out_scale": 0.02} | change)


def test_the_only_rule_is_named_with_the_cpu_that_it_was_run_on(rng):
    acc = rng.integers(-30000, 30000, 4000)
    y = rules.requantize(acc, "half-up-double", scale=0.0033, zero_point=7)
    found = qops.explain(acc, y, scale=0.0033, zero_point=7)
    assert found.exact == ["half-up-double"]
    systems = rules.TABLE["half-up-double"].systems
    assert str(found).split("\n")[1] == f"  computed by: {systems}"
    assert found.systems == {"half-up-double": systems}
