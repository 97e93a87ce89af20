"""How many bits a multiplier needs.

For three scales, and all sums that give int8 codes: how many codes differ from those of the real product, for each
width of the multiplier. From the dotted line of a scale on every code is right, which is proved, not sampled.
"""

import matplotlib.pyplot as plt

from qops import rules

figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
for scale, colour, mark in ((0.0033, "#00798c", "o"), (1 / 300, "#d1495b", "s"), (0.017, "#e09f3e", "^")):
    found = rules.fewest_bits(scale, (-int(128 / scale), int(128 / scale)))
    bits, off = [point.bits for point in found.pareto], [point.off for point in found.pareto]
    axes.plot(bits, off, f"{mark}-", ms=4, color=colour, label=f"scale {scale:.4g}: {found.bits} bits give every code")
    axes.axvline(found.bits, color=colour, ls=":", lw=1)
axes.set_yscale("symlog", linthresh=1)
axes.set(xlabel="bits of the multiplier", ylabel="codes that are not right", ylim=0, xticks=range(0, 21, 2))
axes.legend()
figure.savefig("multiplier_bits.svg")
