"""The formula of a requantization rule as text, made of the columns of its row in the table."""

from typing import Protocol

__all__ = ["Row", "of_row"]

_STEPS = {
    "once": ["code = clamp({first}({product}) + zero_point)"],
    "at 31": [
        "high = {first}(acc * 2**max(31 - right_shift, 0) * multiplier / 2**31)",
        "code = clamp({second}(high / 2**max(right_shift - 31, 0)) + zero_point)",
    ],
    "16 bits": [
        "near = saturate_s16({first}(acc / 2**(right_shift - 15)))",
        "code = clamp({second}(near * multiplier / 2**15) + zero_point)",
    ],
    "last bit": [
        "high = floor(acc * multiplier / 2**(right_shift - 1))",
        "code = clamp({second}(high / 2) + zero_point)",
    ],
    "past 31": [
        "high = {first}(acc * multiplier / 2**min(right_shift, 31))",
        "code = clamp({second}(high / 2**max(right_shift - 31, 0)) + zero_point)",
    ],
}
"""What is computed, by where the shift is split."""
_PRODUCTS = {
    "float32": "float32(float32(acc) * float32(scale))",
    "float64": "float64(acc * scale)",
    "float64 of a float32": "float64(acc * float32(scale))",
    "31 bits as a float32": "float32(float32(acc) * float32(multiplier / 2**right_shift))",
}
"""What is rounded where the scale is a float; else it is an integer and a shift."""


class Row(Protocol):
    """The columns that a formula needs; `qops.rules.Rule` says what they mean."""

    @property
    def multiplier(self) -> str:
        """Give the bits of the multiplier, or the float type."""

    @property
    def first(self) -> str:
        """Give the rounding of the first step."""

    @property
    def second(self) -> str:
        """Give the rounding of the second step."""

    @property
    def split(self) -> str:
        """Give what the first step shifts by."""

    @property
    def zero_point(self) -> str:
        """Give the side of the rounding on which the zero point is added."""


def of_row(row: Row) -> str:
    """Give what a rule computes, a line a step, where nothing wraps. The lines are Python, too, of exact numbers.

    Parameters
    ----------
    row : Rule
        A row of the table.

    Returns
    -------
    str
    """
    product = _PRODUCTS.get(row.multiplier, "acc * multiplier / 2**right_shift")
    if row.zero_point == "inside":
        kind = "float64" if "float64" in row.multiplier else "float32"
        return f"code = {row.first}(clamp({kind}({product} + zero_point)))"
    lines = [line.format(first=row.first, second=row.second, product=product) for line in _STEPS[row.split]]
    if row.zero_point == "in the accumulator":
        lines = [line.replace("acc", "sum").replace(" + zero_point", "") for line in lines]
        lines = ["sum = acc + half_even(float32(zero_point / scale))", *lines]
    return "\n".join(lines)
