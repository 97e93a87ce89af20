"""The page of operators that can be read, made from the rows of both formats."""

from collections.abc import Mapping
from pathlib import Path

from qops.models.kinds import NODES, OPERATORS
from qops.models.operator import OperatorKind

PAGE = "guide/files.md"
TEXT = Path(__file__).parent / "text"


def forms(row: OperatorKind) -> tuple[bool, bool, bool]:
    """Whether an operator runs on codes, on floats, and whether it moves elements."""
    on_codes = row.make is not None or getattr(row, "function", None) is not None
    return on_codes, row.real is not None and row.moves is None, row.moves is not None


def table(rows: Mapping[str, OperatorKind]) -> str:
    """A row an operator, in the order of the alphabet."""
    lines = ["| operator | codes | floats | moves |", "| --- | :---: | :---: | :---: |"]
    for kind, row in sorted(rows.items()):
        name = f"{kind} (com.microsoft)" if getattr(row, "is_own", False) else kind
        lines.append(f"| {name} | {' | '.join('yes' if has else '' for has in forms(row))} |")
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Path -> text, of the one page."""
    text = (TEXT / PAGE).read_text("utf-8")
    return {PAGE: text.replace("{tflite}", table(OPERATORS)).replace("{onnx}", table(NODES))}
