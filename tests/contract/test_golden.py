"""Golden vectors: what the real systems returned, bit for bit, one test item a set.

`QOPS_GOLDEN=DIR` takes the vectors from another folder of the same form, of all the systems that it has. An op without
an adaptor, a missing file and an empty set fail: nothing is skipped.
"""

import json
import math
import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from host_modes import flushing
from npz import read_npz

from qops._kernels.machine import host

OWN = Path(__file__).parents[1] / "golden"
ROOT = Path(os.environ.get("QOPS_GOLDEN") or OWN)
SYSTEMS = ("nnlib", "onednn", "rules", "rules_arm", "rules_avx2", "runtimes", "tensorflow", "tflite")
UNSPECIFIED = {  # what a set's README says not to compare, as a predicate on the inputs: qops refuses these
    ("onednn", "reorder"): (lambda inputs: np.isnan(inputs["src"]).all(), "src: expected numbers, got nan"),
}
TOLERANCE = {  # what a set's README allows, relative and absolute
    ("onednn", "lstm", "dst_iter_c"): (0, 1e-6),
    ("tensorflow", "QuantizedInstanceNorm", "y_min"): (1e-6, 1e-6),
    ("tensorflow", "QuantizedInstanceNorm", "y_max"): (1e-6, 1e-6),
}


@cache
def arrays(path):
    """The arrays of a set, each read once; no op may write to one."""
    return read_npz(Path(f"{path}.npz"))


def looked_up(values, path):
    """`values` with the keys of the npz replaced by its arrays."""
    if isinstance(values, dict):
        return {name: looked_up(value, path) for name, value in values.items()}
    if isinstance(values, list):
        return [looked_up(value, path) for value in values]
    return arrays(path)[values] if isinstance(values, str) else values


def stem(file):
    """The op's name in the name of one of its files: OP.json, OP.npz, OP.rejects.json."""
    return file.name.removesuffix(file.suffix).removesuffix(".rejects")


def missing(folder):
    """The names of files that belong to one that is there."""
    files = [file for file in folder.glob("*") if file.suffix in (".json", ".npz")]
    wanted = {stem(file) + suffix for file in files for suffix in (".json", ".npz")}
    return sorted(wanted - {file.name for file in files})


def sets():
    """The system and the file of each set; a system that has no files has one without a name, which fails."""
    for system in SYSTEMS if ROOT == OWN else [folder.name for folder in sorted(ROOT.glob("*/"))]:
        names = [file.name.removesuffix(".json") for file in sorted((ROOT / system).glob("*.json"))]
        yield from [(system, name) for name in names or [""]]


@cache
def cases(path):
    return json.loads(Path(f"{path}.json").read_text()) if path.name else []


def same(got, want, name, tolerance=None):
    """Bit equality, but for the payload of a NaN; numbers are Python's, a float one that float32 has."""
    if isinstance(want, np.ndarray) and want.ndim == 0 and not isinstance(got, np.ndarray):
        want = want.item()
    elif isinstance(got, np.ndarray) and got.ndim == 0 and not isinstance(want, np.ndarray):
        want = np.array(want, {int: np.int32, float: np.float32}[type(want)])
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray), name
        assert got.dtype == want.dtype, name
        assert got.shape == want.shape, name
        if got.tobytes() == want.tobytes():
            return
    else:
        assert type(got) is type(want), name
        assert type(got) is int or math.isnan(got) or float(np.float32(got)) == got, f"{name}: {got} is no float32"
        if repr(got) == repr(want):
            return
    if tolerance:
        np.testing.assert_allclose(got, want, *tolerance, err_msg=name)
    else:
        np.testing.assert_array_equal(got, want, err_msg=name)
        signs = np.signbit(got) == np.signbit(want)
        assert np.all(signs | np.isnan(want)), f"{name}: sign of zero"


def adaptor(system, name, case):
    module = import_module(f"adaptors.{system}")
    if "session" in case["attrs"]:
        return session(module, system, name, case)
    call = module.ADAPTORS.get(name.removesuffix(".rejects")) or module.ADAPTORS.get(case.get("op"))
    assert call, f"no adaptor for {system} {name}"
    return call


def session(module, system, name, case):
    """Replays the steps of the session before this one on a new object."""
    path = ROOT / system / name
    steps = [c for c in cases(path) if c["attrs"]["session"] == case["attrs"]["session"]]
    steps.sort(key=lambda c: c["attrs"]["step"])
    call = module.SESSIONS[name](looked_up(steps[0]["inputs"], path))
    for step in steps[: case["attrs"]["step"]]:
        call(looked_up(step["inputs"], path), step["attrs"])
    return call


def refusal(system, name, case, inputs):
    """The words with which qops refuses a case: the system's table has them for the reason recorded; or None."""
    unspecified, words = UNSPECIFIED.get((system, name), (lambda _: False, ""))
    if unspecified(inputs):
        return words
    recorded = case.get("message") or case.get("error") or case.get("outputs", {}).get("error")
    if not recorded:
        return None
    table = import_module(f"adaptors.{system}").REFUSALS
    found = [words for reason, words in table.items() if re.search(reason, recorded)]
    assert len(found) == 1, f"{len(found)} entries for {recorded}"
    return found[0]


def by_library(op, case, call, inputs, path):
    """TFLite's cases: each kernel library gives the outputs, or outputs of its own, or refuses."""
    module = import_module("adaptors.tflite")
    attrs = case["attrs"] | {"steps": case.get("steps"), "options": case.get("options")} | module.asked(case)
    assert case.get("systems") or case["error"], f"{case['id']} expects nothing"
    for library in case.get("systems", ()):
        keys = case.get(f"outputs{module.SUFFIXES[library]}", case["outputs"])
        wanted = looked_up(keys, path)
        got = call(inputs, attrs | {"library": module.KERNELS[library], "y_dtype": wanted["y"].dtype})
        same(got["y"], wanted["y"], f"{case['id']} {library}")
    for library, reason in case.get("error", {}).items():
        words, of = module.refusal(op, case, reason), case.get("outputs")
        if words is not None:
            y_dtype = looked_up(of, path)["y"].dtype if of else "int32"
            with pytest.raises((ValueError, TypeError), match=rf"^(?:{words})"):
                call(inputs, attrs | {"library": module.KERNELS[library], "y_dtype": y_dtype})


def compare(system, name, case):
    """One case: what qops gives is what the system gave, or it refuses as the system did."""
    path = ROOT / system / name.removesuffix(".rejects")
    call = adaptor(system, name, case)
    inputs = looked_up(case["inputs"], path)
    attrs = case["attrs"] | {key: case[key] for key in ("lib", "isa", "rule", "system") if key in case}
    if system == "tflite":
        by_library(name.removesuffix(".rejects"), case, call, inputs, path)
        return
    reason = refusal(system, name, case, inputs)
    if reason:
        with pytest.raises((ValueError, TypeError), match=f"^(?:{reason})"):
            call(inputs, attrs)
        return
    variants = [(attrs, looked_up(case["outputs"], path))]
    module = import_module(f"adaptors.{system}")
    if "error_onednn1" in case:
        with pytest.raises(ValueError, match=f"^(?:{module.ONEDNN_REFUSALS[case['error_onednn1']]})"):
            call(inputs, attrs | {"onednn": True})
    elif case.get("op") in getattr(module, "ONEDNN", ()):  # only what differs is recorded
        other = case["outputs"] | case.get("outputs_onednn1", {})
        variants.append((attrs | {"onednn": True}, looked_up(other, path)))
    for variant, wanted in variants:
        got = call(inputs, variant)
        assert wanted, f"{case['id']} expects nothing"
        for key, want in wanted.items():
            same(got[key], want, f"{case['id']} {key}", TOLERANCE.get((system, name, key)))


@pytest.mark.long
@pytest.mark.parametrize(("system", "name"), list(sets()))
def test_golden(system, name):
    """All cases of a set. The error names those that fail, and shows what happened in the first of them."""
    found, failed = cases(ROOT / system / name), {}
    assert found, f"no golden cases in {ROOT / system / name}"
    for case in found:
        try:
            compare(system, name, case)
        except (Exception, pytest.fail.Exception) as error:  # the latter is what pytest.raises raises
            failed[case["id"]] = error
    if failed:
        shown = [*failed.values()][:5]
        raise BaseExceptionGroup(f"{len(failed)} of {len(found)} cases: {', '.join(failed)}", shown)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The value of the smallest subnormal")
@pytest.mark.parametrize("system", SYSTEMS)
def test_golden_where_subnormal_numbers_become_0(system):
    """As a host may set it: the first case of each set, and every seventh."""
    for of, name in sets():
        for case in cases(ROOT / of / name)[::7] if of == system else ():
            with flushing():
                assert host.flushes()
                compare(system, name, case)


def test_no_file_is_missing():
    assert {folder.name: found for folder in ROOT.glob("*/") if (found := missing(folder))} == {}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_adaptor_has_golden_vectors(system):
    module = import_module(f"adaptors.{system}")
    files = [file for file in (OWN / system).glob("*.json") if not file.name.endswith(".rejects.json")]
    found = {file.stem for file in files} | {case.get("op") for file in files for case in cases(file.with_suffix(""))}
    assert {*module.ADAPTORS, *getattr(module, "SESSIONS", {})} <= found


def strings(values):
    """The strings among the values of a JSON file."""
    if isinstance(values, str):
        return {values}
    parts = values.values() if isinstance(values, dict) else values if isinstance(values, list) else ()
    return set().union(*map(strings, parts))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_golden_file_and_array_is_used(system):
    """Each file has cases, each case an adaptor, and each array belongs to a case."""
    sessions, used = getattr(import_module(f"adaptors.{system}"), "SESSIONS", {}), {}
    for file in sorted((OWN / system).glob("*.json")):
        found = cases(file.with_suffix(""))
        assert found, file.name
        assert all(file.stem in sessions or adaptor(system, file.stem, case) for case in found), file.name
        used[stem(file)] = used.get(stem(file), set()) | strings(found)
    for name, words in used.items():
        assert arrays(OWN / system / name).keys() <= words, name
    assert {file.stem for file in (OWN / system).glob("*.npz")} == {*used}
