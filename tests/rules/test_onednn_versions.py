"""Rows of oneDNN by version: they give what 2.6.3, 3.2.0 and 3.13.2 stored, and `explain` names the version."""

import json
from pathlib import Path

import numpy as np
import pytest

import qops
from qops import rules

GOLDEN = Path(__file__).parents[1] / "golden" / "onednn"
ROWS = {"2.6.3": "onednn-2.6", "3.2.0": "onednn-3.2", "3.13.2": "onednn-3.13"}
TYPES = {"u8": "uint8", "s8": "int8"}


def cases(op, isas=("vnni",)):
    """Products to codes of 8 bits, with no Sum, on VNNI computed exactly; exact sums, bias, codes."""
    with np.load(GOLDEN / f"{op}.npz") as arrays:
        for case in json.loads((GOLDEN / f"{op}.json").read_text()):
            attrs, given = case["attrs"], {name: arrays[key] for name, key in case["inputs"].items()}
            posts = attrs.get("post_ops", [])
            is_plain = (
                given["weights"].dtype == np.int8
                and attrs["dst_dt"] in TYPES
                and case["isa"] in isas
                and "ref" not in case["impl"]
            )
            if not is_plain or any(post["kind"] == "sum" or post["alpha"] for post in posts):
                continue
            acc = sums_of(op, attrs, given)
            yield case, acc, given.get("bias"), bool(posts), arrays[case["outputs"]["dst"]]


def sums_of(op, attrs, given):
    """The exact sums of a stored case."""
    zero = attrs.get("src_zp", [0])[0]
    if op == "conv":
        w, pads = given["weights"], [*attrs["pad_l"], *attrs["pad_r"]]
        w = w.reshape(-1, *w.shape[-3:])  # groups and their filters are one axis
        how = {"strides": attrs["stride"], "pads": pads, "dilations": [d + 1 for d in attrs["dilation"]]}
        return rules.accumulate_conv(given["src"], w, x_zero_point=zero, groups=attrs["groups"], **how)
    w = given["weights"].astype(np.int64) - attrs.get("wei_zp", [0])[0]
    return (given["src"].astype(np.int64) - zero) @ (w.T if op == "ip" else w)


def scales_of(case):
    """Three scales that give the factors of a stored case; None where a bias of channels has no real value."""
    attrs, channels = case["attrs"], None
    if case["lib"] != "2.6.3":
        w = np.float32(attrs.get("wei_scale", [1.0]))
        one = attrs.get("src_scale", [1.0])[0]
        return one, w if w.size > 1 else w.item(), attrs.get("dst_scale", [1.0])[0]
    factor = np.float64(np.float32(attrs.get("oscale", [1.0])))
    return (1.0, 1.0, 1 / factor.item()) if factor.size == 1 else (1.0, factor, 1.0 if channels is None else channels)


@pytest.mark.parametrize("lib", ROWS)
@pytest.mark.parametrize("op", ["ip", "matmul", "conv"])
def test_rows_give_what_each_version_stored(op, lib):
    seen = 0
    for case, acc, bias, has_relu, want in cases(op):
        if case["lib"] != lib:
            continue
        scales, zero = scales_of(case), case["attrs"].get("dst_zp", [0])[0]
        of_channels = np.ndim(scales[1]) > 0
        if lib == "2.6.3" and bias is not None and of_channels:  # there a bias is in steps of the accumulator
            continue
        how = {"scales": scales, "zero_point": zero, "dtype": TYPES[case["attrs"]["dst_dt"]]}
        how |= {"axis": 1} if op == "conv" else {}
        how |= {"qmin": max(zero, np.iinfo(want.dtype).min)} if has_relu else {}
        rule = ROWS[lib] + ("" if bias is not None else "-no-bias")
        how |= {} if bias is None else {"bias": np.ravel(bias).astype(np.float32)}
        got = rules.requantize(acc, rule, **how)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want, err_msg=case["id"])
        seen += 1
    assert seen >= 4, f"{op} {lib}: {seen} cases"


@pytest.mark.long
@pytest.mark.parametrize("lib", ROWS)
@pytest.mark.parametrize("isa", ["vnni", "avx512", "avx2"])
def test_explain_names_the_version_of_stored_results(lib, isa):
    """On VNNI in every case; elsewhere pairs may saturate before the sum, and then the exact sums explain nothing."""
    named, saturated = 0, 0
    for op in ("ip", "matmul", "conv"):
        for case, acc, bias, has_relu, y in cases(op, (isa,)):
            if case["lib"] != lib:
                continue
            (in_scale, w_scale, out_scale), zero = scales_of(case), case["attrs"].get("dst_zp", [0])[0]
            if lib == "2.6.3" and bias is not None and np.ndim(w_scale):  # there a bias is in steps of the accumulator
                continue
            how = {"in_scale": in_scale, "w_scale": w_scale, "out_scale": out_scale, "zero_point": zero}
            how |= {"axis": 1} if op == "conv" else {}
            how |= {"qmin": max(zero, np.iinfo(y.dtype).min)} if has_relu else {}
            how |= {} if bias is None else {"bias": np.ravel(bias).astype(np.float32)}
            found, rule = qops.explain(acc, y, **how), ROWS[lib] + ("" if bias is not None else "-no-bias")
            assert not found.mistakes, f"{case['id']}: {found.mistakes[0].label}"
            if rule not in found.exact:
                assert isa != "vnni", f"{case['id']}: {found.exact}"
                assert not found.exact, f"{case['id']}: {found.exact}"
                saturated += 1
                continue
            assert lib.rpartition(".")[0] in found.systems[rule]
            assert ("an older version" in found.systems[rule]) == (lib != "3.13.2")
            named += 1
    assert named >= 6
    assert (saturated > 0) == (isa != "vnni")


@pytest.mark.parametrize("rule", [f"{row}{more}" for row in ROWS.values() for more in ("", "-no-bias")])
def test_explain_names_the_version(rule):
    acc = np.random.default_rng(3).integers(-200_000, 200_000, (3000, 8)).astype(np.int32)
    w = np.random.default_rng(4).integers(3, 90, 8) / 4096
    how = {"in_scale": 0.0371, "w_scale": w, "out_scale": 0.0125}
    bias = {} if rule.endswith("no-bias") else {"bias": np.linspace(-40, 40, 8) + 1 / 3}
    scales = tuple(how.values())
    y = rules.requantize(acc, rule, scales=scales, zero_point=3, dtype="int16", **bias)
    found = qops.explain(acc, y, zero_point=3, **how, **bias)
    assert rule in found.exact
    others = {row + (rule[rule.index("-no") :] if "-no" in rule else "") for row in ROWS.values()} - {rule}
    assert not others & {*found.exact}, "the data tell the versions apart"
    assert rule.split("-")[1] in found.systems[rule]
    if "3.13" not in rule:
        assert "an older version" in found.systems[rule]
