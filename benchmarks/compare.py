"""Two tables of times beside each other: what became quicker or slower by more than its own scatter."""

import json
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """Read a table that an earlier run wrote; ValueError if it is none."""
    try:
        found = json.loads(path.read_text())
        return {"machine": found["machine"], "rows": {(row["op"], row["n"]): row for row in found["rows"]}}
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise ValueError(f"--compare {path}: no table of an earlier run, {why}") from None


def differences(old: dict[str, Any], machine: dict[str, str]) -> list[str]:
    """Say what the two tables were not measured on alike."""
    before = old["machine"]
    keys = [key for key in before.keys() & machine.keys() if before[key] != machine[key]]
    return [f"{key}: {before[key]} then, {machine[key]} now" for key in sorted(keys)]


def line(old: dict[str, Any], row: dict[str, Any]) -> str:
    """Say how many times as long as then a call takes; `*`: the middle halves of the samples do not meet."""
    before = old["rows"].get((row["op"], row["n"]))
    if before is None:
        return "  (no time then)"
    (low, high), (old_low, old_high) = row["qops_quartiles_us"], before["qops_quartiles_us"]
    apart = low > old_high or high < old_low
    return f"  {row['qops_us'] / before['qops_us']:.2f} of {before['qops_us']:.3f} us{' *' * apart}"
