"""Tests mirror the rooms: what stands at ROOM/STEM is tested by tests/ROOM/test_STEM.py, or by a file named here."""

import pytest
from imports import ROOT

ELSEWHERE = {
    "core/affine": "nouns/test_affine.py",
    "core/calls": "rules/test_calls.py",
    "core/caches": "product/test_caches.py",
    "core/channels": "frontdoor/test_quantize_channels.py",
    "core/checks": "house/test_refusals.py",
    "core/clamp": "nnlib/test_relu.py",
    "core/codes": "nouns/test_qtensor.py",
    "core/dequantize": "frontdoor/test_quantize.py",
    "core/double_stage": "rules/test_accumulators.py",
    "core/float_stage": "tensorflow/test_quantize.py",
    "core/immortal": "house/test_compiled.py",
    "core/integer_stage": "nouns/test_fixedpoint.py",
    "core/lookup": "frontdoor/test_requantize.py",
    "core/side_by_side": "nnlib/test_concat.py",
    "core/maker": "rules/test_accumulators.py",
    "core/multipliers": "rules/test_accumulators.py",
    "core/numbers": "house/test_refusals.py",
    "core/pair_stage": "rules/test_elementwise.py",
    "core/range": "frontdoor/test_requantize.py",
    "core/rows": "rules/test_accumulators.py",
    "core/tiers": "house/test_tiers.py",
    "core/walk": "house/test_arrays.py",
    "frontdoor/passes": "frontdoor/test_add.py",
    "nnlib/_checks": "nnlib/test_checks.py",
    "isa/hvx": "nouns/test_isa.py",
    "isa/lanes": "nouns/test_isa.py",
    "isa/x86": "nouns/test_isa.py",
    "nnlib/add_8p8to32": "nnlib/test_add.py",
    "nnlib/add_node": "nnlib/test_add.py",
    "nnlib/add_range": "nnlib/test_add.py",
    "nnlib/dequantize": "nnlib/test_quantize.py",
    "nnlib/multiply_shift": "nnlib/test_ranges.py",
    "nnlib/quantize_number": "nnlib/test_ranges.py",
    "nnlib/recode": "nnlib/test_concat.py",
    "nnlib/requantize_codes": "nnlib/test_requantize.py",
    "nouns/codes": "nouns/test_qtensor.py",
    "nouns/compiled": "house/test_compiled.py",
    "onednn/_factors": "onednn/test_workflow.py",
    "onednn/_checks": "house/test_refusals.py",
    "onednn/destination": "onednn/test_output.py",
    "onednn/gemm_driver": "onednn/test_gemm.py",
    "onednn/gru": "onednn/test_rnn.py",
    "onednn/lstm": "onednn/test_rnn.py",
    "onednn/steps": "onednn/test_output.py",
    "onnx/_checks": "onnx/test_nodes.py",
    "onnx/dynamic_quantize": "onnx/test_quantize.py",
    "onnx/requantize": "onnx/test_matmul.py",
    "onnx/window": "onnx/test_convolution.py",
    "product/blocks": "product/test_gemm.py",
    "product/finish": "product/test_convolution.py",
    "product/image": "product/test_convolution.py",
    "product/means": "product/test_pooling.py",
    "product/mul": "tensorflow/test_mul.py",
    "product/offsets": "product/test_gemm.py",
    "product/packed": "product/test_gemm.py",
    "product/pixels": "product/test_pooling.py",
    "product/rows": "product/test_convolution.py",
    "product/run": "product/test_threads.py",
    "product/stream": "product/test_gemm.py",
    "product/tile": "product/test_gemm.py",
    "product/transpose": "product/test_convolution.py",
    "product/weights": "product/test_convolution.py",
    "rules/numbers": "rules/test_accumulators.py",
    "rules/pairs": "rules/test_elementwise.py",
    "rules/scales": "rules/test_accumulators.py",
    "rules/table": "rules/test_accumulators.py",
    "tensorflow/_checks": "tensorflow/test_quantize.py",
    "tensorflow/_uniform": "tensorflow/test_uniform_requantize.py",
    "tensorflow/broadcast": "tensorflow/test_add.py",
    "tensorflow/ends": "tensorflow/test_add.py",
    "tensorflow/uniform": "tensorflow/test_uniform_quantize.py",
    "tensorflow/window": "tensorflow/test_convolution.py",
    "tools/add_forms": "tools/test_add_vectors.py",
    "tools/candidates": "tools/test_explain.py",
    "tools/explanation": "tools/test_explain.py",
    "tools/formats": "tools/test_vectors.py",
    "tools/progress": "tools/test_explain.py",
    "tools/seen": "tools/test_mistakes.py",
    "tools/svg": "tools/test_page.py",
}
"""Module -> the file whose tests fail when its logic is broken."""


def stems():
    """The modules that hold code: kernels, the files of the packages, and the nouns."""
    kernels = [f"{path.parent.name}/{path.stem}" for path in (ROOT / "qops/_kernels").rglob("*.pyx")]
    files = [path for path in (ROOT / "qops").glob("*/*.py") if path.stem != "__init__"]
    nouns = [f"nouns/{path.stem}" for path in (ROOT / "qops").glob("[a-z]*.py")]
    return sorted({*kernels, *nouns, *(f"{path.parent.name}/{path.stem}" for path in files)})


@pytest.mark.parametrize("stem", stems())
def test_every_module_has_a_file_of_tests(stem):
    own = (ROOT / "tests" / stem.replace("/", "/test_")).with_suffix(".py").exists()
    assert own != (stem in ELSEWHERE), "tests of its own, or those of a file named above, not both"


def test_files_of_tests_that_are_named_are_there():
    assert set(ELSEWHERE) <= set(stems())
    assert not [name for name in ELSEWHERE.values() if not (ROOT / "tests" / name).exists()]
