"""A keyword that an op of the front door, a rule or a tool does not have: the error names the nearest, or all."""

import inspect
import re

import prepared_ops
import pytest
from ops import FRONT_DOOR, OPS, PREPARED, TOOLS, function
from prepared_ops import kind_of

import qops

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


@pytest.mark.parametrize("name", sorted(CALLED))
def test_an_unknown_keyword_names_the_nearest(name):
    op, good = CALLED[name]
    for word in inspect.signature(op).parameters:
        with pytest.raises(TypeError, match=f"'{word}_'\\. Did you mean '{word}'\\?$"):
            op(**good, **{f"{word}_": 1})


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
