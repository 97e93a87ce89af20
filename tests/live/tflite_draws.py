"""Random models of one operator or of a few, for the interpreters of .tflite files, beside the ops of qops."""

from functools import partial

import tflite_codes
import tflite_detections
import tflite_gaps
import tflite_hybrids
import tflite_layers
import tflite_states
from draws import Pair, pick
from elsewhere import call
from tflite_net import Net

from qops.tflite.types import TAKES, types_of

DRAWN = tflite_codes.DRAWN | tflite_layers.DRAWN
"""What draws an operator, by its name."""


UNDEFINED = {("SUM", "reference", "int16")}
"""What reads beyond its tensors."""


UNSET_LIMITS = r"AVERAGE_POOL_2D .*int32 does not hold \S+ in steps of"
"""Where LiteRT clamps to what lay in memory: other numbers in each process. qops refuses it."""


def is_drawn(kind, kernel, dtype):
    """Whether a kernel has an operator for a type, and computes with its tensors alone."""
    return dtype in TAKES[kind, kernel] and (kind, kernel.removesuffix("_arm"), dtype) not in UNDEFINED


def one(kind, kernel, rng):
    """A model of one operator."""
    every = types_of(kind) if rng.random() < 0.03 else TAKES[kind, kernel]
    dtype = str(pick(rng, [dtype for dtype in every if (kind, kernel.removesuffix("_arm"), dtype) not in UNDEFINED]))
    return compared(kernel, [DRAWN[kind]], Net(rng, kernel, dtype))


IMAGES = (
    *("CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "SUB", "MUL", "MAXIMUM", "AVERAGE_POOL_2D", "MAX_POOL_2D", "RELU"),
    *("RELU6", "LEAKY_RELU", "PRELU", "PAD", "HARD_SWISH", "LOGISTIC", "TANH", "TRANSPOSE_CONV", "CONCATENATION"),
    *("ABS", "RESIZE_BILINEAR"),
)
"""What the trunk of a graph is made of: operators of images, also of two results so far."""
ENDS = ("FULLY_CONNECTED", "SOFTMAX", "LOGISTIC", "MEAN", "SUM", "REDUCE_MAX", "MUL", "ADD", "L2_NORMALIZATION", "TANH")
"""What it may end with: operators of any shape."""


def few(kernel, rng):
    """A graph of one to six operators of images and up to three others, of one type, in which results may meet."""
    dtype = pick(rng, [t for t in ("int8", "int8", "int8", "int16", "uint8") if t in TAKES["CONV_2D", kernel]])
    net = Net(rng, kernel, dtype)
    net.x = net.image()
    net.results = [net.x]
    trunk, ends = ([kind for kind in kinds if is_drawn(kind, kernel, dtype)] for kinds in (IMAGES, ENDS))
    counts = (trunk, int(rng.integers(1, 7))), (ends, int(rng.integers(0, 4)))
    return compared(kernel, [DRAWN[pick(rng, kinds)] for kinds, count in counts for _ in range(count)], net)


def hybrid(kernel, rng):
    """A layer of float data and int8 weights."""
    return compared(kernel, [tflite_hybrids.hybrid], Net(rng, kernel, "float32"))


def detector(kernel, rng):
    """The operator behind detectors: what it has set of its four results."""
    net = Net(rng, kernel, "float32")
    content, given = tflite_detections.detector(net)
    return Pair(
        lambda: tflite_detections.written(call("system_tflite", "run", content, [net.fed], kernel), given, kernel),
        lambda: tflite_detections.written([*net.load(content, kernel).run(net.fed).values()], given, kernel),
        {**given, **net.described()},
        unmodelled="TFLite Micro writes beyond its results",
    )


def compared(kernel, drawers, net):
    """The pair of calls of the model that these drawers make.

    It ends where qops refuses, with a single number, or with codes of another type than its own: TFLite Micro would
    read those of int16 beside int8 as int8, where qops refuses them.
    """
    for i, draw in enumerate(drawers):
        draw(net)
        if i < len(drawers) - 1:
            try:
                net.shaped()
            except ValueError:
                break
            if not net.x.shape or net.x.dtype != net.dtype:
                break
    content = net.finished()

    def ours(feeds):
        session = net.load(content, kernel).session()
        return [y for fed in feeds for y in session(fed).values()]

    system = partial(call, "system_tflite", "run", content)
    return Pair(lambda feeds: system(feeds, kernel), ours, net.described(), unmodelled=UNSET_LIMITS, fed=net.fed)


def ops(kernels):
    """The rows of a table: each operator on each library of kernels that has it, and graphs of operators."""
    return {
        **{
            f"{kind} model, {kernel}": partial(one, kind, kernel)
            for kind in DRAWN
            for kernel in kernels
            if TAKES[kind, kernel]
        },
        **{f"graphs of a few ops, {kernel}": partial(few, kernel) for kernel in kernels},
        **{f"graphs with a gap, {kernel}": partial(tflite_gaps.around_a_gap, kernel) for kernel in kernels},
        **{f"variables over steps, {kernel}": partial(tflite_states.stream, kernel) for kernel in kernels},
        **{f"detectors, {kernel}": partial(detector, kernel) for kernel in kernels},
        **{
            f"hybrid layers, {kernel}": partial(hybrid, kernel)
            for kernel in kernels
            if kernel in tflite_hybrids.KERNELS
        },
    }
