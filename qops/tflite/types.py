"""Which types of codes each kernel library has of an op."""

__all__ = ["TAKES", "types_of"]

LITE, MICRO = ("reference", "optimized", "xnnpack"), ("tflm", "tflm_until_2026_06", "single_rounding")
ARM = {
    "reference_arm": "reference",
    "optimized_arm": "optimized",
    "optimized_neon": "optimized",
    "xnnpack_arm": "xnnpack",
    "xnnpack_neon": "xnnpack",
}
"""LiteRT's kernels on 64-bit ARM, and what they are on x86: the types of codes are the same."""
OF_CPUS = {"xnnpack_avx2": "xnnpack", **ARM}
"""LiteRT's kernels on CPUs other than x86 with AVX-512, and what they are there."""
LIBRARIES = (*LITE, *OF_CPUS, *MICRO)
"""The kernel libraries: sets of LiteRT's kernels on x86 and on 64-bit ARM, and versions and builds of TFLite Micro."""
_ALL, _NEW, _S8, _BYTES, _NONE = "int8 int16 uint8", "int8 int16", "int8", "int8 uint8", ""
# fmt: off
_TYPES: dict[str, tuple[str, str, str]] = {
    # op                           LiteRT   TFLM   but for
    "ABS":                          (_NEW,   _NEW,  ""),
    "ADD":                          (_ALL,   _NEW,  ""),
    "AVERAGE_POOL_2D":              (_ALL,   _NEW,  ""),
    "BATCH_MATMUL":                 (_NEW,   _NEW,  ""),
    "CONCATENATION":                (_ALL,   _NEW,  ""),
    "CONV_2D":                      (_ALL,   _NEW,  ""),
    "DEPTHWISE_CONV_2D":            (_ALL,   _NEW,  ""),
    "DEQUANTIZE":                   (_ALL,   _ALL,  ""),
    "ELU":                          (_S8,    _S8,   "reference"),
    "EXP":                          (_NEW,   _NONE, ""),
    "FULLY_CONNECTED":              (_ALL,   _NEW,  ""),
    "GELU":                         (_BYTES, _NONE, ""),
    "HARD_SWISH":                   (_BYTES, _S8,   ""),
    "L2_NORMALIZATION":             (_BYTES, _S8,   ""),
    "LEAKY_RELU":                   (_ALL,   _NEW,  ""),
    "LOGISTIC":                     (_ALL,   _NEW,  ""),
    "LOG":                          (_NEW,   _NONE, ""),
    "LOG_SOFTMAX":                  (_BYTES, _S8,   ""),
    "MAXIMUM":                      (_ALL,   _NEW,  ""),
    "MAX_POOL_2D":                  (_ALL,   _NEW,  ""),
    "MEAN":                         (_ALL,   _NEW,  ""),
    "MINIMUM":                      (_ALL,   _NEW,  ""),
    "MUL":                          (_ALL,   _NEW,  ""),
    "NEG":                          (_NEW,   _NONE, ""),
    "PAD":                          (_ALL,   _NEW,  ""),
    "PADV2":                        (_ALL,   _NEW,  ""),
    "PRELU":                        (_ALL,   _NEW,  ""),
    "QUANTIZE":                     (_ALL,   _NEW,  ""),
    "REDUCE_MAX":                   (_ALL,   _S8,   ""),
    "REDUCE_MIN":                   (_ALL,   _S8,   ""),
    "RELU":                         (_ALL,   _NEW,  ""),
    "RELU6":                        (_ALL,   _NEW,  ""),
    "RELU_0_TO_1":                  (_BYTES, _NONE, ""),
    "RELU_N1_TO_1":                 (_BYTES, _NONE, ""),
    "RESIZE_BILINEAR":              (_ALL,   _S8,   ""),
    "RESIZE_NEAREST_NEIGHBOR":      (_ALL,   _NEW,  ""),
    "RSQRT":                        (_NEW,   _NEW,  ""),
    "SOFTMAX":                      (_ALL,   _NEW,  ""),
    "SQRT":                         (_S8,    _NONE, ""),
    "SQUARED_DIFFERENCE":           (_S8,    _NEW,  ""),
    "SUB":                          (_ALL,   _NEW,  ""),
    "SUM":                          (_ALL,   _NEW,  ""),
    "SVDF":                         (_S8,    _S8,   ""),
    "TANH":                         (_ALL,   _NEW,  ""),
    "TRANSPOSE_CONV":               (_NEW,   _NEW,  ""),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (_S8,    _NEW,  ""),
}
# fmt: on
TAKES = {
    (op, name): () if OF_CPUS.get(name, name) == but else tuple((micro if name in MICRO else lite).split())
    for op, (lite, micro, but) in _TYPES.items()
    for name in LIBRARIES
}
"""The types of codes of an op that a kernel library has, by (op, kernel library)."""


_OF_ANY = {op: sorted({dtype for name in LIBRARIES for dtype in TAKES[op, name]}) for op in _TYPES}


def types_of(op: str) -> list[str]:
    """Give the types of codes that any kernel library has of an op."""
    return _OF_ANY[op]
