"""The golden cases of further runtimes in the words of `qops.rules`: arguments are renamed, nothing else."""

import numpy as np

from qops import rules

TYPES = {"u8": np.uint8, "s8": np.int8}
QUANTIZERS = {  # a rule of the sets -> the row that stands for it
    "quantize/aimet": "div-half-up-zp-inside",
    "quantize/mnn": "mnn",
    "quantize/ncnn": "ncnn",
    "quantize/openvino": "openvino",
    "quantize/div-even": "div-even",
    "inv-even": "inv-even",
    "qonnx-ROUND": "div-even-zp-inside",
    "qonnx-HALF_EVEN": "div-even-zp-inside",
    "qonnx-CEIL": "div-ceil-zp-inside",
    "qonnx-FLOOR": "div-floor-zp-inside",
    "qonnx-UP": "div-outward-zp-inside",
    "qonnx-DOWN": "div-truncate-zp-inside",
    "qonnx-HALF_UP": "div-away-zp-inside",
    "qonnx-HALF_DOWN": "div-half-toward-zero-zp-inside",
    "brevitas-ROUND": "div-even-zp-inside",
    "brevitas-CEIL": "div-ceil-zp-inside",
    "brevitas-FLOOR": "div-floor-zp-inside",
    "brevitas-ROUND_TO_ZERO": "div-truncate-zp-inside",
    "brevitas-DPU_ROUND": "div-even-or-up-zp-inside",
    "esp-ppq-ROUND_HALF_EVEN": "div-even",
    "esp-ppq-ROUND_HALF_UP": "div-half-up",
    "esp-ppq-ROUND_HALF_DOWN": "div-half-down",
    "esp-ppq-ROUND_HALF_TOWARDS_ZERO": "div-half-toward-zero",
    "esp-ppq-ROUND_HALF_FAR_FORM_ZERO": "div-away",
    "esp-ppq-ROUND_UP": "div-ceil",
    "esp-ppq-ROUND_DOWN": "div-floor",
}


def ends(attrs):
    return {key: attrs[key] for key in ("zero_point", "qmin", "qmax") if key in attrs}


def quantize(dtype):
    """Codes of a quantizer, in the type that the set stores."""

    def run(i, attrs):
        of = TYPES.get(attrs.get("dtype"), dtype)
        rule = QUANTIZERS[attrs["rule"]]
        if "input_low" in attrs:
            numbers = {"range": (attrs["input_low"], attrs["input_high"])}
        else:
            scale = 1 / attrs["codes_per_unit"] if "codes_per_unit" in attrs else attrs["scale"]
            numbers = {"scale": scale, **ends(attrs)}
        return {"y": rules.quantize(i["x"], rule, dtype=of, **numbers)}

    return run


def rknn(i, attrs):
    if attrs["op"] == "quantize":
        return quantize(np.int8)(i, attrs)
    scale = rules.real_scale(attrs["in_scale"], i["w_scale"], attrs["out_scale"], attrs["derive"])
    return {"y": rules.requantize(i["acc"], attrs["rule"], scale=scale, axis=attrs["axis"], **ends(attrs))}


ADAPTORS = {
    "aimet_quantize": quantize(np.uint8),
    "brevitas_intquant": quantize(np.int16),
    "esp_ppq_quantize": quantize(np.int16),
    "mnn_quantize": quantize(np.int8),
    "ncnn_quantize": quantize(np.int8),
    "openvino_fakequantize": quantize(np.uint8),
    "qonnx_quant": quantize(np.int16),
    "rknn_conv": rknn,
    "torch_linear_dynamic": quantize(np.uint8),
}
