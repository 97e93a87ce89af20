"""The golden cases of x86 without VNNI in the words of `qops`: arguments are renamed, nothing else."""

from adaptors import onnx_runtimes, torch_runtimes
from adaptors.rules import TYPES, pair, quantize

from qops import rules


def elementwise(i, attrs):
    rule = attrs["rule"].rpartition("/")[2]
    if attrs["op"] == "quantize":
        return quantize(i, attrs | {"rule": "fma-zp-inside"})
    if attrs["op"] == "quantize_pc":
        how = {"scale": i["scale"], "zero_point": i["zero_point"], "axis": attrs["axis"]}
        return {"y": rules.quantize(i["x"], "inv-even-zp-inside", dtype=TYPES[attrs["dtype"]], **how)}
    return pair(getattr(rules, attrs["op"]))(i, attrs | {"rule": rule})


ADAPTORS = {"torch_avx2_elementwise": elementwise, **onnx_runtimes.AVX2, **torch_runtimes.AVX2}
VNNI = "_vnni"
"""What the names of outputs end with that a CPU with VNNI gave, if they are others."""
