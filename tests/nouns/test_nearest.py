"""Did you mean: every refusal of a name tells the nearest one first, whatever its case, hyphens and underscores."""

import inspect
import re

import numpy as np
import pytest

import qops
from qops._kernels.arrays.nearest import expected_one_of, nearest


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda: qops.rules.requantize([1], "tflite_double", scale=0.1), "tflite-double"),
        (lambda: qops.rules.quantize([1.0], "div-evn", scale=1.0), "div-even"),
        (lambda: qops.bound("matmull"), "matmul"),
        (lambda: qops.bound("QuantizedAdd_8p8to8"), "quantized_add_8p8to8"),
        (lambda: qops.onednn.matmul(np.uint8([[1]]), np.int8([[1]]), isa="AVX2"), "avx2"),
        (lambda: qops.quantize([1.0], dtype="unit8"), "uint8"),
        (lambda: qops.add(qops.quantize([1.0]), qops.quantize([1.0]), dtype="unit8"), "uint8"),
        (lambda: qops.relu(qops.quantize([1.0]), dtype="uint8", limt=1), None),
        (lambda: qops.codes.of_dtype("in8"), "int8"),
        (lambda: qops.QTensor(np.uint8([1]), 0, 1, "u-8"), "u8"),
        (lambda: qops.quantize([1.0], symetric=True), "symmetric"),
        (lambda: qops.quantise, "quantize"),
        (lambda: qops.matmull, "matmul"),
        (lambda: qops.nnlib.QuantizedAdd_8p8to8, "QuantizedAdd8p8to8"),
        (lambda: qops.tflite.conv2d, "conv_2d"),
        (lambda: qops.frontdoor.quantise, "quantize"),
    ],
)
def test_the_nearest_name_is_told(call, near):
    with pytest.raises((TypeError, ValueError, AttributeError)) as info:
        call()
    if near:
        assert str(info.value).endswith(f". Did you mean {near!r}?")


def test_the_nearest_is_the_first_of_the_list():
    assert str(expected_one_of("isa", ("vnni", "avx512", "avx2"), "AVX2", "'AVX2'")) == (
        "isa: expected one of avx2, vnni, avx512, got 'AVX2'. Did you mean 'avx2'?"
    )
    assert str(expected_one_of("isa", ("vnni", "avx2"), "zzz", "'zzz'")) == "isa: expected one of vnni, avx2, got 'zzz'"
    many = [f"rule-{i:03}" for i in range(50)]
    assert str(expected_one_of("rule", many, "rule_041", "x")).startswith(
        "rule: expected one of 50 names, such as rule-041,"
    )
    assert str(expected_one_of("rule", many, None, "None")).endswith("such as " + ", ".join(many[:5]) + ", got None")


def test_only_words_are_near_to_names():
    assert nearest(3, ["3"]) == nearest(None, ["None"]) == nearest("x", []) == []
    assert nearest("A_B", ["a-b", "ab", "c"], 5) == ["a-b", "ab"]


def test_hidden_names_are_not_guessed():
    name = "__wrapped__"
    with pytest.raises(AttributeError, match=re.escape(f"module 'qops' has no attribute {name!r}") + "$"):
        getattr(qops, name)


@pytest.mark.parametrize("name", [name for name in qops.__all__ if inspect.ismodule(getattr(qops, name))])
def test_every_public_module_names_the_nearest_of_its_names(name):
    module = getattr(qops, name)
    word = max(module.__all__, key=len)
    with pytest.raises(AttributeError) as found:
        getattr(module, f"{word}_")
    assert str(found.value) == f"module 'qops.{name}' has no attribute '{word}_'. Did you mean '{word}'?"


def test_the_table_of_rules_names_the_nearest():
    with pytest.raises(KeyError, match=r"'tflite_double' is no rule of requantization\. Did you mean 'tflite-double'"):
        qops.rules.TABLE["tflite_double"]
    assert qops.rules.TABLE.get("tflite_double") is None
