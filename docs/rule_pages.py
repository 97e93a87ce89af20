"""Pages of the rules: the index, and those of sums, products, pools, quantizers and ranges."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from docs import rule_table
from docs.names import rooms
from docs.systems import room_page, toctree
from qops import rules

A, B = (codes.ravel() for codes in np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 2, indexing="ij"))
NUMBERS = {
    "a_scale": 0.02,
    "a_zero_point": 120,
    "b_scale": 0.0313,
    "b_zero_point": 128,
    "y_scale": 0.047,
    "y_zero_point": 101,
}
PRODUCT = {**NUMBERS, "y_scale": 0.11}
IMAGES = np.random.default_rng(7).integers(0, 256, (64, 8, 8, 24), dtype=np.uint8)
WINDOW = {"kernel": (2, 2), "zero_point": 101}
OF_SCALE, OF_RANGE = {"scale": 1.0, "zero_point": 3}, {"range": (-131.0, 124.0)}
VALUES = np.arange(-128_000, 128_001, dtype=np.float32) / np.float32(1000)
SUMS = np.arange(-20_000, 20_001, dtype=np.int32)
ROWS = np.random.default_rng(7).normal(0, 40, (64, 256)).clip(-126, 126).astype(np.float32)
ROWS[:, ::2] = np.random.default_rng(8).integers(-126, 126, (64, 128)) + np.float32(0.5)
ROWS[:, ::32] = 127
BRIGHT = np.random.default_rng(7).integers(0, 256, (8, 6, 8, 8), dtype=np.uint8)
FILTERS = np.random.default_rng(9).integers(-128, 128, (8, 3, 3, 3)).astype(np.int8)
RANGES = ((-1.0, 2.0), (-0.3, 0.7), (0.0, 6.0), (-4.0, 3.9), (-1e-3, 0.002), (0.0, 0.0))


BEYOND = {
    "saturates": "saturates",
    "lowest": "floats become the lowest code",
    "lowest, wraps": "floats become `-2**31`, and the sum with the zero point wraps",
    "low bits": "the low 32 bits of an int64",
    "cut, wraps": "floats become `2**31 - 128` or `-2**31`, and the sum with the zero point wraps",
}


class Family(NamedTuple):
    """A table of rules."""

    title: str
    table: Mapping[str, Any]
    call: str
    on: str
    codes: Callable[[str], Any]


def pool(rule: str) -> Any:
    """Means of the images by a rule; with one scale, if it takes scales."""
    scales = {"x_scale": 0.05, "y_scale": 0.05, "y_zero_point": 101} if rules.AVERAGE_POOL[rule].rescales else {}
    return rules.average_pool(IMAGES, rule, **WINDOW, **scales)


def biased(rule: str) -> dict[str, Any]:
    """The numbers of a rule with a real bias."""
    takes = rules.REAL_BIAS[rule].takes
    found: dict[str, Any] = {"scales": (0.05, 0.0137, None if "range" in takes else 0.0212)}
    found |= {"range": (-1.3, 4.1), "dtype": "uint8"} if "range" in takes else {}
    return found | {name: value for name, value in (("bias", 0.73), ("w_sums", 77)) if name in takes}


def split(rule: str) -> dict[str, int]:
    """The numbers of a rule that takes the zero point off in float32."""
    return {"w_sums": 77, "x_zero_point": 3} if rules.DEQUANTIZE[rule].splits else {}


FAMILIES = {
    "add": Family(
        "Sum of two tensors",
        rules.ADD,
        "add(a, b, RULE, a_scale=..., ...)",
        "all 65,536 pairs of uint8 codes, scales 0.02 and 0.0313 into 0.047, zero points 120, 128, 101",
        lambda rule: rules.add(A, B, rule, **NUMBERS),
    ),
    "mul": Family(
        "Product of two tensors",
        rules.MUL,
        "mul(a, b, RULE, a_scale=..., ...)",
        "all 65,536 pairs of uint8 codes, scales 0.02 and 0.0313 into 0.11, zero points 120, 128, 101",
        lambda rule: rules.mul(A, B, rule, **PRODUCT),
    ),
    "average_pool": Family(
        "Average pool",
        rules.AVERAGE_POOL,
        "average_pool(x, RULE, kernel=...)",
        f"{np.prod(pool('away-stored').shape):,} windows of 2 x 2 random uint8 codes, zero point 101, one scale",
        pool,
    ),
    "quantize": Family(
        "Float32 to codes",
        rules.QUANTIZE,
        "quantize(x, RULE, scale=...)",
        f"{VALUES.size:,} values from -128 to 128 in steps of 0.001, scale 1, zero point 3, int8",
        lambda rule: rules.quantize(VALUES, rule, **(OF_RANGE if rule == "openvino" else OF_SCALE), dtype=np.int8),
    ),
    "real_bias": Family(
        "Accumulators to codes, with a real bias",
        rules.REAL_BIAS,
        "requantize(acc, RULE, scales=..., bias=...)",
        f"{SUMS.size:,} accumulators, scales 0.05 and 0.0137, bias 0.73; the result from -1.3 to 4.1 in uint8, or in "
        "steps of 0.0212 in int8",
        lambda rule: rules.requantize(SUMS, rule, **biased(rule)),
    ),
    "quantize_blocks": Family(
        "Rows and blocks to codes",
        rules.QUANTIZE_BLOCKS,
        "quantize_blocks(x, RULE)",
        f"{ROWS.size:,} values in rows of 256; the largest of each 32 is 127, and half of the others are ties",
        lambda rule: rules.quantize_blocks(ROWS, rule).data,
    ),
    "dequantize": Family(
        "Accumulators to real values",
        rules.DEQUANTIZE,
        "dequantize(acc, RULE, in_scale=..., w_scale=...)",
        f"{SUMS.size:,} accumulators, scales 0.0173 and 0.7, bias 0.2507, as bits of float32",
        lambda rule: rules.dequantize(SUMS, rule, in_scale=0.0173, w_scale=0.7, bias=0.2507, **split(rule)).view(
            np.int32
        ),
    ),
    "accumulate": Family(
        "Sums of a layer",
        rules.ACCUMULATE,
        "accumulate(x, w, rule=RULE)",
        "4,096 sums of a convolution of 6 channels in 2 groups, 3 x 3 taps, padding of 1, zero point 128, random codes",
        lambda rule: rules.accumulate_conv(BRIGHT, FILTERS, x_zero_point=128, pads=(1,) * 4, groups=2, rule=rule),
    ),
    "choose_range": Family(
        "Scale and zero point of a range", rules.RANGE_RULES, "choose_range(min, max, RULE)", "", lambda rule: None
    ),
}


@cache
def made(family: str, rule: str) -> Any:
    """The codes of one rule on the family's data."""
    return FAMILIES[family].codes(rule)


def apart(family: str, rule: str) -> str:
    """How many codes differ from those of the family's other rules."""
    mine, rows = made(family, rule), []
    for other in FAMILIES[family].table:
        if other != rule:
            off = np.abs(made(family, other).astype(int) - mine)
            rows.append(f"| [{other}]({other}.md) | {np.count_nonzero(off):,} | {off.max()} |\n")
    head = "| rule | codes that differ | by at most |\n| --- | ---: | ---: |\n"
    return f"## Rules that it differs from\n\nOn {FAMILIES[family].on}:\n\n{head}{''.join(rows)}"


def chosen(rule: str) -> str:
    """What a range rule makes of some ranges, and how many other rules make the same."""
    rows = []
    for low, high in RANGES:
        scale, zero, _ = rules.choose_range(low, high, rule)
        same = [name for name in rules.RANGE_RULES if rules.choose_range(low, high, name)[:2] == (scale, zero)]
        links = ", ".join(f"[{name}]({name}.md)" for name in same if name != rule) or "none"
        rows.append(f"| {low:g} to {high:g} | {scale:.9g} | {zero} | {links} |\n")
    head = "| range | scale | zero point | the same from |\n| --- | ---: | ---: | --- |\n"
    return f"""## Some ranges

What it makes of them for the type of codes that is its default, and which rules make the same:

{head}{"".join(rows)}"""


def page(family: str, rule: str) -> str:
    """The page of one rule of a family."""
    row = FAMILIES[family].table[rule]
    facts = {"formula": f"`{row.formula}`".replace("|", r"\|"), "computed by": row.systems}
    if getattr(row, "width", 0):
        tail = f"[{row.tail}]({row.tail}.md)"
        facts["elements"] = f"{row.width} at a time, in row-major order; the rest is computed by {tail}"
    if family in ("add", "mul"):
        facts["beyond int32"] = BEYOND[row.beyond]
        facts["codes"] = "uint8, int8" + ", int16" * row.takes_int16
    if family == "accumulate":
        facts |= {"data": ", ".join(row.data), "order of codes": row.order, "padding": f"{row.padding} of pairs"}
    if family == "average_pool":
        facts["scale"] = "of its own for the result" if row.rescales else "that of the input"
    table = "".join(f"| {key} | {value} |\n" for key, value in facts.items())
    call = FAMILIES[family].call.replace("RULE", f'"{rule}"')
    differ = chosen(rule) if family == "choose_range" else apart(family, rule)
    return f"""# {family}: {rule}

`qops.rules.{call}`

| | |
| --- | --- |
{table}
{differ}"""


def blocks_page(rule: str) -> str:
    """The page of a rule of whole arrays."""
    row = rules.BLOCKS[rule]
    return f"""# {rule}

`qops.rules.requantize(acc, "{rule}", scale=scale)`

| | |
| --- | --- |
| computed by | {row.systems} |
| whole blocks of {row.size} {row.of} | by [{row.whole}]({row.whole}.md) |
| the {row.of} that are left at the end | by [{row.tail}]({row.tail}.md) |
"""


def index() -> str:
    """The page of all rules, and of the functions that run them."""
    tables = {"requantize": ("Accumulators to codes", {**rules.TABLE, **rules.BLOCKS})}
    tables |= {name: (family.title, family.table) for name, family in FAMILIES.items()}
    parts = []
    for name, (title, table) in tables.items():
        rows = "".join(f"| [{rule}]({name}/{rule}.md) | {row.systems} |\n" for rule, row in table.items())
        tree = toctree([f"{rule} <{name}/{rule}>" for rule in table], title)
        head = "| rule | computed by |\n| --- | --- |\n"
        parts.append(f"## {title}\n\n{head}{rows}\n{tree}")
    return room_page("rules", rooms()["rules"], "\n".join(parts))


def pages() -> dict[str, str]:
    """Path -> text, of every rule and the index."""
    found = {"rules/index.md": index()}
    found |= {f"rules/requantize/{rule}.md": rule_table.page(rule) for rule in rules.TABLE}
    found |= {f"rules/requantize/{rule}.md": blocks_page(rule) for rule in rules.BLOCKS}
    return found | {
        f"rules/{name}/{rule}.md": page(name, rule) for name, family in FAMILIES.items() for rule in family.table
    }
