"""The golden cases of LiteRT on 64-bit ARM, and of x86 beside it, in the words of `qops.tflite`."""

from adaptors import tflite
from adaptors.tflite import ADAPTORS as CALLS

ADAPTORS = {
    name: call
    for name, call in CALLS.items()
    if name not in ("MAXIMUM", "MAX_POOL_2D", "MINIMUM", "NEG", "PAD", "PADV2", "REDUCE_MAX", "REDUCE_MIN")
    if name not in ("RELU_0_TO_1", "RELU_N1_TO_1", "RESIZE_NEAREST_NEIGHBOR", "SVDF")
}
"""The ops that have cases of their own; what ARM makes of the others is in the cases of x86."""
KERNELS, asked, refusal = tflite.KERNELS, tflite.asked, tflite.refusal


def expected(case):
    """The kernel libraries that ran, and what each gave: ARM what x86 gave if nothing else is recorded."""
    yield from tflite.expected(case)
    for system in case["systems_arm"]:
        x86 = case.get(f"outputs{tflite.SUFFIXES[system]}", case["outputs"])
        arm = case.get(f"outputs{tflite.SUFFIXES[system]}_arm", x86)
        yield f"{tflite.KERNELS[system]}_arm", arm
        if system != "ref":
            yield f"{tflite.KERNELS[system]}_neon", case.get(f"outputs{tflite.SUFFIXES[system]}_neon", arm)
