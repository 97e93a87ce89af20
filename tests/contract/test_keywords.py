"""A keyword that an op does not have: the error names the nearest one, in all rooms; or all, in those of our own."""

import inspect
import pickle
import re
import sys
from importlib import import_module

import numpy as np
import prepared_ops
import pytest
from ops import FRONT_DOOR, OPS, PREPARED, TOOLS, function
from prepared_ops import kind_of

import qops
from qops.onednn import workflow

WITH_NUMBERS = {"explain"}  # whose `**numbers` depend on the kind: it says which each kind has
CALLED = {name: (function(name), OPS[name].good) for name in {*FRONT_DOOR, *TOOLS} - WITH_NUMBERS - {"isa_tier"}}
CALLED |= {name: (function(name), OPS[name].good) for name in OPS if name.startswith("rules.")}
CALLED |= {
    name: (getattr(room, name), good)
    for room, name, good in (
        (qops.testing, "assert_codes", {"got": [1], "wanted": [1]}),
        (qops.testing, "assert_within", {"got": qops.quantize([1.0]), "exact": [1.0], "lsb": 1}),
        (qops.models, "load", {"path": "none.tflite"}),
    )
}
CALLED |= {name: (kind_of(name), prepared_ops.parts(name)[0]) for name in PREPARED if "." not in name}


def public():
    """All public functions and classes that have keywords of their own, by dotted names."""
    modules = [qops, *(getattr(qops, name) for name in qops.__all__)]
    rooms = {module.__name__: module for module in modules if inspect.ismodule(module)} | {
        "qops.onednn.workflow": workflow
    }
    names = [(room, name) for room, module in rooms.items() for name in getattr(module, "__all__", vars(module))]
    found = {f"{room}.{name}": getattr(rooms[room], name) for room, name in names if not name.startswith("_")}
    own = {name: op for name, op in found.items() if getattr(op, "__module__", "").startswith("qops.")}
    return {name: op for name, op in own.items() if inspect.isroutine(op) or inspect.isclass(op)}


PUBLIC = public()


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_misspelt_keyword_names_the_nearest(name):
    op = PUBLIC[name]
    parameters = inspect.signature(op).parameters.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    needed = dict.fromkeys((p.name for p in parameters if p.default is p.empty and p.name in named), None)
    for word in named:
        with pytest.raises(TypeError, match=f"{word}_.*\\. Did you mean '{word}'\\?$"):
            op(**needed, **{f"{word}_": 1})


def test_all_rooms_are_tried():
    assert len(PUBLIC) > 400
    tried = {name.rpartition(".")[0] for name in PUBLIC}
    assert {"qops", "qops.isa", "qops.nnlib", "qops.onednn", "qops.onnx", "qops.tensorflow", "qops.tflite"} <= tried


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python names the keyword itself")
def test_functions_of_systems_stay_what_they_are():
    add, home = qops.tflite.add, import_module("qops.tflite.add")
    assert inspect.isfunction(add)
    assert inspect.unwrap(add) is home.add
    assert inspect.signature(add) == inspect.signature(home.add)
    assert add.__doc__ == home.add.__doc__
    assert pickle.loads(pickle.dumps(add)) is add
    assert str(inspect.signature(qops.tflite.Relu)) == str(inspect.signature(qops.tflite.Relu.__init__)).replace(
        "self, ", ""
    )


def test_another_type_error_is_as_it_was():
    with pytest.raises(TypeError, match=r"^add\(\) missing 2 required positional arguments: 'a' and 'b'$"):
        qops.tflite.add()
    with pytest.raises(TypeError, match=r"^x: ") as caught:
        qops.tflite.relu(np.array([1.5]), x_scale=1.0, x_zero_point=0, y_scale=1.0, y_zero_point=0)
    assert caught.value.argument == "x"


@pytest.mark.parametrize("name", sorted(CALLED))
def test_a_keyword_that_is_like_none_says_which_there_are(name):
    op, good = CALLED[name]
    words = ", ".join(inspect.signature(op).parameters)
    with pytest.raises(
        TypeError, match=re.escape(f"{name.split('.')[-1]}() got an unexpected keyword argument '%'")
    ) as caught:
        op(**good, **{"%": 1})
    assert str(caught.value).endswith(f". It takes {words}.")


def test_explain_says_which_numbers_a_kind_has():
    with pytest.raises(TypeError, match=r"^zeropoint: requantize has no such number, only scale, .*zero_point"):
        qops.explain(**OPS["explain"].good, zeropoint=1)
