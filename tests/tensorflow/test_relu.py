"""`quantized_relu` and `quantized_relu6` against their twin, in ranges of any kind."""

import numpy as np
import pytest
import reference_tensorflow as twin

from qops import QTensor, tensorflow

RANGES = [*twin.RANGES, (2.0, -1.0), (7.0, 9.0), (5.0, 6.0), (1.0, 1.0 + 2.0**-23), (-(2.0**127), 2.0**126)]
CODES = {np.uint8: np.arange(256, dtype=np.uint8), np.int32: np.int32([-(2**31), -9, -1, 0, 1, 9, 2**30, 2**31 - 1])}


def cut(q, lo, hi, top):
    lowest, highest, _ = twin.ends_of(q.dtype)
    lo, hi = np.float32(lo), np.float32(hi)
    ends = [max(lowest, min(highest, twin.float_to_quantized(x, lo, hi, q.dtype))) for x in (0, 6)]
    return [min(max(code, ends[0]), ends[1] if top else highest) for code in q.tolist()]


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("op", [tensorflow.quantized_relu, tensorflow.quantized_relu6])
def test_matches_twin(dtype, op):
    for lo, hi in RANGES:
        t = op((CODES[dtype], lo, hi))
        assert t.data.tolist() == cut(CODES[dtype], lo, hi, op is tensorflow.quantized_relu6)
        assert t.data.dtype == dtype
        assert (t.min, t.max) == (np.float32(lo), np.float32(hi))


def test_the_result_knows_what_its_codes_stand_for():
    codes = CODES[np.int32]
    assert tensorflow.quantized_relu((codes, -1.0, 1.0)).code_type.name == "s32"
    lopsided = tensorflow.quantized_relu(QTensor(codes, 0.0, 6.0, "s32_affine"))
    assert lopsided.code_type.name == "s32_affine"
    assert lopsided.dequantize()[-1] == 6


def test_another_out_type_is_refused():
    t, wide = (CODES[np.uint8], 0.0, 1.0), (CODES[np.int32], 0.0, 1.0)
    for features, kind, other in ((t, "quint8", "qint32"), (wide, "qint32", "quint8")):
        assert tensorflow.quantized_relu(features, kind).data.dtype == features[0].dtype
        with pytest.raises(ValueError, match=f"^out_type: TensorFlow has no kernel from {kind} to {other}"):
            tensorflow.quantized_relu(features, other)
        with pytest.raises(ValueError, match=r"^out_type: 'qint8' is not in the list"):
            tensorflow.quantized_relu6(features, "qint8")


def test_steps_that_int64_does_not_hold_cut_at_the_lowest_code():
    codes = np.int32([-(2**31), -7, 0, 7, 2**31 - 1])
    assert (tensorflow.quantized_relu6((codes, -1e-9, 1e-9)).data == -(2**31)).all()


def test_an_end_below_the_normal_numbers_is_0():
    """As TensorFlow 2.21 gives it: code 0 is the highest, and the range is passed on as it is."""
    t = tensorflow.quantized_relu((np.int32([0]), -3.8e-38, 1.1e-39))
    assert (t.data.item(), t.max) == (2147483647, float(np.float32(1.1e-39)))
