"""The rules of the sum and the product of two tensors of codes: `ADD` and `MUL`."""

from qops.rules.operands import BinaryRule

__all__ = ["ADD", "MUL"]

ADD = {
    "tflite-double": BinaryRule(
        "MBQM((a << 20), ma) + MBQM((b << 20), mb), then MBQM(sum, my) + z; int16: << 15; MBQM by tflite-double",
        "LiteRT 2.3 reference; CMSIS-NN 99f736a; TFLM 90b983c; ExecuTorch 1.5.1 Cortex-M eager ops",
        "shifted",
        "tflite-double",
        derived="twice the larger scale",
        takes_int16=True,
    ),
    "tflite-single": BinaryRule(
        "the same, MBQM by tflite-single",
        "CMSIS-NN 99f736a and TFLM 90b983c built with single rounding",
        "shifted",
        "tflite-single",
        derived="twice the larger scale",
        takes_int16=True,
    ),
    "tflite-opt-s8": BinaryRule(
        "SRDHM(a << (20 + ea), ma) + SRDHM(b << (20 + eb), mb), then as tflite-double; with z it wraps in 16 bits",
        "LiteRT 2.3 optimised, s8",
        "shifted, optimised s8",
        "tflite-double",
        derived="twice the larger scale",
        width=16,
        tail="tflite-double",
    ),
    "tflite-opt-u8": BinaryRule(
        "(SRDHM(a << 20, ma) >> -ea) + (SRDHM(b << 20, mb) >> -eb), then as tflite-double; with z it wraps in 16 bits",
        "LiteRT 2.3 optimised, u8",
        "shifted, optimised u8",
        "tflite-double",
        derived="twice the larger scale",
        width=8,
        tail="tflite-double",
    ),
    "xnnpack": BinaryRule(
        "(a * ma + b * mb + 2**(n-1)) >> n, 21 bits",
        "XNNPACK 75db3c0, so LiteRT 2.3 by default, on x86 and 64-bit ARM; torch 2.10 on 64-bit ARM, engine onednn, "
        "and of int8 qnnpack",
        "ratios",
        "rndnu",
        derived="ratios of 21 bits",
    ),
    "qnnpack": BinaryRule(
        "the same with 22 bits, half away",
        "QNNPACK 7d2a4e9; onnxruntime 1.32 QLinearAdd on 64-bit ARM within its ratios of scales; torch 2.10 on 64-bit "
        "ARM, engine qnnpack, uint8",
        "ratios",
        "rndna",
        derived="ratios of 22 bits",
    ),
    "torch-qnnpack": BinaryRule(
        "the same as qnnpack; ra and rb may not both be below 2**-10",
        "torch 2.13 and 2.14, engine qnnpack",
        "ratios",
        "rndna",
        derived="ratios of 22 bits, shift in C",
    ),
    "ort-x86": BinaryRule(
        "rint(fma(a, ra, fma(b, rb, z - (ra * za + rb * zb)))), a and b with their zero points",
        "onnxruntime 1.31 and 1.32 QLinearAdd, AVX2 and AVX-512",
        "ort",
        beyond="lowest",
    ),
    "torch": BinaryRule(
        "rint((a * sa + b * sb) * (1 / sy)) + z in float32",
        "torch 2.13 on AVX2 and AVX-512, engines fbgemm, x86 and onednn",
        "torch",
        width=64,
        tail="torch-tail",
        beyond="cut, wraps",
    ),
    "torch-tail": BinaryRule(
        "rint((a * sa + b * sb) * (1 / sy) + z) in float32", "torch 2.13, the last n % 64 elements", "torch tail"
    ),
    "torch-2.14": BinaryRule(
        "as torch",
        "torch 2.12 and 2.14 on AVX2 and AVX-512, engines fbgemm, x86 and onednn",
        "torch",
        width=64,
        tail="torch-2.14-tail",
        beyond="cut, wraps",
    ),
    "torch-2.14-tail": BinaryRule(
        "rint((a * sa + b * sb) * (1 / sy)) + z in float32",
        "torch 2.12 and 2.14, the last n % 64 elements; ExecuTorch 1.5.1 add.out, uint8",
        "torch tail, outside",
    ),
    "ort-arm-float": BinaryRule(
        "rint(fma(a, sa, sb * b) / sy + z) in float32",
        "onnxruntime 1.32 QLinearAdd on 64-bit ARM where a ratio of scales is out of the range of qnnpack",
        "numpy, divided sum",
    ),
    "torch-acl": BinaryRule(
        "rint(a * ra + (b * rb + o)), o = fma(-rb, zb, z - ra * za), a and b with their zero points, in float32",
        "torch 2.10 on 64-bit ARM, engine onednn, where a ratio of scales is 2**8 or more",
        "numpy, sum with an offset",
        width=16,
        tail="torch-acl-tail",
    ),
    "torch-acl-tail": BinaryRule(
        "as torch-acl, of which int32 has the low 32 bits",
        "torch 2.10, the last n % 16 elements of torch-acl",
        "numpy, sum with an offset",
        beyond="low bits",
    ),
    "xnnpack-left": BinaryRule(
        "as xnnpack, for ratios of scales from 2**8 on: (a * ma + b * mb) << -n, which wraps, where n is below 0",
        "torch 2.10 on 64-bit ARM, engine qnnpack, int8, where a ratio of scales is 2**8 or more",
        "numpy, sum that shifts left",
    ),
    "cadence": BinaryRule(
        "rint((a * sa + b * sb) * float32(1 / sy)) + z in float32, 1 / sy in double",
        "ExecuTorch 1.5.1 cadence reference add",
        "numpy, real sum",
    ),
}
"""Rules of the sum of two tensors, by name."""

MUL = {
    "tflite-double": BinaryRule(
        "tflite-double of a * b, scale f32",
        "LiteRT 2.3 reference",
        "product",
        "tflite-double",
        "f32",
        "real scale",
        takes_int16=True,
    ),
    "tflite-opt-s8": BinaryRule(
        "as tflite-double, cut to 16 bits, in which it wraps where z is added",
        "LiteRT 2.3 optimised, s8",
        "product in 16 bits",
        "tflite-double",
        "f32",
        "real scale",
        16,
        "tflite-double",
    ),
    "tflite-opt-u8": BinaryRule(
        "the same",
        "LiteRT 2.3 optimised, u8",
        "product in 16 bits",
        "tflite-double",
        "f32",
        "real scale",
        8,
        "tflite-double",
    ),
    "tflm-double": BinaryRule(
        "tflite-double of a * b, scale double",
        "TFLM 90b983c; CMSIS-NN 99f736a; ExecuTorch 1.5.1 Cortex-M eager ops",
        "product",
        "tflite-double",
        "double",
        "real scale",
        takes_int16=True,
    ),
    "tflite-single": BinaryRule(
        "tflite-single of a * b, scale double",
        "CMSIS-NN 99f736a and TFLM 90b983c built with single rounding",
        "product",
        "tflite-single",
        "double",
        "real scale",
        takes_int16=True,
    ),
    "fp32-even": BinaryRule(
        "fp32-even of a * b, scale f32",
        "XNNPACK 75db3c0 on x86, so LiteRT 2.3 by default",
        "float product",
        "fp32-even",
        "f32",
    ),
    "rndnu": BinaryRule(
        "rndnu of a * b, scale f32",
        "LiteRT 2.3 by default on 64-bit ARM; torch 2.10 on 64-bit ARM, int8",
        "product",
        "rndnu",
        "f32",
        "real scale",
    ),
    "ort-x86": BinaryRule(
        "fp32-even-zp-inside of a * b, scale f32",
        "onnxruntime 1.31 and 1.32 QLinearMul",
        "float product",
        "fp32-even-zp-inside",
        "f32",
        beyond="lowest",
    ),
    "torch": BinaryRule(
        "fp32-even of a * b, scale f32-reciprocal",
        "torch 2.13 and 2.14 on AVX2 and AVX-512, every engine",
        "float product",
        "fp32-even",
        "f32-reciprocal",
        width=64,
        tail="torch-tail",
        beyond="lowest, wraps",
    ),
    "torch-tail": BinaryRule(
        "as torch; only results beyond int32 differ",
        "torch 2.13 and 2.14, the last n % 64 elements; torch 2.10 on 64-bit ARM, uint8",
        "float product",
        "fp32-even",
        "f32-reciprocal",
    ),
    "ort-arm": BinaryRule(
        "rint(fma(a * b, s, z)), scale f32",
        "onnxruntime 1.32 QLinearMul on 64-bit ARM",
        "numpy, fused product",
    ),
    "cadence": BinaryRule(
        "rint((a * sa) * (b * sb) * float32(1 / sy)) + z in float32, 1 / sy in double",
        "ExecuTorch 1.5.1 cadence reference mul",
        "numpy, real product",
    ),
}
"""Rules of the product of two tensors, by name."""
