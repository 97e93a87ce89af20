"""TFLite_Detection_PostProcess, as files of one operator that real systems ran.

``detection.npz`` holds 24 files (seeded draws: floats and uint8, both ways of suppression, ties of scores), what they
were given, how many classes a box has, and what LiteRT 2.3.0 and TFLite Micro 0.dev20261023 set of their four results.
"""

from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

from qops import models
from qops.models import Operator, Tensor, tflite_bytes

HELD = np.load(Path(__file__).with_name("detection.npz"))
NAMES = sorted({key.split("/")[0] for key in HELD.files})


@pytest.mark.parametrize("system", ["ref", "tflm"])
@pytest.mark.parametrize("name", NAMES)
def test_files_give_what_each_system_sets(tmp_path, name, system):
    """Bit for bit; TFLite Micro, which does not take all files, has all classes of a box one behind the other."""
    path = tmp_path / "m.tflite"
    path.write_bytes(HELD[f"{name}/file"].tobytes())
    given = {key.split("/")[2]: HELD[key] for key in HELD.files if key.startswith(f"{name}/in/")}
    runtime = "tflm" if system == "tflm" else "reference"
    if f"{name}/out/{system}/0" not in HELD.files:  # what TFLite Micro refuses, or would spoil its memory with
        with pytest.raises(ValueError, match=r"is uint8|writes beyond its results"):
            models.load(path, runtime=runtime)
        return
    *parts, count = models.load(path, runtime=runtime).run(given).values()
    each, classes = (1, 1) if system == "tflm" else HELD[f"{name}/each"].tolist()
    places = [i for i in range(int(count[0]) * each) if i % each < classes]
    for i, part in enumerate([*(part[0][places] for part in parts), count]):
        assert part.tobytes() == HELD[f"{name}/out/{system}/{i}"].tobytes()
    assert not any(np.delete(part[0], places, 0).any() for part in parts)


OPTIONS = {
    **{"max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.1},
    **{"nms_iou_threshold": 0.5, "y_scale": 1.0, "x_scale": 1.0, "h_scale": 1.0, "w_scale": 1.0},
}


def detector(path, boxes=((0, 0, 0, 0), (0, 0, 0, 0), (1, 0, 0, 0)), count=3, raw=None, height=0.2, **options):
    anchors = Tensor("anchors", (3, 4), "float32", data=np.float32([[0.5, 0.5, height, 0.2]] * 3))
    x, scores = Tensor("boxes", (1, count, 4), "float32"), Tensor("scores", (1, count, 3), "float32")
    results = [Tensor(f"y{i}", shape, "float32") for i, shape in enumerate([(1, 3, 4), (1, 3), (1, 3), (1,)])]
    held = flexbuffers.Dumps({**OPTIONS, **options}) if raw is None else raw
    one = Operator("TFLite_Detection_PostProcess", [x, scores, anchors], results, {"CustomOptions": bytes(held)}, [])
    path.write_bytes(tflite_bytes([x, scores, anchors, *results], [one], [x, scores], results))
    graph = models.load(path)
    return graph, {"boxes": np.float32([boxes]), "scores": np.float32([[[9, 0.2, 0.4], [9, 0.9, 0.3], [9, 0, 0.2]]])}


def test_boxes_by_hand(tmp_path):
    """The first box is that of the second, which has a higher score; the background stands before the classes."""
    graph, given = detector(tmp_path / "m.tflite")
    boxes, classes, scores, count = graph.run(given).values()
    assert (count.tolist(), classes[0].tolist(), scores[0].tolist()) == ([2], [0, 1, 0], [*np.float32([0.9, 0.2]), 0])
    np.testing.assert_allclose(boxes[0], [[0.4, 0.4, 0.6, 0.6], [0.6, 0.4, 0.8, 0.6], [0] * 4], rtol=1e-6)


def test_what_it_refuses(tmp_path):
    path = tmp_path / "m.tflite"
    for options, said in (
        ({"raw": b"no map"}, "its options are no map"),
        ({"max_detections": 0}, "its options are "),
        ({"nms_iou_threshold": 1.5}, "its options are "),
        ({"max_detections": 2**30}, "its options are "),
        ({"num_classes": 5}, "for 5 classes"),
        ({"count": 2}, "which do not fit"),
    ):
        with pytest.raises(ValueError, match=said):
            detector(path, **options)
    graph, given = detector(path)
    given["scores"][0, 0, 1] = np.nan
    with pytest.raises(ValueError, match="its scores hold a NaN"):
        graph.run(given)
    graph, given = detector(path, height=-0.2)
    with pytest.raises(ValueError, match="box 0 ends before it begins"):
        graph.run(given)
