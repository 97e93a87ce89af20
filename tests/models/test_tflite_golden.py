"""Every golden TFLite case as a model file of one operator: what is read of it gives each system's bits."""

import pytest
import tflite_models
from tflite_models import GOLDEN, SYSTEMS

from qops.models import load
from qops.models.tflite_file import read_tflite


@pytest.mark.long
@pytest.mark.parametrize("kind", tflite_models.kinds())
def test_files_of_golden_cases_give_the_bits_of_each_system(kind, tmp_path, monkeypatch):
    """What is read of a file is the same for each system, so each file is read once. No system may change it."""
    cases, arrays = tflite_models.cases(kind)
    for case in cases:
        content, inputs = tflite_models.model(case, arrays)
        file = tmp_path / "case.tflite"
        file.write_bytes(content)
        found = read_tflite(file)
        monkeypatch.setitem(load.__globals__, "read_tflite", lambda path, found=found: found)
        ran = [system for system in SYSTEMS if system in case["systems"]]
        assert ran, case["id"]
        for system in ran:
            want = tflite_models.wanted(case, arrays, system)
            (got,) = load(file, runtime=SYSTEMS[system]).run(inputs).values()
            assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{case['id']}, {system}"
            assert got.tobytes() == want.tobytes(), f"{case['id']}, {system}"


@pytest.mark.parametrize("kind", sorted(path.name.split(".")[0] for path in GOLDEN.glob("*.rejects.json")))
def test_files_that_a_system_refuses_are_refused(kind, tmp_path):
    """By the reader, or by the first run, with one error that is short enough to read."""
    cases, arrays = tflite_models.rejects(kind)
    for case in cases:
        content, inputs = tflite_models.model(case, arrays)
        file = tmp_path / "case.tflite"
        file.write_bytes(content)
        for system in case["error"]:
            with pytest.raises(ValueError, match=r"^case\.tflite: ") as caught:
                load(file, runtime=SYSTEMS[system]).run(inputs)
            assert len(str(caught.value)) < 400, case["id"]
