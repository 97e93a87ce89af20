"""A picture in bytes.

Numbers from -1 to 1, their codes, and how far each code is off, in steps. No error is larger than half a step. This is
the picture of *Ten minutes*.
"""

import matplotlib.pyplot as plt
import numpy as np

import qops

picture = np.cos(np.hypot(*np.mgrid[-8:8:64j, -8:8:64j]))
codes = qops.quantize(picture)
error = qops.signed_error(codes, picture)

figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
for panel, values, title in zip(panels, (picture, codes.data), ("numbers", "codes"), strict=False):
    image = panel.imshow(values, cmap="gray", interpolation="nearest", aspect="auto")
    panel.set_title(f"{title}\n{values.min():.3g} to {values.max():.3g}")
    panel.set(xticks=[], yticks=[])
    panel.grid(visible=False)
    figure.colorbar(image)
axes = qops.plot.error_map(error, scale=0.5, ax=panels[2])
axes.set_title(f"error\n{error.min():.3g} to {error.max():.3g} LSB")
figure.savefig("ten_minutes.png")
