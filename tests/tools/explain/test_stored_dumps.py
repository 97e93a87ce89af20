"""All stored results of real systems whose rule is known: `explain` names that rule, and nothing false."""

from contextlib import suppress
from typing import get_args

import numpy as np
import pytest
from stored_dumps import dumps, sets

import qops
from qops import rules
from qops.rules.scales import Derivation

SETS = sets()
NONE = {  # sets of which no adaptor calls a rule of a kind that `explain` takes
    "rules": {"choose_qparams_ort", "choose_qparams_tflite", "quantize_multiplier", "torch_choose_qparams"},
    "rules_arm": {"ort_arm_lowest", "ort_arm_to_float", "torch_arm_dynamic"},
    "rules_avx2": {
        *("openvino_avx2_layers", "ort_avx2_convinteger", "ort_avx2_float_matmul", "ort_avx2_matmulinteger"),
        *("ort_avx2_models", "ort_avx2_qlinearconv", "ort_avx2_qlinearmatmul", "tensorflow_avx2_fused"),
        "torch_avx2_linear_dynamic",
    },
    "runtimes": {
        *("fixed_modes", "ggml_dot", "ggml_quantize"),
        *("rowwise_bitsandbytes", "rowwise_ct2", "rowwise_ort_nbits", "rowwise_torchao"),
    },
}
WITH_RULES = [(system, name) for system, name in SETS if name not in NONE[system]]
SAME = {"fp32-even": "torch-qnnpack"}  # with a scale that torch's engine forms, the row is its own


def right(dump, found):
    """Whether the rule is named, or the one that it is on these data: blocks without a tail have the rule of both."""
    row = rules.BLOCKS.get(dump.rule) if dump.kind == "requantize" else None
    names = {dump.rule, SAME.get(dump.rule)} | ({row.whole, row.tail} if row else set())
    ranged = [name for name in found.exact if name.rpartition(", ")[2] in names]
    return bool(names & {*found.exact} or ("rmin" in dump.numbers and ranged))


def forms(dump):
    """The numbers as the function of the rule takes them, in each way that a system forms its scale."""
    given = {key: value for key, value in dump.numbers.items() if key not in ("rmin", "rmax")}
    if "rmin" in dump.numbers:
        given["range"] = dump.numbers["rmin"], dump.numbers["rmax"]
    if "in_scale" not in given:
        yield given
        yield {key: value for key, value in given.items() if key not in ("y_scale", "y_zero_point")}  # those of x
        return
    three = [given.pop(name, None) for name in ("in_scale", "w_scale", "out_scale")]
    yield {**given, "scales": tuple(three)}
    if three[2] is not None:
        bias = given.pop("bias", None)
        sums = dump.x if bias is None else None
        for derive in get_args(Derivation) if sums is not None else ():
            yield {**given, "scale": rules.real_scale(*three, derive)}


def reproduces(dump, rule):
    """Whether the public function of this rule gives every integer."""
    call, inputs = getattr(rules, dump.kind), [dump.x] if dump.b is None else [dump.x, dump.b]
    typed = {} if dump.kind in ("add", "mul", "average_pool") else {"dtype": dump.y.dtype}
    for given in forms(dump):
        with suppress(ValueError, TypeError):
            if np.array_equal(call(*inputs, rule, **given, **typed).reshape(dump.y.shape), dump.y):
                return True
    return False


def explained(dump, y):
    return qops.explain(dump.x, y, kind=dump.kind, b=dump.b, **dump.numbers)


@pytest.mark.long
@pytest.mark.parametrize(("system", "name"), WITH_RULES)
def test_the_rule_of_each_stored_dump_is_named_and_nothing_false(system, name):
    found = list(dumps(system, name))
    assert len(found) >= 12
    for dump in found:
        told = explained(dump, dump.y)
        assert right(dump, told), f"{dump.id}: {dump.rule} is not in {told.exact}"
        assert not told.mistakes, f"{dump.id}: {told.mistakes[0].label}"
        if "bias" not in dump.numbers and "rmin" not in dump.numbers:
            false = [rule for rule in told.exact if not reproduces(dump, rule)]
            assert not false, f"{dump.id}: {false}"


@pytest.mark.long
@pytest.mark.parametrize(("system", "name"), WITH_RULES)
def test_one_wrong_integer_is_no_mistake_of_a_kind(system, name):
    """An integer of a right dump is made wrong by 1: no rule that does not give it is named, and no mistake."""
    tried = 0
    for dump in [*dumps(system, name)][::8]:
        inside = np.flatnonzero((dump.y > np.iinfo(dump.y.dtype).min) & (dump.y < np.iinfo(dump.y.dtype).max))
        if dump.y.size < 16 or not inside.size:
            continue
        y = dump.y.reshape(-1).copy()
        y[inside[inside.size // 2]] += 1
        wrong = dump._replace(y=y.reshape(dump.y.shape))
        told = explained(wrong, wrong.y)
        assert not told.mistakes, f"{dump.id}: {told.mistakes[0].label}"
        if "bias" not in dump.numbers and "rmin" not in dump.numbers:
            assert all(reproduces(wrong, rule) for rule in told.exact), f"{dump.id}: {told.exact}"
        tried += 1
    assert tried >= 1


def test_every_set_is_counted():
    """A set of which no dump is read is named above, with the others that hold no rule that `explain` takes."""
    assert {system: {name for of, name in SETS if of == system} & NONE[system] for system in NONE} == NONE
    assert len(WITH_RULES) > 70
    for system, name in [(system, name) for system, name in SETS if name in NONE[system]]:
        assert not any(True for _ in dumps(system, name)), f"{system} {name} holds rules"
