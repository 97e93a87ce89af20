"""Every golden TFLite case as a model file of one operator: what is read of it gives each system's bits."""

import numpy as np
import pytest
import tflite_models
from tflite_models import GOLDEN, SYSTEMS

from qops.models import load

RAN = [
    (kind, key)
    for kind in tflite_models.kinds()
    for key in SYSTEMS
    if any(key in case["systems"] for case in tflite_models.cases(kind)[0])
]
"""Operators and systems that ran them."""


@pytest.mark.parametrize(("kind", "system"), RAN)
def test_files_of_golden_cases_give_the_bits_of_each_system(kind, system, tmp_path):
    cases, arrays = tflite_models.cases(kind)
    wanted = [(case, want) for case in cases if (want := tflite_models.wanted(case, arrays, system)) is not None]
    assert wanted
    for case, want in wanted:
        content, inputs = tflite_models.model(case, arrays)
        file = tmp_path / "case.tflite"
        file.write_bytes(content)
        (got,) = load(file, runtime=SYSTEMS[system]).run(inputs).values()
        assert got.dtype == want.dtype, case["id"]
        np.testing.assert_array_equal(got, want, err_msg=case["id"])


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
