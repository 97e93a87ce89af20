import numpy as np
import pytest

from qops.onednn import Attr, Eltwise, Scales, Sum
from qops.onednn.attr import only


def test_scales_run_along_the_dimensions_of_their_mask():
    scales = Scales(np.arange(1, 7), mask=0b101)
    assert scales.along((2, 9, 3), "scale", [5]).tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    assert Scales(2).along((2, 2), "scale", [0]).shape == (1, 1)


def test_attr_knows_what_was_given():
    attr = Attr(src_scale=0.5, src_zp=0, post_ops=[Sum(0.5)])
    assert attr.given == ["src_scale", "src_zp", "post_ops"]
    assert attr.has_sum
    assert Attr().given == []
    assert not Attr(post_ops=[Eltwise()]).has_sum
    assert only(attr, "src_scale", "src_zp", "post_ops") is attr


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Scales([1, 0]), ValueError, r"above zero, got \[1, 0\]"),
        (lambda: Scales(float("nan")), ValueError, "finite values above zero, got nan"),
        (lambda: Scales(1e39), ValueError, "finite values above zero, got 1e"),
        (lambda: Scales([]), ValueError, r"got \[\]"),
        (lambda: Scales([1, 2]), ValueError, "values: expected one with mask 0, got 2"),
        (lambda: Scales([1, 2], -1), ValueError, "mask: expected .*got -1"),
        (
            lambda: Scales([1, 2], 1).along((3,), "scale", [1]),
            ValueError,
            "scale: expected 3 values with mask 1, got 2",
        ),
        (
            lambda: Scales([1, 2], 2).along((2,), "scale", [0, 1]),
            ValueError,
            r"scale: expected a mask of \[0, 1\], got 2",
        ),
        (lambda: Attr(src_zp=0.5), TypeError, "src_zp: expected an integer, got 0.5"),
        (lambda: Attr(dst_zp=-(2**31) - 1), ValueError, "dst_zp: expected an integer in .*got -2147483649"),
        (lambda: Attr(post_ops=["sum"]), TypeError, "post_ops: expected Sum or Eltwise, got 'sum'"),
        (lambda: Attr(post_ops=Sum()), TypeError, r"post_ops: expected a sequence, got Sum\(scale=1.0\)"),
        (lambda: Attr(src_scale="1"), TypeError, "src_scale: expected numbers, got '1'"),
        (lambda: Eltwise("tanh"), ValueError, "eltwise alg: expected one of relu, got 'tanh'"),
        (lambda: Sum(float("inf")), ValueError, "sum scale: inf is not a finite float32"),
        (lambda: only(Attr(src_zp=3), "dst_zp"), ValueError, "src_zp: not supported here, got 3"),
    ],
)
def test_rejects_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
