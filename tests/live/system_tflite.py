"""What LiteRT, with each of its sets of kernels, and TFLite Micro make of the bytes of a .tflite model.

It runs on the CPU of this process; no other module of this repository is needed.
"""

import numpy as np

__all__ = ["run", "version"]

ARENA = 1 << 22
"""Bytes that TFLite Micro may use; by itself it takes ten times the size of the file, which small models go beyond."""


def version():
    """The version of LiteRT."""
    import ai_edge_litert

    return ai_edge_litert.__version__


def run(content, feeds, kernel):
    """All results of these calls, whose data have names; `kernel` is what qops.tflite calls the kernels.

    The calls follow each other: what a model keeps from one to the next is kept.
    """
    run_one = tflm(content) if kernel == "tflm" else litert(content, kernel)
    return [y for fed in feeds for y in run_one(fed)]


def litert(content, kernel):
    """A function that LiteRT calculates."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolvers = {
        "reference": OpResolverType.BUILTIN_REF,
        "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        "xnnpack": OpResolverType.AUTO,
    }
    how = resolvers[kernel.partition("_")[0]]  # without the kind of CPU
    made = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=how)
    made.allocate_tensors()
    inputs = {detail["name"]: detail["index"] for detail in made.get_input_details()}
    results = [detail["index"] for detail in made.get_output_details()]

    def run_one(fed):
        for name, index in inputs.items():
            made.set_tensor(index, fed[name])
        made.invoke()
        return [made.get_tensor(index) for index in results]

    return run_one


def tflm(content):
    """The same of TFLite Micro, to which inputs have no names: they come in the order of the model."""
    import tflite
    from tflite_micro.python.tflite_micro.runtime import Interpreter

    made = Interpreter.from_bytes(content, arena_size=ARENA)
    count = tflite.Model.GetRootAs(content).Subgraphs(0).OutputsLength()

    def run_one(fed):
        for i, x in enumerate(fed.values()):
            made.set_input(np.ascontiguousarray(x), i)
        made.invoke()
        return [made.get_output(i) for i in range(count)]

    return run_one
