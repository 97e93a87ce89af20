"""Calls that repeat their arguments find what an earlier call was prepared with, and see all that has changed."""

import numpy as np
import pytest
from ops import on_every_tier, same
from qops._kernels.stage.calls import KnownCalls

from qops import onnx

MOST_BYTES = 1 << 26


def arguments():
    """Arguments of a convolution, all of which can be changed in place, or for others."""
    rng = np.random.default_rng(5)
    return {
        "x": rng.integers(0, 256, (2, 4, 16, 17), np.uint8),
        "x_scale": np.array(0.5, np.float32),
        "x_zero_point": np.uint8(7),
        "w": rng.integers(-128, 128, (6, 4, 3, 2), np.int8),
        "w_scale": np.float32(rng.choice([1, 2], 6) / 256),  # ties are frequent
        "w_zero_point": np.zeros(6, np.int8),
        "y_scale": np.float32(0.5),
        "y_zero_point": 101,
        "B": rng.integers(-9999, 9999, 6).astype(np.int32),
        "pads": [1, 0, 2, 1],
        "strides": (2, 1),
        "runtime": "ort",
    }


CHANGES = {
    "x": lambda a: a["x"].__setitem__((0, 0, 0), 255),
    "x, shape": lambda a: a.update(x=a["x"][:1, :, 1:]),
    "x, type": lambda a: a.update(x=a["x"].view(np.int8), x_zero_point=np.int8(7), y_zero_point=-9),
    "x, a subclass": lambda a: a.update(x=a["x"][::-1].view(np.recarray)),
    "x_scale": lambda a: a["x_scale"].fill(0.75),
    "x_zero_point": lambda a: a.update(x_zero_point=np.uint8(8)),
    "x_zero_point, a number": lambda a: a.update(x_zero_point=9),
    "w": lambda a: a["w"].__setitem__((5, 3, 2, 1), a["w"][5, 3, 2, 1] ^ 64),
    "w, type": lambda a: a.update(w=a["w"].view(np.uint8), w_zero_point=0),
    "w, turned": lambda a: a.update(w=a["w"][:, :, ::-1]),
    "w_scale": lambda a: a["w_scale"].__setitem__(5, 0.005),
    "w_scale, one": lambda a: a.update(w_scale=0.0015),
    "w_zero_point": lambda a: a["w_zero_point"].__setitem__(3, -9),
    "y_scale": lambda a: a.update(y_scale=np.float32(0.25)),
    "y_zero_point": lambda a: a.update(y_zero_point=102),
    "y_zero_point, type": lambda a: a.update(y_zero_point=np.int8(-3), runtime="onnx"),
    "B": lambda a: a["B"].__setitem__(0, 30_000),
    "B, none": lambda a: a.update(B=None),
    "pads": lambda a: a["pads"].__setitem__(0, 0),
    "pads, none": lambda a: a.update(pads=None),
    "strides": lambda a: a.update(strides=(1, 1)),
    "strides, a list": lambda a: a.update(strides=[1, 1]),
    "dilations": lambda a: a.update(dilations=(2, 1)),
    "auto_pad": lambda a: a.update(auto_pad="SAME_LOWER", pads=None),
    "group": lambda a: a.update(group=2, w=a["w"][:, :2]),
    "runtime": lambda a: a.update(runtime="onnx"),
}


def fresh(call, given):
    """The result for copies of the arguments: no call before has seen their arrays."""
    return call(**{name: np.array(v) if isinstance(v, np.ndarray) else v for name, v in given.items()})


def sums(**given):
    """conv_integer of those arguments that it takes."""
    left_out = ("x_scale", "w_scale", "y_scale", "y_zero_point", "B", "runtime")
    return onnx.conv_integer(**{name: value for name, value in given.items() if name not in left_out})


@pytest.mark.parametrize("call", [onnx.qlinear_conv, sums])
@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_seen(call, change):
    given = arguments()
    before = call(**given)
    same(call(**given), before)
    CHANGES[change](given)
    after = call(**given)
    same(after, fresh(call, given))
    same(call(**given), after)
    if call is onnx.qlinear_conv:
        assert after.shape != before.shape or after.dtype != before.dtype or (after != before).any()


REFUSED = {
    "out": lambda a: a.update(out=np.zeros((2, 6, 9, 17), np.int8)),
    "out: shape": lambda a: a.update(out=np.zeros((2, 6, 9, 16), np.uint8)),
    "B": lambda a: a.update(B=a["B"].astype(np.int64)),
    "group": lambda a: a.update(group=True),
    "strides": lambda a: a.update(strides=(True, 1)),
    "num_threads": lambda a: a.update(num_threads=1.0),
    "y_scale": lambda a: a.update(y_scale=0.0),
    "w_scale": lambda a: a["w_scale"].fill(np.inf),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_is_refused_later_too(words):
    given = arguments()
    onnx.qlinear_conv(**given)
    REFUSED[words](given)
    with pytest.raises((TypeError, ValueError), match=f"^{words}"):
        onnx.qlinear_conv(**given)


@pytest.mark.parametrize("name", ["w", "B", "w_scale"])
def test_an_out_within_an_input_is_refused_later_too(name):
    given, memory = arguments(), np.zeros(4096, np.uint8)
    place = memory[: given[name].nbytes].view(given[name].dtype).reshape(given[name].shape)
    place[...] = given[name]
    given[name] = place
    shape = onnx.qlinear_conv(**given).shape
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        onnx.qlinear_conv(**given, out=memory[: np.prod(shape)].reshape(shape))


def factors():
    """Arguments of a product of so many rows that their codes are made in parts."""
    rng = np.random.default_rng(6)
    return {
        "a": rng.integers(0, 256, (301, 70), np.uint8),
        "a_scale": np.array(0.5, np.float32),
        "a_zero_point": np.uint8(7),
        "b": rng.integers(-128, 128, (70, 530), np.int8),
        "b_scale": np.float32(rng.choice([1, 2], 530) / 512),
        "b_zero_point": np.zeros(530, np.int8),
        "y_scale": np.float32(0.5),
        "y_zero_point": 101,
        "runtime": "ort",
        "num_threads": 1,
    }


CHANGES_OF_FACTORS = {
    "a": lambda a: a["a"].__setitem__((300, 0), a["a"][300, 0] ^ 128),
    "a, shape": lambda a: a.update(a=a["a"][1:]),
    "a, turned": lambda a: a.update(a=a["a"][:, ::-1]),
    "a, a row": lambda a: a.update(a=a["a"][0]),
    "a, a batch": lambda a: a.update(a=a["a"][None]),
    "a, type": lambda a: a.update(a=a["a"].view(np.int8), a_zero_point=np.int8(7), y_zero_point=-9),
    "a_scale": lambda a: a["a_scale"].fill(0.75),
    "a_zero_point": lambda a: a.update(a_zero_point=np.uint8(8)),
    "a_zero_point, rows": lambda a: a.update(a_zero_point=np.uint8([[7]] * 300 + [[9]]), runtime="onnx"),
    "b": lambda a: a["b"].__setitem__((69, 529), a["b"][69, 529] ^ 64),
    "b, type": lambda a: a.update(b=a["b"].view(np.uint8), b_zero_point=3),
    "b, a column": lambda a: a.update(b=a["b"][:, 0], b_scale=0.004, b_zero_point=0),
    "b_scale": lambda a: a["b_scale"].__setitem__(529, 0.5),
    "b_scale, one": lambda a: a.update(b_scale=0.003),
    "b_zero_point": lambda a: a["b_zero_point"].__setitem__(3, -9),
    "y_scale": lambda a: a.update(y_scale=np.float32(0.25)),
    "y_zero_point": lambda a: a.update(y_zero_point=102),
    "y_zero_point, type": lambda a: a.update(y_zero_point=np.int8(-3), runtime="onnx"),
    "runtime": lambda a: a.update(runtime="onnx"),
    "threads": lambda a: a.update(num_threads=3, a=a["a"][:, ::-1]),
}


def product_sums(**given):
    """matmul_integer of those arguments that it takes."""
    left_out = ("a_scale", "b_scale", "y_scale", "y_zero_point", "runtime")
    given = {name: value for name, value in given.items() if name not in left_out}
    return onnx.matmul_integer(given.pop("a"), given.pop("b"), **given)


@pytest.mark.parametrize("call", [onnx.qlinear_matmul, product_sums])
@pytest.mark.parametrize("change", CHANGES_OF_FACTORS)
def test_what_has_changed_in_products_is_seen(call, change):
    given = factors()
    before = call(**given)
    for _ in range(2):
        same(call(**given), before)
    CHANGES_OF_FACTORS[change](given)
    after = call(**given)
    same(after, fresh(call, given))
    for _ in range(3):
        same(call(**given), after)
    for out in (np.empty_like(after), np.empty((*after.shape, 2), after.dtype)[..., 0]):
        assert call(**given, out=out) is out
        same(out, after)
    if call is onnx.qlinear_matmul:
        assert after.shape != before.shape or after.dtype != before.dtype or (after != before).any()


def test_what_products_refuse_is_refused_later_too():
    given, memory = factors(), np.zeros(200_000, np.uint8)
    place = memory[: given["b"].size].view(np.int8).reshape(given["b"].shape)
    place[...] = given["b"]
    given["b"] = place
    for _ in range(4):
        with pytest.raises(ValueError, match=r"^out: shares memory"):
            onnx.qlinear_matmul(**given, out=memory[: 301 * 530].reshape(301, 530))
        with pytest.raises(ValueError, match=r"^out: shape"):
            onnx.qlinear_matmul(**given, out=np.zeros((301, 531), np.uint8))
        with pytest.raises(TypeError, match=r"^out"):
            onnx.qlinear_matmul(**given, out=np.zeros((301, 530), np.int8))
        with pytest.raises(ValueError, match=r"^a, b: shapes"):
            onnx.qlinear_matmul(**{**given, "a": given["a"][:, 1:]})
        onnx.qlinear_matmul(**given)


def test_the_second_time_is_that_of_an_array_that_lives():
    known, x = KnownCalls(), np.zeros(3, np.uint8)
    assert [known.is_second(x) for _ in range(4)] == [False, True, False, False]
    assert not any(known.is_second(np.zeros(3, np.uint8)) for _ in range(20))


def test_another_tier_finds_nothing():
    known, x = KnownCalls(), np.zeros(3, np.uint8)

    def of_tier():
        found = known(x, (x,))
        known.keep("made", x, (x,))
        assert known(x, (x,)) == "made"
        return np.array(found is None)

    assert on_every_tier(of_tier)


def test_bits_of_numbers_are_told_apart():
    known, x = KnownCalls(), np.zeros(3, np.uint8)
    for number, others in (
        (1, (True, 1.0, 2, np.int64(1))),
        (0.5, (0.25, np.float64(0.5))),
        (np.float32(0.0), (np.float32(-0.0), np.float16(0))),
        (0.0, (-0.0,)),
        ("SAME", ("VALID", None)),
        ([1, 1], ((1, 1), [1, 2], [1], [1, True])),
    ):
        assert known.keep("made", x, (x, number)) == "made"
        assert all(known(x, (x, other)) is None for other in others)
        if number != 0:
            assert known(x, (x, number)) == "made"
        assert known(x, (x,)) is None
        assert known(np.zeros(3, np.uint8), (x, number)) is None


def test_what_may_change_unseen_is_not_kept():
    known, x = KnownCalls(), np.zeros(3, np.uint8)
    for argument in (True, [1, 2.0], {1: 2}, np.zeros(3, ">i4"), np.zeros((4, 4))[:, ::2], x.view(np.recarray)):
        assert known.keep("made", x, (x, argument)) == "made"
        assert known(x, (x, argument)) is None


def test_no_more_is_kept_than_fits():
    known, small = KnownCalls(), np.zeros(3, np.uint8)
    parts = [np.zeros(MOST_BYTES // 4, np.uint8) for _ in range(4)]
    known.keep("small", small, (small,))
    for i, x in enumerate(parts):
        known.keep(i, x, (x,))
    assert [known(x, (x,)) for x in parts] == [None, None, None, 3]
    assert known(small, (small,)) is None
    for _ in range(9):
        known.keep("again", parts[3], (parts[3],))
    known.keep("small", small, (small,))
    assert known(parts[3], (parts[3],)) == "again"
    for x in [np.zeros(1, np.uint8) for _ in range(260)]:
        known.keep("tiny", x, (x,))
    assert known(parts[3], (parts[3],)) is None
    assert known(x, (x,)) == "tiny"
    large = np.zeros(MOST_BYTES // 4 + 1, np.uint8)
    known.keep("large", large, (large,))
    assert known(large, (large,)) is None
