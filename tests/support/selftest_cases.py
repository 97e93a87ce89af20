"""The golden cases that are packaged for `python -m qops selftest`; running this file writes them."""

import json
from pathlib import Path

import numpy as np
from npz import read_npz

from qops.tools.selftest import CALLS

GOLDEN = Path(__file__).parents[1] / "golden"
PACKAGED = Path(__file__).parents[2] / "qops/tools/selftest.npz"
EACH = 12


def chosen(op):
    """Cases of an op from its whole file, of 4 kB at most, as they are but for the names of their arrays."""
    arrays = read_npz(GOLDEN / f"{op}.npz")
    for case in json.loads((GOLDEN / f"{op}.json").read_text()):
        values = [*case["inputs"].values(), *case["outputs"].values()]
        if sum(arrays[value].nbytes for value in values if isinstance(value, str)) <= 4096 and case["outputs"]:
            yield case, arrays


def samples():
    """The arrays of the packaged file by name; "cases" is the text that names them."""
    cases, found = [], {}
    for op in CALLS:
        fitting = list(chosen(op))
        for case, arrays in fitting[:: -(-len(fitting) // EACH)]:
            kept = {"of": op, "id": case["id"], "attrs": case["attrs"]}
            kept["attrs"] |= {"rule": case["rule"]} if "rule" in case else {}
            kept["attrs"] |= {"version": case["lib"].rpartition(".")[0], "isa": case["isa"]} if "lib" in case else {}
            for part in ("inputs", "outputs"):
                kept[part] = {name: v if not isinstance(v, str) else f"{op}/{v}" for name, v in case[part].items()}
                found |= {f"{op}/{v}": arrays[v] for v in case[part].values() if isinstance(v, str)}
            cases.append(kept)
    return {"cases": np.array(json.dumps(cases)), **found}


if __name__ == "__main__":
    np.savez_compressed(PACKAGED, **samples())
