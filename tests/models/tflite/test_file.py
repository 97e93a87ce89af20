"""What the reader of .tflite files refuses, and how it says so."""

import builtins

import numpy as np
import pytest
import small_network

from qops.models import Operator, Tensor, load, tflite_bytes
from qops.models.tflite.file import read_tflite
from qops.models.tflite.writer import _Writer


def tensor(name):
    return Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.tflite"


@pytest.mark.parametrize("kind", ["MAXIMUM", "ADD", "CONV_2D", "FULLY_CONNECTED", "PRELU"])
@pytest.mark.parametrize("inputs", [[], ["x"], [None, "x"]])
def test_operators_without_an_input_are_refused_with_their_place(path, kind, inputs):
    x, y = tensor("x"), tensor("y")
    given = [None if name is None else x for name in inputs]
    path.write_bytes(tflite_bytes([x, y], [Operator(kind, given, [y], {}, [])], [x], [y]))
    with pytest.raises(ValueError, match=rf"^m\.tflite: 1 operator cannot be read:\n  operator 0, {kind} "):
        load(path)


def test_an_operator_that_is_not_there_is_named_with_its_place(path):
    x, y = tensor("x"), tensor("y")
    path.write_bytes(tflite_bytes([x, y], [Operator("CUMSUM", [x], [y], {}, [])], [x], [y]))
    words = r"^m\.tflite: 1 operator cannot be read:\n  operator 0, CUMSUM \(result 'y'\): qops has no such operator\n"
    with pytest.raises(ValueError, match=words):
        load(path)


def test_files_that_are_none_are_refused(path):
    small_network.file(path)
    sound = path.read_bytes()
    for content in (b"", b"TFL3", sound[:7], sound[:500], sound.replace(b"TFL3", b"TFL9")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"^m\.tflite: ") as caught:
            load(path)
        assert len(str(caught.value)) < 300
    with pytest.raises(FileNotFoundError):
        load(path.with_name("other.tflite"))
    with pytest.raises(ValueError, match=r"^runtime: "):
        load(path, runtime="fast")


def test_without_the_schema_it_says_what_to_install(path, monkeypatch):
    path.write_bytes(b"")
    real = builtins.__import__

    def without(name, *more):
        if name == "tflite":
            raise ModuleNotFoundError("No module named 'tflite'", name="tflite")
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"need the package tflite: pip install 'qops\[tflite\]'$"):
        load(path)


@pytest.mark.parametrize(
    ("runtime", "off", "taken"),
    [("tflm", 0, True), ("tflm", 9e-6, True), ("tflm", 1.1e-5, False), ("tflm", -2e-5, False), ("reference", 9, True)],
)
def test_tflm_refuses_a_bias_of_svdf_whose_scale_is_off(path, runtime, off, taken):
    def part(name, dtype, shape, data=None, scale=1.0):
        return Tensor(name, shape, dtype, np.float32(scale), np.int64(0), None, data)

    x, y, state = part("x", "int8", (1, 4)), part("y", "int8", (1, 2)), part("state", "int16", (1, 6))
    weights = part("w", "int8", (2, 4), np.ones((2, 4), np.int8))
    time = part("time", "int16", (2, 3), np.ones((2, 3), np.int16))
    bias = part("bias", "int32", (2,), np.int32([1, 2]), 1 + off)
    given = [x, weights, time, bias, state]
    options = {"Rank": 1, "FusedActivationFunction": 1}
    path.write_bytes(tflite_bytes([*given, y], [Operator("SVDF", given, [y], options, [])], [x], [y]))
    if taken:
        assert load(path, runtime=runtime).run(np.zeros((1, 4), np.int8))["y"].tolist() == [[1, 2]]
    else:
        with pytest.raises(ValueError, match=r"SVDF .*the scale of its bias, .*, is not that of its sums"):
            load(path, runtime=runtime)


def sharing(count):
    """A file of tensors that share one shape, of 1,000 axes."""
    writer = _Writer()
    shape = writer._numbers(np.ones(1000))
    tensors = [writer._table("Tensor", Shape=shape) for _ in range(count)]
    graph = writer._table("SubGraph", Tensors=writer._tables(tensors))
    vectors = {"Buffers": writer._tables([writer._table("Buffer")]), "Subgraphs": writer._tables([graph])}
    writer._b.Finish(writer._table("Model", **vectors), b"TFL3")
    return bytes(writer._b.Output())


def test_a_small_file_that_describes_many_numbers_is_refused(path):
    path.write_bytes(sharing(2))
    assert len(read_tflite(path).tensors) == 2
    path.write_bytes(sharing(100))
    with pytest.raises(ValueError, match=r"^m\.tflite: damaged flatbuffer \(vectors lie on each other\)$"):
        read_tflite(path)


def test_a_code_of_an_operator_that_stands_in_the_new_field_alone_is_read(path, monkeypatch):
    """Files of AI Edge Quantizer have such; LiteRT 2.3.0 gives these codes."""
    real = _Writer._table

    def without_the_old_field(writer, kind, **fields):
        return real(writer, kind, **{name: x for name, x in fields.items() if name != "DeprecatedBuiltinCode"})

    monkeypatch.setattr(_Writer, "_table", without_the_old_field)
    each = {"a": (0.05, 1), "b": (0.03, -2), "y": (0.1, 3)}
    a, b, y = (Tensor(name, (1, 4), "int8", np.float32(s), np.int64(z)) for name, (s, z) in each.items())
    path.write_bytes(tflite_bytes([a, b, y], [Operator("MUL", [a, b], [y], {}, [])], [a, b], [y]))
    graph = load(path)
    assert [op.kind for op in graph.ops] == ["MUL"]
    found = graph.run({"a": np.int8([[100, -128, 7, 90]]), "b": np.int8([[50, 127, -2, 90]])})
    assert found["y"].tolist() == [[80, -128, 3, 126]]


def test_a_slice_to_a_scalar_has_no_axis(path):
    x, y = Tensor("x", (8,), "int8", np.float32(1), np.int64(0)), Tensor("y", (), "int8", np.float32(1), np.int64(0))
    ends = [Tensor(name, (1,), "int32", data=np.int32([n])) for name, n in (("begin", 3), ("end", 4), ("step", 1))]
    options = {"ShrinkAxisMask": 1}
    path.write_bytes(tflite_bytes([x, *ends, y], [Operator("STRIDED_SLICE", [x, *ends], [y], options, [])], [x], [y]))
    found = load(path).run(np.arange(8, dtype=np.int8))["y"]
    assert found.shape == ()
    assert found == 3


def test_the_end_of_a_slice_may_be_counted_from_its_begin(path):
    x, y = (Tensor(name, (n,), "int8", np.float32(1), np.int64(0)) for name, n in (("x", 8), ("y", 2)))
    ends = [Tensor(name, (1,), "int32", data=np.int32([n])) for name, n in (("begin", 3), ("end", 2), ("step", 1))]
    operator = Operator("STRIDED_SLICE", [x, *ends], [y], {"Offset": True}, [])
    path.write_bytes(tflite_bytes([x, *ends, y], [operator], [x], [y]))
    assert load(path).run(np.arange(8, dtype=np.int8))["y"].tolist() == [3, 4]


def test_types_that_are_not_read_make_gaps_and_are_named(path, monkeypatch):
    """Each type but the last is of weights; the network around the layer runs."""
    from qops.models.tflite import file as reader

    x, a, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xay")
    for dtype, said in (("uint16", "UINT16"), ("uint32", "UINT32"), ("bfloat16", "bfloat16")):
        w = Tensor("w", (2, 2), dtype, data=np.ones((2, 2), "uint16" if dtype == "bfloat16" else dtype))
        ops = [Operator("RELU", [x], [a], {}, []), Operator("FULLY_CONNECTED", [a, w, None], [y], {}, [])]
        path.write_bytes(tflite_bytes([x, a, w, y], ops, [x], [a, y]))
        with monkeypatch.context() as patch:
            known = {number: word for number, word in reader.TYPES.items() if word not in ("uint16", "uint32")}
            patch.setattr(reader, "TYPES", known)
            with pytest.raises(
                ValueError, match=rf"operator 1, FULLY_CONNECTED .*'w' is of type {said}, of which qops"
            ):
                load(path)
            graph = load(path, gaps=True)
        assert graph.run(np.int8([[-4, 5]]))["a"].tolist() == [[0, 5]]
    path.write_bytes(tflite_bytes([w, y], [Operator("RELU", [w], [y], {}, [])], [w], [y]))
    with pytest.raises(ValueError, match=r"its input 'w' is of type bfloat16, which qops has not"):
        load(path, gaps=True)


@pytest.mark.parametrize(
    ("form", "table", "method", "given"),
    [
        ("sparse int8", "Tensor", "Sparsity", True),
        ("int8 outside of the file", "Buffer", "Offset", 10**6),
        (
            "int8 with a quantization of its own kind, such as a scale for each block",
            "QuantizationParameters",
            "DetailsType",
            2,
        ),
    ],
)
def test_forms_of_weights_that_are_not_read_make_gaps(path, monkeypatch, form, table, method, given):
    """The flatbuffers of tests have no such forms, so a method of the schema says so of tensor w alone."""
    import tflite

    x, a, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xay")
    w = Tensor("w", (2, 2), "int8", np.float32(0.125), np.int64(0), None, np.ones((2, 2), np.int8))
    ops = [Operator("RELU", [x], [a], {}, []), Operator("FULLY_CONNECTED", [a, w, None], [y], {}, [])]
    path.write_bytes(tflite_bytes([x, a, w, y], ops, [x], [a, y]))
    is_w = {
        "Tensor": lambda table: table.Name() == b"w",
        "Buffer": lambda table: table.DataLength() == 4,
        "QuantizationParameters": lambda table: table.Scale(0) == 0.125,
    }[table]
    own = getattr(getattr(tflite, table), method)
    monkeypatch.setattr(getattr(tflite, table), method, lambda table: given if is_w(table) else own(table))
    graph = load(path, gaps=True)
    assert [op.gap for op in graph.gaps] == [f"its tensor 'w' is of type {form}, of which qops has no arrays"]
    assert graph.run(np.int8([[-4, 5]]))["a"].tolist() == [[0, 5]]


def test_weights_behind_the_flatbuffer_are_read_and_may_be_shared(path, monkeypatch):
    """LiteRT's quantizer writes weights once, behind the flatbuffer, though several tensors have them."""
    import tflite

    x, a, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xay")
    w, v = (Tensor(n, (2, 2), "int8", np.float32(1), np.int64(0), None, np.full((2, 2), 9, np.int8)) for n in "wv")
    ops = [
        Operator("FULLY_CONNECTED", [x, w, None], [a], {}, []),
        Operator("FULLY_CONNECTED", [a, v, None], [y], {}, []),
    ]
    whole = tflite_bytes([x, a, w, v, y], ops, [x], [y])
    path.write_bytes(whole + bytes([1, 2, 0, 1]))
    own = {name: getattr(tflite.Buffer, name) for name in ("DataLength", "Offset", "Size")}
    for name, of_weights in (("DataLength", 0), ("Offset", len(whole)), ("Size", 4)):

        def method(table, name=name, of_weights=of_weights):
            return of_weights if own["DataLength"](table) == 4 else own[name](table)

        monkeypatch.setattr(tflite.Buffer, name, method)
    found = load(path).run(np.int8([[3, 5]]), keep="all")
    assert found["a"].tolist() == [[13, 5]]
    assert found["y"].tolist() == [[23, 5]]


def test_operators_that_the_schema_does_not_know_make_gaps(path, monkeypatch):
    import tflite

    x, a, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xay")
    ops = [Operator("RELU", [x], [a], {}, []), Operator("CONV_2D", [a], [y], {}, [])]
    path.write_bytes(tflite_bytes([x, a, y], ops, [x], [a, y]))
    number = tflite.BuiltinOperator.CONV_2D
    monkeypatch.delattr(tflite.BuiltinOperator, "CONV_2D")
    monkeypatch.delattr(tflite.BuiltinOptions, "Conv2DOptions")
    graph = load(path, gaps=True)
    assert [(op.kind, op.gap) for op in graph.gaps] == [(f"BuiltinOperator {number}", "qops has no such operator")]
    assert graph.run(np.int8([[-4, 5]]))["a"].tolist() == [[0, 5]]


def test_weights_of_16_bits_become_floats(path):
    x, y = (Tensor(name, (1, 2), "float32") for name in "xy")
    half, w = (
        Tensor("half", (2, 2), "float16", data=np.float16([[1, 0.1], [65504, 6e-8]])),
        Tensor("w", (2, 2), "float32"),
    )
    ops = [Operator("DEQUANTIZE", [half], [w], {}, []), Operator("FULLY_CONNECTED", [x, w, None], [y], {}, [])]
    path.write_bytes(tflite_bytes([x, half, w, y], ops, [x], [y]))
    found = load(path).run(np.float32([[1, 2]]))["y"]
    np.testing.assert_array_equal(
        found, np.float32([[1 + 2 * np.float64(np.float16(0.1)), 65504 + 2 * 5.960464477539063e-8]])
    )
    path.write_bytes(tflite_bytes([x, w, y], [Operator("FULLY_CONNECTED", [None, w], [y], {}, [])], [x, w], [y]))
    with pytest.raises(ValueError, match="its input 0 is left out"):
        load(path)


def test_a_bias_may_have_the_axis_of_the_weights(path):
    x, y = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xy")
    each = np.float32([0.5, 0.25])
    w = Tensor("w", (2, 2), "int8", each, np.int64([0, 0]), 0, np.int8([[1, 2], [3, 4]]))
    b = Tensor("b", (2,), "int32", each, np.int64([0, 0]), 3, np.int32([4, 8]))
    path.write_bytes(tflite_bytes([x, w, b, y], [Operator("FULLY_CONNECTED", [x, w, b], [y], {}, [])], [x], [y]))
    assert read_tflite(path).tensors[2].axis == 0
    assert load(path).run(np.int8([[2, 4]]))["y"].tolist() == [[7, 8]]


def test_results_and_shapes_that_no_operator_has_are_refused(path):
    x, y, z = (Tensor(name, (1, 2), "int8", np.float32(1), np.int64(0)) for name in "xyz")
    path.write_bytes(tflite_bytes([x, y, z], [Operator("RELU", [x], [y, z], {}, [])], [x], [y, z]))
    with pytest.raises(ValueError, match="it has 2 results, where the operator gives 1"):
        load(path).run(np.int8([[1, 2]]))
    shape = Tensor("shape", (2,), "float32", data=np.float32([np.nan, 2]))
    path.write_bytes(tflite_bytes([x, shape, y], [Operator("RESHAPE", [x, shape], [y], {}, [])], [x], [y]))
    with pytest.raises(ValueError, match=r"operator 0, RESHAPE .*cannot convert float NaN"):
        load(path)
