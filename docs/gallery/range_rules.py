"""How narrow a range may be.

Some systems widen a range that they find too narrow, each by a rule of its own. The range that is asked for goes from 0
to the value below. The step that each rule gives it is shown as a multiple of the step that would be right.
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
for (name, rule), line in zip(GROUPS.items(), ("-", "--", "-.", ":", (0, (6, 1)), (0, (1, 1))), strict=True):
    steps = np.array([rules.choose_range(0.0, width, rule).scale for width in widths])
    axes.loglog(widths, steps * 255 / widths, label=name, lw=2, ls=line)
axes.set(xlabel="highest value of the range", ylabel="step / the right step", xlim=(1e-6, 1), ylim=(0.8, 2e4))
axes.grid(color="#ddd")
axes.legend()
figure.savefig("range_rules.svg")
