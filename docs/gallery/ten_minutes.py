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

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
panels = (left, picture, "numbers", "gray"), (middle, codes.data, "codes", "gray"), (right, error, "error", "RdBu_r")
for panel, values, title, colours in panels:
    image = panel.imshow(values, cmap=colours, interpolation="nearest")
    panel.set_title(f"{title}\n{values.min():.3g} to {values.max():.3g}", fontsize=10)
    panel.set(xticks=[], yticks=[])
    figure.colorbar(image, shrink=0.8)
plt.savefig("ten_minutes.png")
