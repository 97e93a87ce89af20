"""The page of `explain`: whole, needs nothing beside it, says what was found."""

import re

import numpy as np
import pytest
from nesting import Nesting

from qops import rules
from qops.__main__ import main


def page(capsys, path, code, *words):
    assert main(["explain", str(path), "--html", *words]) == code
    html = capsys.readouterr().out
    seen = Nesting()
    seen.feed(html)
    assert not seen.open, "every element is closed"
    assert not re.search(r"https?:|\ssrc=|href=|url\(|@import|<script", html)
    return html, seen.text


@pytest.fixture
def acc(rng):
    return rng.integers(-30_000, 30_000, (1, 5, 20, 20)).astype(np.int32)


def test_page_of_a_rule_that_fits(capsys, tmp_path, acc):
    acc = acc[..., :16]  # no channel is left after blocks of 8
    y = rules.requantize(acc, "half-up-double", scale=0.0033, zero_point=3)
    np.savez(tmp_path / "a&b.npz", acc=acc, y=y, scale=0.0033, zero_point=3)
    html, text = page(capsys, tmp_path / "a&b.npz", 0, "--probe", str(tmp_path / "probe.npz"))
    assert "".join(text["h1"]) == "1 rule gives all 1,600 integers: half-up-double"
    cells = set(text["td"])
    assert set(rules.TABLE) - {"gemmlowp-legacy"} <= cells
    i = int(np.flatnonzero(y.ravel() != rules.requantize(acc, "tflite-double", scale=0.0033, zero_point=3).ravel())[0])
    assert {str(list(map(int, np.unravel_index(i, y.shape)))), str(acc.ravel()[i])} <= cells
    assert html.count("<svg") == 4 * 3
    assert "a&amp;b.npz" in html
    assert (tmp_path / "probe.npz").exists()


def test_page_where_none_fits(capsys, tmp_path, acc):
    y = rules.requantize(acc, "fp32-even", scale=0.0033)
    y[0, 0, 0, :7] ^= 1
    np.savez(tmp_path / "dump.npz", acc=acc, y=y, scale=0.0033, zero_point=0)
    _, text = page(capsys, tmp_path / "dump.npz", 1)
    assert "".join(text["h1"]) == "No rule gives all 2,000 integers"
    assert any("fp32-even = " in words for words in text["code"]), "rules that are one function are drawn once"
    by = {
        words.split(":")[0]: float(words.split(": ")[1]) for words in text["title"] if words.startswith(("-1:", "+1:"))
    }
    assert 0 < by["-1"] + by["+1"] <= 14


def test_page_of_a_mistake_and_of_other_kinds(capsys, tmp_path, acc, rng):
    y = rules.requantize(acc, "fp32-even", scale=0.0033).transpose(0, 2, 3, 1)
    np.savez(tmp_path / "dump.npz", acc=acc, y=y, scale=0.0033, zero_point=0)
    _, text = page(capsys, tmp_path / "dump.npz", 1)
    assert "x is NCHW, y NHWC (or OIHW, OHWI)" in "".join(text["h1"])
    image = rng.integers(0, 256, (1, 9, 9, 20)).astype(np.uint8)
    y = rules.average_pool(image, "torch-nhwc", kernel=(2, 2), zero_point=9)
    np.savez(tmp_path / "pool.npz", kind="average_pool", x=image, y=y, kernel=(2, 2), zero_point=9)
    _, text = page(capsys, tmp_path / "pool.npz", 0)
    assert any("torch 2.13, channels_last" in cell for cell in text["td"])
    a, b = rng.integers(0, 256, (2, 300)).astype(np.uint8)
    how = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 100, "y_scale": 0.7, "y_zero_point": 30}
    y = rules.add(a, b, "xnnpack", **how)
    np.savez(tmp_path / "add.npz", kind="add", a=a, b=b, y=y, **how)
    html, _ = page(capsys, tmp_path / "add.npz", 0)
    assert rules.ADD["xnnpack"].systems in html


def test_page_of_a_rule_with_a_real_bias_and_of_code_by_hand(tmp_path, capsys):
    acc, real = np.arange(-9000, 9000, 7), {"in_scale": 0.05, "w_scale": 0.0137, "out_scale": 0.021}
    y = rules.requantize(acc, "ncnn", scales=tuple(real.values()), bias=0.73)
    np.savez(tmp_path / "dump.npz", acc=acc, y=y, bias=0.73, **real)
    assert main(["explain", str(tmp_path / "dump.npz"), "--html"]) == 0
    assert "half_added(fma(acc, k, b)" in capsys.readouterr().out
    x = (np.arange(-900, 900) / 8).astype(np.float32)
    y = rules.quantize(x, "inv-truncate", scale=0.3, dtype="int8")
    y[::2] += y[::2] < 100
    np.savez(tmp_path / "dump.npz", kind="quantize", x=x, y=y, scale=0.3, zero_point=0)
    assert main(["explain", str(tmp_path / "dump.npz"), "--html"]) == 1
    assert "div-truncate" in capsys.readouterr().out
