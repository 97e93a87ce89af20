"""`qops.rules.choose_range`: zero points by hand, and ranges that have no scale. The golden set has the bits."""

import numpy as np
import pytest

from qops import nnlib, rules


@pytest.mark.parametrize("rule", rules.RANGE_RULES)
def test_the_range_is_widened_to_hold_zero(rule):
    assert rules.choose_range(1.0, 3.0, rule) == rules.choose_range(0.0, 3.0, rule)
    assert rules.choose_range(0.0, 3.0, rule).scale > 0


def test_symmetric_rules_divide_by_the_number_in_their_name():
    for steps in (127, 127.5, 128):
        assert rules.choose_range(-2.0, 1.0, f"symmetric-{steps}") == (2 / steps, 128, "u8")


def test_narrow_ranges_are_widened_by_the_rules_that_say_so():
    assert rules.choose_range(0.0, 0.001, "snpe").scale == pytest.approx(0.01 / 255)
    assert rules.choose_range(0.0, 0.001, "qnn").scale == pytest.approx(0.001 / 255)


@pytest.mark.parametrize("rule", rules.RANGE_RULES)
def test_the_range_of_nothing_but_0_has_a_scale_of_no_sign(rule):
    scale, zero_point, _ = rules.choose_range(0.0, 0.0, rule)
    assert not np.signbit(scale)
    assert zero_point in (0, 128)
    assert {"tflite": 0, "tensorflow-nudge": 0, "ort": 1, "ort-dynamic": 1, "torch": 0.1}.get(rule, scale) == scale


@pytest.mark.parametrize(
    ("ends", "dtype", "scale", "zero"),
    [
        ((-1.0, 3.0), "uint8", 4 / 255, 64),
        ((-1.0, 3.0), "int8", 4 / 255, -64),
        ((0.0, 1e-3), "int8", None, -128),
        ((-1e-3, 0.0), "int8", None, 127),
        ((-1e-3, 0.0), "uint8", None, 255),
        ((-1e-3, 2e-3), "uint8", None, 85),
    ],
)
def test_torch_stretches_a_narrow_range(ends, dtype, scale, zero):
    """Its least scale is 6.1e-5."""
    found = rules.choose_range(*ends, "torch", dtype=dtype)
    assert found[:2] == (pytest.approx(6.1e-5 if scale is None else scale, rel=1e-7), zero)


def test_a_range_without_a_scale_is_refused():
    with pytest.raises(ValueError, match=r"^min, max: tflite gives no scale for 0\.0 to 5e-324"):
        rules.choose_range(0.0, 5e-324, "tflite")
    with pytest.raises(ValueError, match=r"^min, max: torch-observer gives no scale"):
        rules.choose_range(-3e38, 3e38, "torch-observer")


@pytest.mark.parametrize("rule", ["nnlib", "nnlib-adjusted"])
def test_nnlib_rows_are_its_helpers(rule, rng):
    for i in range(3000):
        lo, hi = np.sort(rng.normal(0, 2.0 ** rng.integers(-20, 20), 2)).astype(np.float32).tolist()
        lo, hi = [(min(lo, 0), max(hi, 0)), (-abs(hi), abs(hi)), (0.0, abs(hi)), (-abs(lo), 0.0)][i % 4]
        if rule == "nnlib-adjusted":
            level = nnlib.level_zero(*nnlib.adjust_range(lo, hi)[:2])
        else:
            level = nnlib.level_zero(lo, hi)
        assert rules.choose_range(lo, hi, rule) == (level.step, level.zero, "u8")
        assert rules.choose_range(lo, hi, rule, dtype="int8") == (level.step, level.zero - 128, "s8")


REDUCED = {"uint8": (0, 127), "int8": (-64, 64), "uint16": (0, 32767), "int16": (-16384, 16384)}


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("is_reduced", [False, True])
def test_onnxruntime_leaves_codes_out_where_it_is_symmetric_or_reduced(dtype, is_reduced, rng):
    """compute_scale_zp of the ends that get_qmin_qmax_for_qType gives, written down again."""
    info = np.iinfo(dtype)
    whole = (info.min, info.max)
    balanced = (-info.max, info.max) if info.min else whole
    for lo, hi in np.sort(rng.normal(size=(50, 2)).astype(np.float32)).tolist():
        low, high = REDUCED[dtype] if is_reduced else balanced
        most = max(abs(min(lo, 0)), max(hi, 0))
        found = rules.choose_range(lo, hi, "ort-reduced-symmetric" if is_reduced else "ort-symmetric", dtype=dtype)
        assert found[:2] == (float(np.float32(2 * most / (high - low))), round((low + high) / 2))
        low, high = REDUCED[dtype] if is_reduced else whole
        scale = (max(hi, 0) - min(lo, 0)) / (high - low)
        found = rules.choose_range(lo, hi, "ort-reduced" if is_reduced else "ort", dtype=dtype)
        assert found[:2] == (float(np.float32(scale)), round(low - min(lo, 0) / scale))


@pytest.mark.parametrize(("dtype", "zeros"), [("uint8", (76, 152)), ("int8", (12, 24))])
def test_torch_halves_the_codes_where_the_range_is_reduced(dtype, zeros):
    """What torch 2.13 returned for this range."""
    ends = -1.0714716, 0.7227917  # as float32
    for rule in ("torch", "torch-observer"):
        reduced, full = (rules.choose_range(*ends, name, dtype=dtype) for name in (f"{rule}-reduced", rule))
        assert (reduced.zero_point, full.zero_point) == zeros
        assert reduced.scale == pytest.approx(full.scale * 255 / 127, rel=1e-6)


def test_codes_that_a_type_does_not_have_are_refused():
    with pytest.raises(TypeError, match=r"^dtype: expected uint8 or int8 by tflite, got int16"):
        rules.choose_range(-1.0, 1.0, "tflite", dtype="int16")
    with pytest.raises(ValueError, match=r"^qmin: .*-129"):
        rules.choose_range(-1.0, 1.0, "ort", dtype="int8", qmin=-129)
    with pytest.raises(ValueError, match=r"^qmax: .* 0"):
        rules.choose_range(-1.0, 1.0, "ort", qmax=0)
