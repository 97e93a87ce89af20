"""What onnxruntime makes of models, on the CPU of this process; no other module of this repository is needed."""

import onnxruntime as ort

__all__ = ["run", "version"]


def version():
    """The version of the package."""
    return ort.__version__


def run(content, feeds, optimised=True):
    """All results of a model, for each of these data by name; without names they are of the model's only input."""
    levels = ort.GraphOptimizationLevel
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return [y for fed in feeds for y in session.run(None, fed)]
