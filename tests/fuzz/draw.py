"""A call by its seed and number, made of a good call of the registry.

Other shapes, codes, numbers and words are drawn, so that most calls are taken. In mixed calls some arguments are those
of other ops; in wild ones they are anything.
"""

import copy
import inspect
import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import wild
from cases import WAYS, lay_out
from nested import at, paths, replaced
from ops import OPS, PREPARED, arrays, function, is_tensor
from prepared_ops import CALL, kind_of

from qops.onednn import Attr, Eltwise, Scales, Sum

KINDS = {"good": 0.5, "mixed": 0.2, "wild": 0.3}
NAMES = [name for name in [*OPS, *PREPARED] if name != "isa_tier"]  # which tells the tiers apart
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 200]
MOST = 200_000
"""Elements of an array; a draw of more keeps the shapes of the good call."""


signature = cache(inspect.signature)


class Call(NamedTuple):
    """A call of a function, or the making and calling of a prepared op."""

    name: str
    kind: str
    arguments: dict[str, Any]

    @property
    def of(self):
        """The name of the function, that of the prepared op too."""
        return PREPARED[self.name][0] if self.name in PREPARED else self.name

    def run(self, **changes):
        """Call it, with some arguments changed."""
        given = self.arguments | changes
        if self.name not in PREPARED:
            return function(self.name)(**given)
        data = (*PREPARED[self.name][1], *CALL)
        op = kind_of(self.name)(**{key: value for key, value in given.items() if key not in data})
        return op(**{key: value for key, value in given.items() if key in data})


def pick(rng, values):
    """One of a sequence, as it is."""
    return values[rng.integers(len(values))]


def parameters(of):
    return signature(function(of)).parameters


@cache
def words(of, key):
    """The words that an argument may be, from the error that refuses another."""
    try:
        function(of)(**OPS[of].good | {key: "?"})
    except (TypeError, ValueError) as refused:
        text = str(refused).replace("'?'", "").partition(", got")[0]
        return re.findall(r"'([\w-]+)'", text) or re.split(r"one of |allowed values: |expected ", text)[-1].split(", ")
    raise AssertionError(f"{of} takes any word as {key}")


@cache
def known(key, room=""):
    """The good values that arguments of this name have in the calls of a room, or of all."""
    return [op.good[key] for name, op in OPS.items() if key in op.good and name.startswith(room)]


def drawn(seed, number):
    """The call with this number: the same on every machine."""
    rng = np.random.default_rng([seed, number])
    name = pick(rng, NAMES)
    kind = [*KINDS][rng.choice(len(KINDS), p=[*KINDS.values()])]
    of = PREPARED[name][0] if name in PREPARED else name
    good = varied(of, rng)
    keys = [key for key in parameters(of) if key != "out"]
    for key in rng.permutation(keys)[: rng.integers(1, 3)] if kind != "good" else []:
        key, present = str(key), good.get(str(key), parameters(of)[str(key)].default)
        good[key] = wild.value(present, rng) if kind == "wild" else of_another(key, rng)
    return Call(name, kind, good)


def of_another(key, rng):
    """A good value of any argument of any call, of the same name in half of the draws."""
    if known(key) and rng.random() < 0.5:
        return copy.deepcopy(pick(rng, known(key)))
    good = pick(rng, [*OPS.values()]).good
    return copy.deepcopy(pick(rng, [*good.values()])) if good else None


def varied(of, rng):
    """The good call with other shapes, codes, numbers, words and objects."""
    good = copy.deepcopy(OPS[of].good)
    if rng.random() < 0.8:
        shaped = shapes(of, good, rng)
        good = shaped if sum(at(shaped, path).size for path in paths(shaped)) < MOST else good
    for path in paths(good):
        x = contents(at(good, path), rng)
        good = replaced(good, path, lay_out(x, pick(rng, WAYS) if rng.random() < 0.3 else "plain"))
    for key, parameter in parameters(of).items():
        if key != "out" and rng.random() < 0.4:
            value = good.get(key, parameter.default)
            other = copy.deepcopy(other_value(of, key, value, rng))
            good |= {key: other} if other is not value else {}
    return good


def other_value(of, key, value, rng):
    """Another number, word, flag or object in place of a good one; `value` itself of anything else."""
    same_name = known(key, of.rpartition(".")[0]) if value is None else []
    if key == "num_threads":
        return int(rng.integers(1, 4))
    if key == "attr":
        return attributes(rng)
    if isinstance(value, bool):
        return bool(rng.random() < 0.5)
    if isinstance(value, str):
        return pick(rng, words(of, key))
    if isinstance(value, int):
        return value + int(rng.integers(-3, 4)) if value > 1 or rng.random() < 0.2 else value
    if isinstance(value, float):
        return near(value, rng)
    if isinstance(value, (list, tuple)) and all(type(n) is int for n in value):
        return type(value)(n if rng.random() < 0.8 else int(rng.integers(4)) for n in value)
    if is_tensor(value) and not any(isinstance(end, np.ndarray) for end in value[1:]):
        return (value[0], *ends(*value[1:], rng))
    return pick(rng, same_name) if same_name else value


def near(value, rng):
    """A number like this one: simple fractions of it, which make ties, its neighbours, any number of its size."""
    return float(value * rng.choice([0.5, 2, 0.75, 1 + 2.0**-23, 2.0 ** rng.integers(-9, 9), rng.random() + 0.5]))


def ends(lo, hi, rng):
    """The ends of a range: symmetric where the given ones are, with 0 on a code, between codes, or beyond."""
    factor = near(1.0, rng)
    if lo == -hi or rng.random() < 0.5:
        return lo * factor, hi * factor
    middle, width = rng.choice([0.0, 1.0, rng.normal()]) * factor, rng.choice([0, 1, rng.random()]) * factor
    return float(middle - width), float(middle + width)


def attributes(rng):
    """Attributes of a oneDNN primitive; most take but some of them."""
    made = {
        "oscale": near(0.01, rng),
        "src_scale": near(0.5, rng),
        "wei_scale": Scales(np.full(4, near(1.0, rng)), mask=int(rng.integers(1, 4))),
        "dst_scale": near(9.0, rng),
        "src_zp": int(rng.integers(-3, 300)),
        "wei_zp": int(rng.integers(-9, 9)),
        "dst_zp": int(rng.integers(-3, 300)),
        "post_ops": [Sum(near(1.0, rng)), Eltwise("relu", near(0.1, rng), near(1.0, rng))][: rng.integers(1, 3)],
    }
    return Attr(**{key: made[key] for key in rng.permutation([*made])[: rng.integers(3)]})


def shapes(of, good, rng):
    """The call with other lengths of axes, the same new one for all axes of one length."""
    if OPS[of].each and rng.random() < 0.8:
        n = pick(rng, LENGTHS)
        shape = pick(rng, [(n,), (2, n), (n, 3), (1, n, 2), (), (0, 3)])
        return resized(good, lambda x: shape, rng)
    other = {n: pick(rng, LENGTHS[:14]) for n in range(3, 40)} | {1: 1, 2: pick(rng, LENGTHS[:4])}
    other |= {n: 4 * pick(rng, LENGTHS[:5]) for n in (4, 8, 16)} if rng.random() < 0.7 else {4: 4, 8: 8, 16: 16}
    good = resized(good, lambda x: tuple(other.get(n, n) for n in x.shape), rng)
    rows = next((data for call, data in PREPARED.values() if call == of), [] if OPS[of].each else arrays(of)[:1])
    count = pick(rng, LENGTHS[:14])
    return {
        key: resized(value, lambda x: (count, *x.shape[1:])[: x.ndim], rng) if key in rows else value
        for key, value in good.items()
    }


def resized(good, shape_of, rng):
    """All arrays of a call with the shapes that `shape_of` gives them; now and then a length of 1, which broadcasts."""
    for path in paths(good):
        x = at(good, path)
        x = np.resize(x, shape_of(x)) if x.size else x
        short = tuple(slice(1 if rng.random() < 0.3 else None) for _ in x.shape) if rng.random() < 0.1 else ()
        good = replaced(good, path, np.ascontiguousarray(x[short]).reshape(x[short].shape))
    return good


def contents(x, rng):
    """Other elements: codes of the whole type, few codes, its ends alone; real numbers, whole ones and halves."""
    way = rng.integers(5)
    if x.dtype.kind in "iu":
        row = np.iinfo(x.dtype)
        if way < 2:
            return rng.integers(row.min, row.max, x.shape, x.dtype, endpoint=True)
        if way == 2:
            return rng.choice([row.min, row.max, 0, row.max - 1], x.shape).astype(x.dtype)
        return (x // 5 + x.dtype.type(rng.integers(0, 9))).astype(x.dtype) if way == 3 else x
    if way == 0:
        return (rng.normal(size=x.shape) * near(1.0, rng)).astype(x.dtype)
    return (rng.integers(-9, 9, x.shape) / 2).astype(x.dtype) if way == 1 else x * x.dtype.type(near(1.0, rng))
