"""Every golden TFLite case as a model file of one operator: what is read of it gives each system's bits."""

import numpy as np
import pytest
import tflite_models
from tflite_models import GOLDEN, SYSTEMS

from qops.models import load
from qops.models.tflite.file import read_tflite
from qops.models.tflite.graph import load_tflite
from qops.models.tflite.kinds import KINDS

FAR = {
    **{"AVERAGE_POOL_2D": 9, "BATCH_MATMUL": 1, "CONV_2D": 23, "DEPTHWISE_CONV_2D": 15, "EXP": 14, "LOG": 8},
    **{"LOG_SOFTMAX": 1, "MAX_POOL_2D": 3, "MUL": 1, "NEG": 30, "QUANTIZE": 9, "REDUCE_MAX": 17, "REDUCE_MIN": 1},
    **{"RESIZE_BILINEAR": 6, "RSQRT": 7, "SOFTMAX": 13, "SQUARED_DIFFERENCE": 6, "SUM": 33, "TANH": 9},
    **{"FULLY_CONNECTED": 12, "TRANSPOSE_CONV": 6},
}
"""Cases whose codes are not those of real numbers: sums or codes wrap, scales that the kernel does not read, tables."""


def is_far(graph, inputs, codes):
    """Whether a result in real numbers, cut to the range of its type, is more than 1.25 steps from one of its codes."""
    (result,) = (graph.tensors[name] for name in graph.outputs)
    (real,) = graph.real({name: graph.tensors[name].values(x) for name, x in inputs.items()}).values()
    assert real.shape == codes.shape
    if result.scale is None:
        return not np.allclose(real, codes, rtol=1e-6, atol=0)
    ends = (result.values(np.array(end)) for end in (np.iinfo(codes.dtype).min, np.iinfo(codes.dtype).max))
    return not np.all(np.abs(np.clip(real, *ends) - result.values(codes)) < 1.25 * result.scale)


@pytest.mark.long
@pytest.mark.parametrize("kind", tflite_models.kinds())
def test_files_of_golden_cases_give_the_bits_of_each_system(kind, tmp_path, monkeypatch):
    """What is read of a file is the same for each system, so each file is read once. No system may change it.

    In real numbers, which come from the same file, most results are those of the first system but for its rounding.
    """
    far = 0
    cases, arrays = tflite_models.cases(kind)
    for case in cases:
        content, inputs = tflite_models.model(case, arrays)
        file = tmp_path / "case.tflite"
        file.write_bytes(content)
        found = read_tflite(file)
        monkeypatch.setitem(load_tflite.__globals__, "read_tflite", lambda path, found=found: found)
        ran = [system for system in SYSTEMS if system in case["systems"]]
        assert ran, case["id"]
        for system in ran:
            want = tflite_models.wanted(case, arrays, system)
            graph = load(file, runtime=SYSTEMS[system])
            (got,) = graph.run(inputs).values()
            assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{case['id']}, {system}"
            assert got.tobytes() == want.tobytes(), f"{case['id']}, {system}"
            if system == ran[0] and KINDS[kind].real:
                far += is_far(graph, inputs, want)
    assert far == FAR.get(kind, 0)


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
