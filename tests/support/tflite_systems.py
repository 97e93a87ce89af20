"""The interpreters that run .tflite models: LiteRT with each of its sets of kernels, and TFLite Micro."""

import numpy as np

ARENA = 1 << 22
"""Bytes that TFLite Micro may use; by itself it takes ten times the size of the file, which small models go beyond."""


def litert(content, inputs, kernel):
    """The arrays that LiteRT makes of the bytes of a model and arrays by the names of its inputs."""
    made = _litert(content, kernel)
    for detail in made.get_input_details():
        made.set_tensor(detail["index"], inputs[detail["name"]])
    made.invoke()
    return [made.get_tensor(detail["index"]) for detail in made.get_output_details()]


def _litert(content, kernel):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolvers = {
        "reference": OpResolverType.BUILTIN_REF,
        "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        "xnnpack": OpResolverType.AUTO,
    }
    how = resolvers[kernel.partition("_")[0]]  # without the kind of CPU
    made = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=how)
    made.allocate_tensors()
    return made


def tflm(content, inputs):
    """The same of TFLite Micro, to which inputs have no names: they come in the order of the model."""
    from tflite_micro.python.tflite_micro.runtime import Interpreter

    made = Interpreter.from_bytes(content, arena_size=ARENA)
    for i, x in enumerate(inputs.values()):
        made.set_input(np.ascontiguousarray(x), i)
    made.invoke()
    return [made.get_output(i) for i in range(_count(content))]


def run_steps(content, steps, kernel):
    """The only result of a model with one input, of calls that follow each other."""
    if kernel == "tflm":
        from tflite_micro.python.tflite_micro.runtime import Interpreter

        made = Interpreter.from_bytes(content, arena_size=ARENA)
        return [(made.set_input(np.ascontiguousarray(x), 0), made.invoke(), made.get_output(0))[2] for x in steps]
    made = _litert(content, kernel)
    (x,), (y,) = made.get_input_details(), made.get_output_details()
    results = []
    for step in steps:
        made.set_tensor(x["index"], step)
        made.invoke()
        results.append(made.get_tensor(y["index"]))
    return results


def run(content, inputs, kernel):
    """What the system gives whose kernels qops.tflite calls so."""
    return tflm(content, inputs) if kernel == "tflm" else litert(content, inputs, kernel)


def _count(content):
    """How many results a model has."""
    import tflite

    return tflite.Model.GetRootAs(content).Subgraphs(0).OutputsLength()
