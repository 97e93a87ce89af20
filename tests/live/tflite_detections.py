"""Random models of TFLite_Detection_PostProcess: boxes around anchors, with ties among scores."""

import numpy as np
from draws import pick
from flatbuffers import flexbuffers

from qops.models import Operator, tflite_bytes


def options(given):
    """The bytes of a map."""
    made = flexbuffers.Builder()
    with made.Map():
        for name, value in given.items():
            made.Key(name)
            (made.Bool if isinstance(value, bool) else made.Int if isinstance(value, int) else made.Float)(value)
    return bytes(made.Finish())


def numbers(rng, classes):
    """The options of a detector, some of which may be left out."""
    most, each = int(rng.integers(1, 12)), int(pick(rng, [1, 1, 1, 2, 3]))
    made = {"max_detections": most, "max_classes_per_detection": each, "num_classes": classes}
    made |= {"nms_score_threshold": float(pick(rng, [0.0, 1e-8, 0.3, 0.5])), "nms_iou_threshold": rng.uniform(0.2, 1)}
    made |= {f"{axis}_scale": float(pick(rng, [1, 5, 10, 10])) for axis in "yxhw"}
    if rng.random() < 0.7:
        made |= {"use_regular_nms": bool(rng.integers(2)), "detections_per_class": int(rng.integers(1, 20))}
    return made


def detector(net):
    """The bytes of a model of one operator with floats, or with codes of uint8."""
    rng = net.rng
    count, classes, behind = int(rng.integers(1, 60)), int(rng.integers(1, 8)), int(rng.integers(2))
    is_coded = net.kernel != "tflm" and rng.random() < 0.5
    boxes = (rng.normal(0, 2, (1, count, 4 + int(rng.integers(2)))), 0.07, int(rng.integers(100, 156)))
    scores = rng.random((1, count, classes + behind))
    scores = np.round(scores * 8) / 8 if rng.random() < 0.5 else scores
    scores = (scores, 1 / 256, 0)
    anchors = (np.concatenate([rng.random((count, 2)), rng.uniform(0.05, 0.5, (count, 2))], 1), 1 / 128, 3)
    tensors = []
    for i, (values, s, z) in enumerate((boxes, scores, anchors)):
        x = values.astype(np.float32)
        x = np.clip(np.rint(x / s) + z, 0, 255).astype(np.uint8) if is_coded else x
        how = (np.float32(s), np.int64(z)) if is_coded else (None, 0)
        tensor = net.tensor(x.dtype.name, *how, shape=x.shape, data=x if i == 2 else None)
        if i < 2:
            net.fed[tensor.name] = x
        tensors.append(tensor)
    given = numbers(rng, classes)
    size = given["max_detections"] * given["max_classes_per_detection"]
    results = [net.tensor("float32", shape=shape) for shape in ((1, size, 4), (1, size), (1, size), (1,))]
    operator = Operator("TFLite_Detection_PostProcess", tensors, results, {"CustomOptions": options(given)}, [])
    return tflite_bytes(net.tensors, [operator], tensors[:2], results), given


def written(arrays, given, kernel):
    """The boxes, classes and scores that a detector has set, and how many: the rest is memory that nobody wrote."""
    count, each = int(arrays[3].ravel()[0]), 1
    if not given.get("use_regular_nms") and kernel != "tflm":
        each = given["max_classes_per_detection"]
    places = [i for i in range(count * each) if i % each < given["num_classes"]]
    return [*(x[0][places] for x in arrays[:3]), arrays[3].ravel()]
