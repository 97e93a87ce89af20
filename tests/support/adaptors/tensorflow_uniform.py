"""The adaptors of the Uniform* ops, of the ops with a range per channel, and of the norms."""

from typing import Any

from qops import tensorflow


def requantize_per_channel(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    ends = (i["requested_output_min"], i["requested_output_max"])
    t = tensorflow.requantize_per_channel((i["input"], i["input_min"], i["input_max"]), *ends, **attrs)
    return dict(zip(("output", "output_min", "output_max"), t, strict=True))


def requantization_range_per_channel(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    found = tensorflow.requantization_range_per_channel((i["input"], i["input_min"], i["input_max"]), **attrs)
    return dict(zip(("output_min", "output_max"), found, strict=True))


REFUSALS = {
    "operatorsupports 4D tensors only": "input: RequantizePerChannel supports 4D tensors only",
    "If out_type is QINT8": "requested_output_min: If out_type is QINT8",
    "input_m(in|ax) has incorrect size": "input: input_min and input_max has incorrect size",
    "input must be in NHWC format": "input: input must be in NHWC format",
    "input must not be empty": "input: input must not be empty",
    "must have same number of channels": "input: must have same number of channels",
}

ADAPTORS = {
    "RequantizePerChannel": requantize_per_channel,
    "RequantizationRangePerChannel": requantization_range_per_channel,
}
