"""`debug` and its command: what dumps may be, what it says and prints. Causes have tests of their own."""

import json
import subprocess
import sys

import numpy as np
import planted
import pytest
import small_network
from onnx import numpy_helper

import qops
from qops.__main__ import main
from qops.models import Operator, Tensor, tflite_bytes


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The file of a network, an image, and what a device without faults dumps."""
    path = tmp_path_factory.mktemp("small") / "small.tflite"
    graph, x = small_network.file(path)
    return path, graph, x, planted.device(graph, x, {})


def in_file(folder, form, name, codes):
    """One tensor as a file of a folder."""
    folder.mkdir(exist_ok=True)
    plain = name.replace("/", "_")
    if form == "npy":
        np.save(folder / f"{plain}.npy", codes)
    elif form == "proto":
        (folder / f"any_{plain}.tensorproto").write_bytes(numpy_helper.from_array(codes, name).SerializeToString())
    elif form == "txt":
        (folder / f"{plain}.txt").write_text(np.array2string(codes, threshold=codes.size + 1))
    elif form == "csv":
        (folder / f"{plain}.csv").write_text(",\n".join(map(str, codes.reshape(-1).tolist())))
    else:
        (folder / f"{plain}.{form}").write_bytes(codes.tobytes())


@pytest.mark.parametrize("form", ["npy", "bin", "raw", "txt", "csv", "proto"])
def test_folders_of_what_runtimes_write(small, tmp_path, form):
    path, _, _, dump = small
    for name, codes in dump.items():
        in_file(tmp_path / "dump", form, name, codes)
    assert qops.debug(path, device=tmp_path / "dump").first is None
    in_file(tmp_path / "dump", form, "sum", dump["sum"] ^ 1)
    assert qops.debug(path, device=tmp_path / "dump").first.output == "sum"


CHANGES = {
    "flat": lambda graph, name, y: y.reshape(-1),
    "wider integers": lambda graph, name, y: y.astype(np.int32),
    "bytes": lambda graph, name, y: y.view(np.uint8),
    "real numbers": lambda graph, name, y: graph.tensors[name].values(y).astype(np.float32),
}


@pytest.mark.parametrize("change", CHANGES)
def test_arrays_in_other_forms(small, change):
    _, graph, _, dump = small
    found = qops.debug(graph, device={name: CHANGES[change](graph, name, y) for name, y in dump.items()})
    assert found.first is None
    assert all(row.differ == 0 for row in found.layers)


def test_float32_values_as_plain_bytes(small, tmp_path):
    _, graph, _, dump = small
    for name, y in dump.items():
        in_file(tmp_path / "dump", "raw", name, graph.tensors[name].values(y).astype(np.float32))
    assert qops.debug(graph, device=tmp_path / "dump").first is None


@pytest.mark.parametrize("form", ["{}", "tensor_{}", "t{}"])
def test_names_may_be_the_numbers_of_tensors(small, form):
    _, graph, _, dump = small
    places = {name: i for i, name in enumerate(graph.tensors)}
    found = qops.debug(graph, device={form.format(places[name]): y for name, y in dump.items()})
    assert found.first is None
    assert all(row.differ == 0 for row in found.layers)


def test_more_images_than_the_file_has(small):
    _, graph, x, _ = small
    images = np.concatenate([x, x[:, ::-1], x[:, :, ::-1]])
    dump = planted.device(graph, images, {})
    assert qops.debug(graph, device=dump).first is None
    dump["dense"] = dump["dense"] ^ 1
    assert qops.debug(graph, device=dump).first.output == "dense"


def test_a_dump_with_few_tensors(small):
    """What lies between is made by the graph; a fault in there shows in the next tensor that was dumped."""
    _, graph, x, dump = small
    few = {name: dump[name] for name in ("image", "conv", "pool", "softmax")}
    found = qops.debug(graph, device=few)
    assert found.first is None
    assert [row.differ for row in found.layers] == [0, None, None, None, 0, None, None, 0]
    assert "5 of 8 results are not in the dump, the first 'depthwise'" in found.notes
    wrong = planted.device(graph, x, {"pointwise": planted.moved(3)})
    assert qops.debug(graph, device={name: wrong[name] for name in few}).first.output == "pool"


def test_what_a_hunt_needs(small):
    _, graph, x, dump = small
    results = {name: y for name, y in dump.items() if name != "image"}
    with pytest.raises(ValueError, match=r"^data: missing, and the dump has no tensor 'image'"):
        qops.debug(graph, device=results)
    assert qops.debug(graph, x, device=results).first is None
    with pytest.raises(ValueError, match=r"^device: it has no tensor of small\.tflite; it has 'a', 'b'$"):
        qops.debug(graph, device={"a": x, "b": x})
    with pytest.raises(ValueError, match=r"^device: 'image' and 'image:0' both stand for 'image'$"):
        qops.debug(graph, device={"image": x, "image:0": x})
    with pytest.raises(ValueError, match=r"^device\['conv'\]: it has numbers from -300 to 300, the model int8$"):
        qops.debug(graph, device={**dump, "conv": np.array([-300, 300])})
    found = qops.debug(graph, device={**dump, "conv": dump["conv"][:, 1:]})
    assert found.first.cause == "the dump has 448 elements, shape (1, 7, 8, 8); the model 512, (1, 8, 8, 8)"
    found = qops.debug(graph, x ^ 1, device=dump)
    assert found.first.cause.startswith("the inputs differ already")
    unknown = qops.debug(graph, device={**dump, "other": x})
    assert "no tensor of the model is called 'other'" in unknown.notes


def test_without_data_it_says_that_the_inputs_are_noise(small):
    found = qops.debug(small[0])
    assert found.notes == ["no data: the inputs are seeded noise, each code as likely as the next"]
    assert found.first is None
    assert str(found) == str(qops.debug(small[0]))


def test_an_array_alone_in_a_file_is_the_input_under_any_name(small, tmp_path):
    """Of real numbers codes are made; in a dict, names are those of the model."""
    _, graph, x, _ = small
    want = str(qops.debug(graph, x))
    for data in (x, graph.tensors["image"].values(x).astype(np.float32)):
        np.savez(tmp_path / "data.npz", any=data)
        assert str(qops.debug(graph, tmp_path / "data.npz")) == want
    with pytest.raises(ValueError, match=r"^data: .* has no input 'any'"):
        qops.debug(graph, {"any": x})
    np.savez(tmp_path / "data.npz", image=x, any=x)
    with pytest.raises(ValueError, match=r"^data: .* has no input 'any'"):
        qops.debug(graph, tmp_path / "data.npz")


def test_a_float_model_stands_for_the_real_numbers(small, tmp_path):
    """A float model of the same weights, whose tensors have the same names: float32 is all that tells it apart."""
    path, graph, x, _ = small
    small_network.as_floats(path, tmp_path / "float.tflite")
    plain, own = qops.debug(graph, x), qops.debug(graph, x, float_model=tmp_path / "float.tflite")
    for one, two in zip(plain.layers, own.layers, strict=True):
        assert one[:8] == two[:8]
        assert two.lsb == pytest.approx(one.lsb, abs=1e-3)
        assert two.sqnr == pytest.approx(one.sqnr, abs=1e-2)
    assert plain.layers != own.layers


@pytest.mark.long
def test_layers_are_tasks_of_dask_with_the_same_answer(small):
    from distributed import Client

    _, graph, x, _ = small
    dump = planted.device(graph, x, {"pointwise": planted.with_numbers(zero_point=lambda zero: zero + 3)})
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        there = qops.debug(graph, device=dump, client=client)
    here = qops.debug(graph, device=dump)
    assert there.as_dict() == here.as_dict()
    assert (there.layers, there.notes, str(there)) == (here.layers, here.notes, str(here))
    np.testing.assert_array_equal(there.worst.off, here.worst.off)
    np.testing.assert_array_equal(there.case.got, here.case.got)


# --- the command -----------------------------------------------------------------------------------------------------


def test_exit_codes_and_strict_json(small, tmp_path, capsys):
    path, graph, x, dump = small
    np.savez(tmp_path / "good.npz", **dump)
    np.savez(tmp_path / "bad.npz", **planted.device(graph, x, {"conv": planted.moved(1)}))
    (tmp_path / "cut.tflite").write_bytes(path.read_bytes()[:900])
    assert main(["debug", str(path), "--device", str(tmp_path / "good.npz")]) == 0
    assert "no layer differs" in capsys.readouterr().out
    assert main(["debug", str(path), "--device", str(tmp_path / "bad.npz"), "--json"]) == 1

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    found = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert list(found) == ["column", "model", "layers", "first"]
    names = ["name", "op", "output", "rule", "differ", "largest", "share", "saturated", "lsb", "sqnr"]
    names.append("unchecked")
    assert all(list(row) == names for row in found["layers"])
    assert list(found["first"]) == ["layer", "output", "cause", "rules", "where"]
    assert (found["first"]["layer"], found["first"]["output"]) == ("conv_2d", "conv")
    assert (found["layers"][0]["rule"], found["layers"][0]["largest"]) == ("tflite-double", 1)
    for words in (["cut.tflite"], [path.name, "--device", "none.npz"], [path.name, "--runtime", "x"]):
        place = [str(path) if words[0] == path.name else str(tmp_path / words[0]), *words[1:]]
        assert main(["debug", *place]) == 2
        assert len(capsys.readouterr().err) < 300


@pytest.mark.long
def test_the_command_in_a_process_of_its_own(small, tmp_path):
    np.savez(tmp_path / "dump.npz", **small[3])
    command = [sys.executable, "-m", "qops", "debug", str(small[0]), "--device", str(tmp_path / "dump.npz"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["first"] is None


def test_noise_is_refused_for_what_a_damaged_file_announces(tmp_path, capsys):
    x, y = (Tensor(name, (1, 2**14, 2**14, 3), "int8", np.float32(0.1), np.asarray(0)) for name in "xy")
    path = tmp_path / "large.tflite"
    path.write_bytes(tflite_bytes([x, y], [Operator("RELU", [x], [y], {}, [])], [x], [y]))
    assert main(["debug", str(path)]) == 2
    assert "large.tflite announces inputs too large for noise, 'x' of shape (1, 16384, " in capsys.readouterr().err


@pytest.mark.long
def test_jobs_of_the_command_line_change_nothing(small, tmp_path, capsys):
    """Layers as tasks of two processes: the same table and the same cause."""
    path, _, _, dump = small
    np.savez(tmp_path / "device.npz", **{**dump, "sum": dump["sum"] ^ 1})
    words = ["debug", str(path), "--device", str(tmp_path / "device.npz")]
    told = []
    for jobs in ([], ["--jobs", "1"], ["--jobs", "2"]):
        assert main([*words, *jobs]) == 1
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] == told[2]
    assert any(line.startswith("first: add (sum): ") for line in told[0].splitlines())
    assert main([*words, "--jobs", "0"]) == 2
    assert "jobs: expected an integer" in capsys.readouterr().err
