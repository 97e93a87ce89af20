"""How narrow a range may be.

Every system widens a range that it finds too narrow, each by a rule of its own. The range asked for goes from 0 to the
value below; the step that each rule gives it is shown as a multiple of the one that would be right.
"""

import matplotlib.pyplot as plt
import numpy as np

from qops import rules

GROUPS = {
    "tflite, ort, onnx-dynamic": "tflite",
    "torch": "torch",
    "torch-observer": "torch-observer",
    "qnn, ort-1e-4": "qnn",
    "snpe, ort-0.01": "snpe",
    "ort-symmetric": "ort-symmetric",
}
widths = np.geomspace(1e-6, 1, 200)
figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
for name, rule in GROUPS.items():
    steps = np.array([rules.choose_range(0.0, width, rule).scale for width in widths])
    axes.loglog(widths, steps * 255 / widths, label=name, lw=2)
axes.set(xlabel="highest value of the range", ylabel="step, relative to the right one", xlim=(1e-6, 1), ylim=(0.8, 2e4))
axes.grid(color="#ddd")
axes.legend()
plt.savefig("range_rules.svg")
