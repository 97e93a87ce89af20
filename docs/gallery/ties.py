"""Where a half goes.

Sums of a convolution that lie in the middle between two codes, requantized as ten systems do it. Each number is the
code that comes out, less the zero point, which is 3. Few documents say whether such a sum goes up or down, and a chip
that differs from its simulator differs here first.
"""

import matplotlib.pyplot as plt
import numpy as np

from qops import rules

SYSTEMS = {
    "TFLite reference, CMSIS-NN": "tflite-double",
    "the same, single rounding": "tflite-single",
    "TFLite optimised, ARM NEON": "half-up-double",
    "TFLite fully connected, reference": "double-away",
    "XNNPACK, onnxruntime, torch": "fp32-even",
    "torch on oneDNN (zero point 3)": "torch-onednn",
    "XNNPACK rndnu": "rndnu",
    "QNNPACK precise": "rndna",
    "a bare >>": "shift-floor",
    "a division in C": "shift-toward-zero",
}
halves = np.arange(-7, 8, 2)  # times 16 / 32: -3.5, -2.5 ... 3.5
codes = [rules.requantize(halves * 16, rule, scale=1 / 32, zero_point=3) - 3 for rule in SYSTEMS.values()]
up = np.array(codes) > halves / 2
figure, axes = plt.subplots(figsize=(7.2, 3.9), layout="constrained")
axes.imshow(up, cmap=plt.matplotlib.colors.ListedColormap(["#2a6f97", "#f4a259"]), aspect="auto")
for (i, j), is_up in np.ndenumerate(up):
    axes.text(j, i, f"{codes[i][j]}", ha="center", va="center", color="black" if is_up else "white", weight="bold")
axes.set_xticks(range(len(halves)), [f"{half / 2:g}" for half in halves])
axes.set_yticks(range(len(SYSTEMS)), SYSTEMS)
axes.set_xticks(np.arange(len(halves) - 1) + 0.5, minor=True)
axes.set_yticks(np.arange(len(SYSTEMS) - 1) + 0.5, minor=True)
axes.grid(visible=False)
axes.grid(which="minor", color="white", lw=2)
axes.tick_params(which="both", length=0)
axes.spines[:].set_visible(False)
axes.set_xlabel("exact value, in steps of the code")
axes.set_title("Where a half goes: up (orange) or down (blue)", loc="left", weight="bold")
figure.savefig("ties.svg")
