"""Damaged model files, read in child processes with limits of time and memory; ``make fuzzmodels SEED=1 FILES=20000``.

A file is a sound one that is cut, has bits flipped, parts exchanged with another file, or fields of its messages set to
what nobody writes. It must be read, or refused by a ValueError that begins with its name. A file that is read must also
run on noise, or be refused then.
"""

import argparse
import json
import resource
import sys
import tempfile
import warnings
from collections import Counter
from functools import cache, partial
from pathlib import Path

import numpy as np
from children import answers

HERE = Path(__file__).parent
SECONDS = 30
"""The longest that reading a file may take."""
MEMORY = 2**30
"""How many bytes a child may take beside those that it begins with."""
LARGE = 2**20
"""Elements of inputs from which on a file is only read: a large image that a file announces just takes its time."""
HUGE = (-1, 0, 1, 2, 127, 2**20, 2**31 - 1, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1)


@cache
def seeds(suffix):
    """Sound files of a format."""
    if suffix == ".tflite":
        return (*_networks(), *_single_operators())
    from onnx_networks import drawn
    from onnx_nodes import NODES, one

    nodes = (one(kind, inputs, **how)[0] for kind, inputs, how in NODES)
    return tuple(model.SerializeToString() for model in (*(drawn(seed)[0] for seed in range(40)), *nodes))


def _networks():
    """Networks of .tflite: layers of codes, and a variable that is kept, with and without a first value."""
    from small_network import network
    from streaming import model

    return (*(network(dtype).bytes() for dtype in ("int8", "int16")), model(), model(start=False))


def _single_operators():
    """A .tflite file of each operator of the golden vectors, and files of hybrid layers, of integers, of detectors."""
    from tflite_models import cases, kinds, model

    for kind in kinds():
        every, arrays = cases(kind)
        for case in every[:: max(1, len(every) // 2)][:2]:
            yield model(case, arrays)[0]
    for name in ("hybrid", "integers", "detection"):
        with np.load(HERE.parent / f"models/tflite/{name}.npz") as held:
            yield from (held[key].tobytes() for key in held.files if key.endswith("/file"))


def cut(rng, data, other):
    return data[: rng.integers(len(data))]


def flipped(rng, data, other):
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        found[rng.integers(len(found))] ^= 1 << rng.integers(8)
    return bytes(found)


def spliced(rng, data, other):
    """A part of another file in place of one of this file."""
    start, size = rng.integers(len(data)), int(rng.integers(1, 200))
    place = rng.integers(len(other))
    return data[:start] + other[place : place + size] + data[start + int(rng.choice([0, size])) :]


def numbers(rng, data, other):
    """Four bytes, as sizes and offsets are stored, become others."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(max(1, len(found) - 4))) & ~3
        found[place : place + 4] = int(rng.choice([0, 1, 4, 255, 2**16, 2**31 - 1, 2**32 - 1, len(found)])).to_bytes(
            4, "little"
        )
    return bytes(found)


def fields(rng, data, other):
    """Fields of the messages of an ONNX model become what nobody writes."""
    import onnx

    model = onnx.ModelProto.FromString(data)
    for _ in range(int(rng.integers(1, 5))):
        _changed(rng, _message(rng, model), onnx.ModelProto.FromString(other))
    return model.SerializeToString()


def _message(rng, message):
    """One of the messages inside of a message, or itself."""
    while rng.random() < 0.9:
        inside = []
        for field, value in message.ListFields():
            if field.message_type is not None:
                inside += [value] if not field.is_repeated else list(value)
        if not inside:
            break
        message = inside[rng.integers(len(inside))]
    return message


def _changed(rng, message, other):
    """Change one field: clear it, set it, repeat or drop or exchange its elements."""
    every = [field for field, _ in message.ListFields()] or list(message.DESCRIPTOR.fields)
    field = every[rng.integers(len(every))] if rng.random() < 0.8 else pick(rng, message.DESCRIPTOR.fields)
    name = field.name
    if rng.random() < 0.15:
        message.ClearField(name)
    elif field.is_repeated:
        _repeated(rng, getattr(message, name), field)
    elif field.message_type is not None:
        getattr(message, name).CopyFrom(pick_message(rng, other, field.message_type))
    else:
        setattr(message, name, _value(rng, field, getattr(message, name)))


def _repeated(rng, values, field):
    kind = rng.random()
    if len(values) and kind < 0.3:
        del values[int(rng.integers(len(values)))]
    elif field.message_type is not None:
        if len(values):
            values.add().CopyFrom(values[int(rng.integers(len(values)))])
    elif len(values) and kind < 0.7:
        values[int(rng.integers(len(values)))] = _value(rng, field, values[0])
    elif len(values) and kind < 0.9:
        one, two = rng.integers(len(values), size=2)
        values[int(one)], values[int(two)] = values[int(two)], values[int(one)]
    else:
        values.append(_value(rng, field, 0 if not len(values) else values[0]))


def _value(rng, field, old):
    """A value of the type of a field."""
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32, field.CPPTYPE_ENUM):
        return pick(rng, field.enum_type.values).number if field.enum_type else int(rng.integers(32))
    if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
        return abs(int(pick(rng, HUGE)) >> 1) if field.cpp_type == field.CPPTYPE_UINT64 else int(pick(rng, HUGE))
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return float(pick(rng, [0.0, -1.0, np.inf, np.nan, 1e38, 1e-45]))
    if field.type == field.TYPE_BYTES:
        return bytes(rng.integers(0, 256, int(pick(rng, [0, 1, 3, 64])), np.uint8))
    words = [
        "",
        "x",
        "QLinearConv",
        "Conv",
        "Reshape",
        "If",
        "ConstantOfShape",
        "Concat",
        "com.microsoft",
        "axis",
        "\U0001f600",
    ]
    return pick(rng, [*words, old if isinstance(old, str) else "x"])


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def pick_message(rng, model, wanted):
    """A message of a type, from another model, or an empty one."""
    for _ in range(20):
        found = _message(rng, model)
        if found.DESCRIPTOR.full_name == wanted.full_name:
            return found
    return wanted._concrete_class()


HOW = {
    ".onnx": (cut, flipped, spliced, numbers, fields, fields, fields),
    ".tflite": (cut, flipped, spliced, numbers, numbers),
}


def drawn(seed, number):
    """The suffix, the name of the damage, and the bytes of a file: the same on every machine."""
    rng = np.random.default_rng([seed, number])
    suffix = pick(rng, (".onnx", ".tflite"))
    data, other = (pick(rng, seeds(suffix)) for _ in "ab")
    how = pick(rng, HOW[suffix])
    return suffix, how.__name__, how(rng, data, other)


def judged(seed, number, folder):
    """What reading a file gives: "read", or "refused", or what is wrong."""
    from qops import models
    from qops.models.noise import noise

    suffix, how, data = drawn(seed, number)
    path = Path(folder) / f"file{suffix}"
    path.write_bytes(data)
    runtime = pick(np.random.default_rng([number, seed]), ("onnx", "ort")) if suffix == ".onnx" else None
    found = {"name": suffix, "kind": how, "outcome": "read", "wrong": ""}
    try:
        with warnings.catch_warnings(action="ignore"):
            graph = models.load(path, runtime=runtime, gaps=bool(number % 2))
            shapes = [graph.tensors[name].shape for name in graph.inputs]
            sizes = [np.prod([n or 1 for n in shape], dtype=float) for shape in shapes]
            if sum(sizes) < LARGE:
                graph.run(noise(graph))
    except ValueError as refused:
        is_named = str(refused).startswith(path.name)
        found |= {"outcome": "refused", "wrong": "" if is_named else f"the error does not name the file: {refused}"}
    except Exception as wrong:  # which is what is looked for
        found |= {"wrong": f"{type(wrong).__name__}: {wrong}"}
    return found


def run(seed, first, end):
    """Judge files, and print a line of JSON before and after each."""
    with tempfile.TemporaryDirectory() as folder:
        judged(seed, first, folder)  # imports all there is
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
        for number in range(first, end):
            print(json.dumps({"number": number}), flush=True)
            print(json.dumps(judged(seed, number, folder)), flush=True)


def child(seed, first, end):
    """The command that judges these files."""
    return [sys.executable, str(HERE / "fuzz_models.py"), "--seed", str(seed), "--child", str(first), str(end)]


def verdicts(seed, first, end):
    """The verdict on each file, also of those that end the process or are not read in time."""
    for found in answers(partial(child, seed), first, end, SECONDS):
        yield {"name": "", "kind": "", "outcome": "none", "wrong": found.get("ended", "")} | found


def report(found, seed):
    """Print the counts, and the first failure of each kind; 1 if there is one."""
    counts = Counter((one["name"], one["kind"], one["outcome"]) for one in found)
    for (name, kind, outcome), count in sorted(counts.items()):
        print(f"{name:>8} {kind:<10} {outcome:<10} {count:>8}")
    wrong = {}
    for one in found:
        if one["wrong"]:
            wrong.setdefault((one["name"], one["wrong"][:50]), []).append(one)
    for same in wrong.values():
        print(f"\n{same[0]['name']}: {same[0]['wrong']:.1500}")
        print(f"    {len(same)} times, alone: make fuzzmodels SEED={seed} FILE={same[0]['number']}")
    print(f"\n{len(found)} files, {sum(map(len, wrong.values()))} failures of {len(wrong)} kinds")
    return 1 if wrong else 0


def main(words=None):
    """Judge the files; 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="make fuzzmodels", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--file", type=int, help="the number of one file, which is read alone")
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args(words)
    if args.child:
        run(args.seed, *args.child)
        return 0
    first, end = (0, args.files) if args.file is None else (args.file, args.file + 1)
    return report([*verdicts(args.seed, first, end)], args.seed)


if __name__ == "__main__":
    sys.exit(main())
