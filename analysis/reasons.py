"""Why a system is far off for some ranges: the notes below tables."""

from analysis.systems import Range, Sum

FAR = 2.0  # LSB: a row beyond it is explained
LEAD = f"Why errors are larger than {FAR:g} LSB:"


def why(op: str, system: str, a: Range, b: Range, narrow: bool = False) -> str:
    """Give every reason that applies; `narrow` says that the results do not fit into the range that was given."""
    reasons = []
    fused = system in ("qops 8p8to8", "qops 8x8to8")
    lost = not all(lo <= 0 <= hi for lo, hi in (a, b))
    wide, fine = sorted((hi - lo for lo, hi in (a, b)), reverse=True)
    if narrow and not fused:
        reasons.append(
            "was given a range too narrow, and keeps it: sums beyond it become the lowest or the highest code"
        )
    if "spec" in system and 255 * wide > 2**15 * fine:
        reasons.append("sums wrap in int16: the wider operand has more than 32,767 steps of the finer one")
    if lost and "nnlib" in system:
        reasons.append("cuts the code of 0 to 0..255, so that a range without 0 loses its offset")
    if op.startswith("multiply") and not fused:
        reasons.append(
            "takes 0 to be on a code, which is off by half a step of one range, times the widest value of the other"
        )
    if lost and op.startswith("add") and "chain" in system:
        reasons.append("int32 codes of a range far from 0 are coarse, some 2**-14 of its widest end each")
    return "; ".join(reasons)


def of(total: Sum, narrow: bool = False) -> tuple[float, str]:
    """Give the largest error of a sum or product, and why it may be far off."""
    return total.report.max, why(total.system.op, total.system.name, *total.ranges, narrow)


def notes(rows: dict[str, tuple[float, str]]) -> list[str]:
    """A note a reason, with the rows that are far off for it; a row is its name, its largest error in LSB, and why."""
    by_reason: dict[str, list[str]] = {}
    for name, (max_lsb, reason) in rows.items():
        if max_lsb > FAR:
            by_reason.setdefault(reason, []).append(f"{name} ({max_lsb:.3g} LSB)")
    return [f"{'; '.join(names)}: {reason}" for reason, names in by_reason.items()]
