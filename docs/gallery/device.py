"""Which rule made these integers.

A device turned a thousand sums into codes. Every rule is tried on the same sums, and a bar says how many codes it gets
wrong. One wrong code excludes a rule. The four rules that are left are one function at this scale.
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
bars = axes.barh(names, [wrong[name] for name in names], color="#bbb")
axes.bar_label(bars, padding=3, fontsize=8)
axes.set_xscale("symlog", linthresh=1)
axes.set(xlabel="codes, of 1,000, that a rule gets wrong", xlim=(0, 2500))
axes.invert_yaxis()
axes.grid(axis="y", visible=False)
axes.tick_params(axis="y", length=0, labelsize=8)
axes.set_title(f"None wrong: {', '.join(found.exact)}", loc="left", fontsize=10)
figure.savefig("device.svg")
