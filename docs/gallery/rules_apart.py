"""Which rules are the same function, and which are not.

Every pair of rules on all 84,001 sums that give int8 codes at the scale 0.0033. White: no code differs.
"""

import matplotlib.pyplot as plt
import numpy as np

from qops import rules

acc = np.arange(-42_000, 42_001)
names = [name for name in rules.TABLE if name not in ("gemmlowp-legacy", "xnnpack-cvt", "rndnu16")]
names = [name for name in names if not name.startswith("textbook")]  # 7 bits make 0 of this scale
names = [name for name in names if not name.startswith("torch-onednn-")]  # of one scale they are torch-onednn
codes = np.array([rules.requantize(acc, name, scale=0.0033, zero_point=3) for name in names])
differ = (codes[:, None] != codes[None]).sum(axis=2)
figure, axes = plt.subplots(figsize=(7.6, 6.4), layout="constrained")
image = axes.imshow(np.where(differ, np.log10(np.maximum(differ, 1)), np.nan), cmap="YlOrRd", vmin=0, vmax=5)
for (i, j), count in np.ndenumerate(differ):
    if count:
        text = f"{count}" if count < 1000 else f"{count / 1000:.0f}k"
        axes.text(j, i, text, ha="center", va="center", fontsize=6.5, color="white" if count > 5000 else "black")
axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
axes.set_yticks(range(len(names)), names)
axes.grid(visible=False)
axes.tick_params(length=0, labelsize=8)
axes.set_title("Codes that differ, of 84,001", loc="left", weight="bold")
figure.savefig("rules_apart.svg")
