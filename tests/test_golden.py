"""Golden vectors: what the real systems returned, bit for bit, one test item a case.

`QOPS_GOLDEN=DIR` takes the vectors from another folder of the same form. An op without an adaptor, a missing file and an
empty set fail: nothing is skipped.
"""

import json
import os
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(os.environ.get("QOPS_GOLDEN") or Path(__file__).parent / "golden")
SYSTEMS = ("nnlib", "onednn", "tensorflow")
UNSPECIFIED = {  # what a set's README says not to compare, as a predicate on the inputs: qops refuses these
    ("onednn", "reorder"): lambda inputs: np.isnan(inputs["src"]).all(),
}
TOLERANCE = {  # what a set's README allows, absolute
    ("onednn", "lstm", "dst_iter_c"): 1e-6,
}


@cache
def arrays(stem):
    return np.load(f"{stem}.npz", allow_pickle=False)


def looked_up(values, stem):
    """`values` with the keys of the npz replaced by its arrays."""
    if isinstance(values, dict):
        return {name: looked_up(value, stem) for name, value in values.items()}
    if isinstance(values, list):
        return [looked_up(value, stem) for value in values]
    return arrays(stem)[values] if isinstance(values, str) and values in arrays(stem) else values


def cases():
    for system in SYSTEMS:
        files = sorted((ROOT / system).glob("*.json"))
        if not files:
            yield pytest.param(system, "", None, id=f"{system}-no-golden-files")
        for file in files:
            found = json.loads(file.read_text())
            for case in found:
                yield pytest.param(system, file.name.removesuffix(".json"), case, id=f"{file.stem}-{case['id']}")
            if not found:
                yield pytest.param(system, file.stem, None, id=f"{file.stem}-empty")


def same(got, want, name, tolerance):
    got, want = np.asarray(got), np.asarray(want)
    if tolerance:
        assert got.dtype == want.dtype, name
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance, err_msg=name)
    elif want.dtype.kind in "iu" and want.ndim == 0 and got.dtype.kind in "iub":  # a count or a code from the json
        assert int(got) == int(want), name
    else:
        want = want.astype(np.float32) if want.dtype == np.float64 else want
        got = got.astype(np.float32) if got.dtype == np.float64 else got
        assert got.dtype == want.dtype, name
        assert got.shape == want.shape, name
        np.testing.assert_array_equal(got, want, err_msg=name)
        signs = np.signbit(got) == np.signbit(want) if want.dtype.kind == "f" else True
        assert np.all(signs | np.isnan(want)), f"{name}: sign of zero"


def adaptor(system, name, case):
    module = import_module(f"adaptors.{system}")
    if "session" in case["attrs"]:
        return session(module, system, name, case)
    call = module.ADAPTORS.get(name.removesuffix(".rejects")) or module.ADAPTORS.get(case["op"])
    assert call, f"no adaptor for {system} {name}"
    return call


def session(module, system, name, case):
    """Replays the steps of the session before this one on a new object."""
    stem = ROOT / system / name
    steps = [c for c in json.loads(Path(f"{stem}.json").read_text()) if c["attrs"]["session"] == case["attrs"]["session"]]
    steps.sort(key=lambda c: c["attrs"]["step"])
    call = module.SESSIONS[name](looked_up(steps[0]["inputs"], stem))
    for step in steps[: case["attrs"]["step"]]:
        call(looked_up(step["inputs"], stem), step["attrs"])
    return call


@pytest.mark.parametrize(("system", "name", "case"), list(cases()))
def test_golden(system, name, case):
    assert case is not None, f"no golden cases in {ROOT / system / name}"
    stem = ROOT / system / name.removesuffix(".rejects")
    call = adaptor(system, name, case)
    inputs, outputs = looked_up(case["inputs"], stem), looked_up(case.get("outputs", {}), stem)
    attrs = case["attrs"] | {key: case[key] for key in ("lib", "isa") if key in case}
    if "error" in case or "error" in outputs or UNSPECIFIED.get((system, name), lambda _: False)(inputs):
        with pytest.raises((ValueError, TypeError)):
            call(inputs, attrs)
        return
    variants = [(attrs, outputs)]
    if "outputs_onednn1" in case:
        variants.append((attrs | {"onednn": True}, looked_up(case["outputs_onednn1"], stem)))
    for variant, wanted in variants:
        got = call(inputs, variant)
        assert wanted, f"{case['id']} expects nothing"
        for key, want in wanted.items():
            same(got[key], want, f"{case['id']} {key}", TOLERANCE.get((system, name, key)))
