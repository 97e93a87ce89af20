"""What VPMADDUBSW does to a dot product.

The same layer on a CPU with VNNI, which is exact, and on one without, where pairs of products saturate at 16 bits.
With weights of at most 63 nothing saturates, and both give the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from qops import onednn

random = np.random.default_rng(1)
x = random.integers(0, 256, (400, 256)).astype(np.uint8)
w = np.clip(random.normal(0, 48, (256, 8)), -127, 127).astype(np.int8)
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained")
for panel, weights, name in zip(panels, (w, w // 2), ("weights to 127", "weights to 63"), strict=True):
    exact = onednn.gemm_u8s8s32(x, weights, isa="vnni")
    saturating = onednn.gemm_u8s8s32(x, weights, isa="avx2")
    found = onednn.saturated_pairs(x, weights.T.copy())
    panel.plot(exact.ravel() / 1000, saturating.ravel() / 1000, ".", ms=2, color="#d1495b")
    panel.axline((0, 0), slope=1, color="#333", lw=1)
    panel.set(xlabel="exact sum, thousands", ylabel="saturating sum, thousands")
    panel.set_title(f"{name}: {100 * found.share:.1f} % of the pairs saturate", fontsize=10)
figure.savefig("saturation.png")
