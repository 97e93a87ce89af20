"""What the docstrings of rooms say is not modelled: no room has what they name, and every op is in a room or named.

The ops of a system are those that its own lists name: what is quantized there, as the original calls it. The lists of
`make live` have the same ops.
"""

import ast
import re

import pytest
from imports import ROOT
from ops import OPS

from docs import systems
from qops import rules

TENSORFLOW = """
    QuantizeV2 Dequantize Requantize RequantizationRange RequantizePerChannel RequantizationRangePerChannel
    QuantizeDownAndShrinkRange QuantizedAdd QuantizedMul QuantizedBiasAdd QuantizedMatMul QuantizedConv2D QuantizedRelu
    QuantizedRelu6 QuantizedReluX QuantizedMaxPool QuantizedAvgPool QuantizedConcat QuantizedConcatV2 QuantizedReshape
    QuantizedResizeBilinear QuantizedInstanceNorm QuantizedBatchNormWithGlobalNormalization QuantizedDepthwiseConv2D
    QuantizedConv2DPerChannel QuantizedMatMulWithBias QuantizedConv2DWithBias QuantizedConv2DAndRequantize
    UniformQuantize UniformDequantize UniformRequantize UniformQuantizedAdd UniformQuantizedClipByValue
    UniformQuantizedDot UniformQuantizedDotHybrid UniformQuantizedConvolution UniformQuantizedConvolutionHybrid
    FakeQuantWithMinMaxVars QuantizeAndDequantizeV4
"""
NNLIB = """
    AutoQuantize Quantize Quantize_int32 Dequantize Dequantize_qint32_f QuantizedAdd_8p8to8 QuantizedAdd_8p8to32
    QuantizedSub_8p8to8_d32 QuantizedSub_8p8to32 QuantizedBiasAdd_8p8to32 QuantizedBiasAdd_32p32to32 QuantizedMul_8x8to8
    QuantizedMul_8x8to32 QuantizedMinimum_8 QuantizedMaximum_8 QuantizedRelu_8 QuantizedReluX_8 QuantizedClamp_8
    QuantizedNeg_8 QuantizedConcat_8 QuantizedMaxPool_8 QuantizedAvgPool_8 QuantizedMatMul_8x8to32
    QuantizedConv2d_8x8to32 Requantize_32to8 Requantize_32to16 Requantize_8to8 RequantizationRange_32
    QuantizeDownAndShrinkRange_32to8 QuantizeDownAndShrinkRange_32to16 Supernode DepthwiseSupernode InputSupernode
    Supernode3322 Super_FC QuantizedConv2d_16x16to32 GroupedConv2d_8x8p32to8 InstanceNormBG_8
    QuantizedDepthwiseConv2d_8x8to32 QuantizedTransposeConv2d_8x8p32to8 QuantizedBatchNorm_8x8p8to8
    QuantizedBatchNorm_8x8p32to8 ResizeNearestNeighbor_8 QuantizedInstanceNorm_8 QuantizedSoftmax_8 QuantizedSigmoid_8
    QuantizedTanh_8 QuantizedPRelu_8 QuantizedLRN_8 QuantizedL2Pool_8 QuantizedResizeBilinear_8 QuantizedMean_8
    QuantizedSum_8to32 QuantizedDiv_8 QuantizedRecip_8 QuantizedSqrt_8 QuantizedPad_8 QuantizedSplit_8
    QuantizedStridedSlice_8
"""
ONEDNN = """
    convolution deconvolution inner_product matmul pooling reorder eltwise binary sum lstm gru lbr_gru augru rnn_vanilla
    gemm_u8s8s32 gemm_s8s8s32 softmax layer_normalization batch_normalization resampling concat prelu shuffle reduction
"""
ONNX = """
    QuantizeLinear DequantizeLinear DynamicQuantizeLinear MatMulInteger ConvInteger QLinearMatMul QLinearConv QLinearAdd
    QLinearMul QLinearAveragePool QLinearGlobalAveragePool QLinearConcat QLinearSigmoid QLinearLeakyRelu QGemm
    QAttention DynamicQuantizeMatMul MatMulNBits MatMulIntegerToFloat MaxPool QLinearSoftmax QLinearWhere
    QLinearReduceMean
"""
TFLITE = """
    ABS ADD AVERAGE_POOL_2D BATCH_MATMUL BIDIRECTIONAL_SEQUENCE_LSTM CONCATENATION CONV_2D CUMSUM DEPTHWISE_CONV_2D
    DEQUANTIZE DIV ELU EQUAL EXP FULLY_CONNECTED GELU GREATER HARD_SWISH L2_NORMALIZATION LEAKY_RELU LESS LOG
    LOGISTIC LOG_SOFTMAX MAXIMUM MAX_POOL_2D MEAN MINIMUM MUL NEG PACK PAD PADV2 PRELU QUANTIZE REDUCE_MAX
    REDUCE_MIN RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR RSQRT SLICE
    SOFTMAX SPLIT SPLIT_V SQRT SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM SVDF TANH TRANSPOSE TRANSPOSE_CONV
    UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK
"""
LISTS = {"nnlib": NNLIB, "TensorFlow": TENSORFLOW, "oneDNN": ONEDNN, "ONNX": ONNX, "TFLite": TFLITE}


def plain(name):
    """A name without what differs between the spellings of systems: QuantizedMatMul is quantized_matmul."""
    return name.lower().replace("_", "").replace("-", "")


def modelled(system):
    """The names of the functions that the system's package has."""
    return {plain(name.rpartition(".")[2]) for name in OPS if name.startswith(f"{system.lower()}.")}


MISSING = {system: re.findall("`([^`]+)`", systems.not_modelled(system.lower())[0]) for system in [*LISTS, "rules"]}


def test_every_room_says_what_it_lacks_and_a_page_shows_it():
    assert all(MISSING.values())
    page = systems.not_modelled_page()
    assert all(f"`{name}`" in page for names in MISSING.values() for name in names)
    assert page.count("\n| ") == len(MISSING) + 2


@pytest.mark.parametrize("system", MISSING)
def test_what_the_table_names_is_not_there(system):
    assert modelled(system)
    assert not {plain(name) for name in MISSING[system]} & modelled(system)


@pytest.mark.parametrize("system", LISTS)
def test_every_op_is_modelled_or_in_the_table(system):
    missing = {plain(name) for name in MISSING[system]}
    assert {plain(name) for name in LISTS[system].split()} - modelled(system) == missing


@pytest.mark.parametrize("system", ["nnlib", "tensorflow", "TFLite"])
def test_every_golden_op_is_in_a_list(system):
    """But the helper functions and the other forms of an op, whose names say so."""
    names = {plain(name) for name in {**LISTS, "tensorflow": TENSORFLOW}[system].split()}
    files = {file.name.split(".")[0] for file in (ROOT / "tests/golden" / system.lower()).glob("*.json")}
    forms = "(_(d32|flat|spec|session|seed|ref|v60|channelscale|8x8p8to8|8x8p32to8))+$"
    ops = {name: re.sub(forms, "", name) for name in files if name[:3] != "fn_"}
    assert len(ops) > 20
    assert not [name for name, op in ops.items() if not {plain(name), plain(op)} & names]


def test_no_rule_is_called_as_in_the_table():
    known = {*rules.TABLE, *rules.ADD, *rules.MUL, *rules.AVERAGE_POOL, *rules.QUANTIZE, *rules.RANGE_RULES}
    assert "tflite-double" in known
    assert not known & {*MISSING["rules"]}


def drawn(file, table):
    """The names that a table of `make live` has; it is not imported, as it needs the system."""
    tree = ast.parse((ROOT / "tests/live" / file).read_text("utf-8"))
    (found,) = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == table]
    return {key.value for key in found.keys if key is not None}  # None stands for `**other`


@pytest.mark.parametrize(
    ("system", "tables"),
    [
        ("TensorFlow", [("tensorflow_.py", "OPS")]),
        ("ONNX", [("onnxruntime_.py", "OPS"), ("onnxruntime_own.py", "OWN")]),
    ],
)
def test_random_calls_are_made_of_every_op_of_a_room(system, tables):
    """Beside them of rules and of models, whose names say so."""
    names = {name for table in tables for name in drawn(*table) if "." not in name and " " not in name}
    assert {plain(name) for name in names} == modelled(system)
