"""torch: quantized tensors on its engines, beside the rules named after them."""

from functools import partial

import numpy as np
from cpu import COLUMN
from draws import (
    TYPES,
    Known,
    codes,
    length,
    moves,
    of_rule,
    operands,
    pick,
    quantized,
    result_scale,
    scale,
    values,
    zero_point,
)
from elsewhere import call

from qops import rules

VERSION, ENGINES, CAPABILITY, HAS_AMX = call("system_torch", "facts")
LINEAR = {"x86": "torch-fbgemm", "fbgemm": "torch-fbgemm", "onednn": "torch-onednn", "qnnpack": "torch-qnnpack"}
CONVOLUTION = LINEAR | dict.fromkeys(("x86", "onednn"), "torch-onednn-conv")  # x86 gives them to oneDNN
SUMS = {"x86": "x86-vnni", "fbgemm": "fbgemm-vnni", "onednn": "exact", "qnnpack": "exact"}
if COLUMN == "ort_avx2":
    LINEAR |= {"onednn": "torch-onednn-amx"}
    CONVOLUTION = LINEAR | {"onednn": "torch-onednn-conv-amx"}
    SUMS = {"x86": "fbgemm-avx2", "fbgemm": "fbgemm-avx2", "onednn": "onednn-avx2", "qnnpack": "exact"}
IS_ARM = COLUMN.endswith(("_arm", "_neon"))
if IS_ARM:
    LINEAR = {"onednn": "torch-acl", "qnnpack": "torch-qnnpack-arm"}
    CONVOLUTION = LINEAR | {"onednn": "torch-onednn-conv"}
    SUMS = dict.fromkeys(LINEAR, "exact")
AMX = "where oneDNN uses AMX, it multiplies by in_scale * w_scale: the rows torch-onednn-amx, torch-onednn-conv-amx"
NEWER = tuple(map(int, VERSION.split(".")[:2])) >= (2, 14)
ADD, QUANTIZE = ("torch-2.14", "inv-even-wraps") if NEWER else ("torch", "fma-zp-inside")
ADDS = {"x86": ADD, "fbgemm": ADD, "onednn": ADD, "qnnpack": "torch-qnnpack"}
OF_WIDTH = {"AVX512": "torch-nhwc", "AVX2": "torch-nhwc-avx2"}
NCHW = "torch-nchw"
NHWC = "torch-2.14-nhwc" if NEWER else OF_WIDTH.get(CAPABILITY, "torch-nchw")
if IS_ARM:
    QUANTIZE, NCHW, NHWC = "torch-arm", "torch-arm-nchw", "torch-2.14-nhwc"


def on_arm(op, engine, dtype, given):
    """The rule of a sum or product on ARM, by the type and the ratios of scales."""
    sa, sb, sy = (np.float32(given[f"{x}_scale"]) for x in "aby")
    if op == "mul":
        is_fixed = dtype is np.int8 and 2.0**-16 <= sa * sb / sy < 2.0**8
        return "rndnu" if is_fixed else "torch-tail"
    is_small = max(sa, sb) / sy < 2.0**8
    if engine == "qnnpack":
        return "qnnpack" if dtype is np.uint8 else "xnnpack" if is_small else "xnnpack-left"
    return "xnnpack" if is_small else "torch-acl"


def on(function, engine, *arguments):
    """A function that calls this one of torch on this engine."""
    return lambda: call("system_torch", function, engine, *arguments)


def quantize(rng):
    n, dtype, s = length(rng), pick(rng, TYPES), scale(rng)
    x, z = values(rng, n, s), zero_point(rng, dtype)
    real = on("quantize", ENGINES[0], x, s, z, dtype)
    given = {"scale": s, "zero_point": z}
    return of_rule(real, lambda: rules.quantize(x, QUANTIZE, dtype=dtype, **given), {"x": x, **given})


def elementwise(engine, op, rule, kind, rng):
    n, dtype = length(rng), np.uint8 if engine == "qnnpack" and not IS_ARM else pick(rng, TYPES)
    a, b, given = operands(rng, n, dtype, op == "mul")
    sa, za, sb, zb, sy, zy = given.values()
    kind = on_arm(op, engine, dtype, given) if IS_ARM else kind
    real = on("elementwise", engine, op, (a, sa, za), (b, sb, zb), sy, zy)
    made = of_rule(real, lambda: rule(a, b, kind, **given), {"a": a, "b": b, **given})
    return made._replace(unmodelled=r"torch shifts int32 by \d+ bits")


def layer(rng):
    """The scales and zero points of a layer, x and y of uint8, and what makes codes of its sums by a rule."""
    (sx, zx), sw, zy = (scale(rng), zero_point(rng, np.uint8)), scale(rng), zero_point(rng, np.uint8)
    sy = result_scale(rng, sx, sw)

    def coded(sums, rule):
        return rules.requantize(sums, rule, scales=(sx, sw, sy), zero_point=zy, dtype="uint8")

    return {"sx": sx, "zx": zx, "sw": sw, "sy": sy, "zy": zy}, coded


def of_layer(rule, real, sums, coded, arguments):
    """A layer and its rule; oneDNN does not tell whether it uses AMX for it."""
    known = Known(AMX, lambda theirs, _: np.array_equal(theirs[0], coded(sums(), f"{rule}-amx")))
    known = known if HAS_AMX and f"{rule}-amx" in rules.TABLE else None
    return of_rule(real, lambda: coded(sums(), rule), arguments)._replace(known=known)


def linear(engine, rng):
    given, coded = layer(rng)
    m, k, n = (length(rng, 65) for _ in "mkn")
    x, w = codes(rng, (m, k), np.uint8, given["zx"]), codes(rng, (n, k), np.int8, 0)
    both = (x, given["sx"], given["zx"]), (w, given["sw"], 0)
    real = on("linear", engine, *both, given["sy"], given["zy"])
    sums = partial(rules.accumulate, x, w.T, x_zero_point=given["zx"], rule=SUMS[engine], dtype="int32")
    return of_layer(LINEAR[engine], real, sums, coded, {"x": x, "w": w, **given})


def convolution(engine, rng):
    given, coded = layer(rng)
    group, channels, out = pick(rng, [(1, 3, 5), (1, 16, 16), (8, 8, 8), (2, 4, 6), (3, 9, 9), (2, 8, 16)])
    taps, steps, pads = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(2))
    x = codes(rng, (1, channels, int(rng.integers(3, 9)), int(rng.integers(3, 9))), np.uint8, given["zx"])
    w = codes(rng, (out, channels // group, taps, taps), np.int8, 0)
    both, how = ((x, given["sx"], given["zx"]), (w, given["sw"], 0)), ([steps] * 2, [pads] * 2, [1, 1], group)
    real = on("convolution", engine, *both, how, given["sy"], given["zy"])
    how = {"strides": [steps] * 2, "pads": [pads] * 4, "groups": group, "rule": SUMS[engine]}
    sums = partial(rules.accumulate_conv, x, w, x_zero_point=given["zx"], **how, dtype="int32")
    rule = CONVOLUTION[engine]
    if rule == "torch-onednn-conv-amx" and 1 < group < channels and (channels // group % 4 or out // group % 4):
        rule = "torch-onednn-groups"
    return of_layer(rule, real, sums, coded, {"x": x, "w": w, **given, **how})


def average_pool(engine, is_nhwc, rng):
    dtype, kernel = np.uint8 if engine == "qnnpack" else pick(rng, TYPES), (int(rng.integers(1, 4)), length(rng, 14))
    shape = (1, kernel[0] + int(rng.integers(3)), kernel[1] + int(rng.integers(3)), length(rng, 40))
    (x, s, z), (stride, pads) = quantized(rng, shape, dtype), moves(rng, kernel, symmetric=True)
    counts = engine == "qnnpack" or bool(rng.integers(2))  # which counts padding, whatever it is told
    real = on("average_pool", engine, (x, s, z), is_nhwc, kernel, stride, pads[:2], counts)
    given = {"kernel": kernel, "stride": tuple(stride), "padding": tuple(pads[:2]), "count_padding": counts}
    given |= {"zero_point": z, "x_scale": s}
    kind = "torch-qnnpack" if engine == "qnnpack" else NHWC if is_nhwc or shape[3] == 1 else NCHW
    return of_rule(real, lambda: rules.average_pool(x, kind, **given), {"x": x, **given})


OPS = {"quantize_per_tensor": quantize}
for name in ENGINES:
    OPS |= {
        f"add, {name}": partial(elementwise, name, "add", rules.add, ADDS[name]),
        f"mul, {name}": partial(elementwise, name, "mul", rules.mul, "torch"),
        f"linear, {name}": partial(linear, name),
        f"conv2d, {name}": partial(convolution, name),
        f"avg_pool2d, {name}": partial(average_pool, name, False),
        f"avg_pool2d of channels_last, {name}": partial(average_pool, name, True),
    }
