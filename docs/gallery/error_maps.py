"""The error of a sum, for every pair of codes.

Two uint8 tensors over [-1, 1.55] and [-1.3, 2.1] are added into 8 bits. Errors are in steps of the result. qops rounds
the sum once, with integers that hold both offsets. The others round the zero point of an operand first, so their sums
are too low. The maps show the first 64 codes of each tensor, the numbers all 65,536 pairs.
"""

import matplotlib.pyplot as plt
import numpy as np

import qops
from qops import nnlib, tensorflow

codes = np.arange(256, dtype=np.uint8)
a, b = np.meshgrid(codes, codes, indexing="ij")
x, y = (a, -1.0, 1.55), (b, -1.3, 2.1)
exact = a * (2.55 / 255) - 1 + b * (3.4 / 255) - 1.3


def by_tensorflow(x, y):
    """Add into 32 bits, then requantize into the range that is found."""
    wide = tensorflow.quantized_add(x, y)
    return tensorflow.requantize(wide, *tensorflow.requantization_range(wide))


adders = {
    "qops": qops.quantized_add_8p8to8,
    "hexagon nnlib": nnlib.quantized_add_8p8to8,
    "TensorFlow, by way of 32 bits": by_tensorflow,
}
figure, panels = plt.subplots(1, 3, figsize=(10, 3.9), layout="constrained", sharey=True)
for panel, (name, add) in zip(panels, adders.items(), strict=True):
    total = add(x, y)
    off = qops.signed_error(total, exact)
    qops.plot.error_map(off[:64, :64], scale=1, bar=name.startswith("TensorFlow"), ax=panel)
    panel.set_title(f"{name}\nat most {np.abs(off).max():.2f}, on average {off.mean():+.2f}")
    panel.set(xlabel="code of b", xticks=[0, 32, 63], yticks=[0, 32, 63])
panels[0].set_ylabel("code of a, 0 to 63 downward")
figure.savefig("error_maps.png")
