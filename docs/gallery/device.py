"""Which rule made these integers.

A thousand sums and what a device made of them. Every rule is tried: the grey ones are excluded by at least one sum, and
what is left is the same function on every sum that this scale allows.
"""

import matplotlib.pyplot as plt
import numpy as np

import qops
from qops import rules

acc = np.random.default_rng(5).integers(-35_000, 35_000, 1000)
device = rules.requantize(acc, "tflite-double", scale=0.0033, zero_point=3)  # the secret
found = qops.explain(acc, device, scale=0.0033, zero_point=3)
wrong = {}
for name in rules.TABLE:
    if name != "gemmlowp-legacy":  # it takes no scale
        made = rules.requantize(acc, name, scale=0.0033, zero_point=3)
        wrong[name] = int(np.count_nonzero(made != device))
names = sorted(wrong, key=wrong.get)
figure, axes = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
colours = ["#00798c" if name in found.exact else "#bbb" for name in names]
axes.barh(names, [wrong[name] for name in names], color=colours, left=0.5)
for row, name in enumerate(names):
    axes.text(wrong[name] + 0.7, row, f"{wrong[name]}", va="center", fontsize=8)
axes.set_xscale("log")
axes.set(xlabel="sums, of 1,000, that a rule gets wrong", xlim=(0.5, 2500))
axes.invert_yaxis()
axes.tick_params(axis="y", length=0, labelsize=8)
axes.set_title(f"Left: {', '.join(found.exact)}", loc="left", fontsize=10)
plt.savefig("device.svg")
