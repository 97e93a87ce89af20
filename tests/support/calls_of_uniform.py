"""Good calls for the registry `ops.OPS`: TensorFlow's Uniform* ops, those with a range per channel, and the norms."""

import numpy as np

ACC = (np.arange(-18, 18, dtype=np.int32) * 50_000_000).reshape(1, 3, 4, 3)
CHANNELS = (ACC, np.float32([-1, -2, -0.5]), np.float32([1, 2, 3]))

CALLS = {
    "tensorflow.requantize_per_channel": {
        "good": {"input": CHANNELS, "requested_output_min": -1.0, "requested_output_max": 1.5, "out_type": "qint8"},
        "out": np.int8,
        "each": False,
    },
    "tensorflow.requantization_range_per_channel": {
        "good": {"input": CHANNELS, "clip_value_max": 6.0},
        "each": False,
    },
}
