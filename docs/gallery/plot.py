"""The error of an op, in four pictures.

The average of two pictures in 8 bits, as a port may compute it: it adds the codes and 1, and shifts by one bit, so
halves go up. The map shows where the average is off, the histogram how often. The curve shows the error of a sigmoid
at each value: the port rounds down. The line shows which real numbers codes stand for, and the codes nearest to two
points.
"""

import matplotlib.pyplot as plt
import numpy as np

import qops


def average(a, b):
    """Average two tensors of one range."""
    return ((a.data.astype(int) + b.data + 1) >> 1).astype(np.uint8), a.min, a.max


def sigmoid(t):
    """Look up a sigmoid in steps of 1/256, rounded down."""
    return np.uint8(256 / (1 + np.exp(-qops.values(t)))), 0.0, 255 / 256


plt.rcParams.update(qops.plot.STYLE)
down, across = np.mgrid[-3:3:64j, -3:3:64j]
a, b = qops.quantize(np.sin(down + across), -1, 1), qops.quantize(np.cos(down * across), -1, 1)
off = qops.signed_error(average(a, b), (qops.values(a) + qops.values(b)) / 2)
t = qops.QTensor(np.arange(256, dtype=np.uint8), -8, 8)
low = qops.signed_error(sigmoid(t), 1 / (1 + np.exp(-qops.values(t))))

figure, axes = plt.subplots(2, 2, figsize=(9.6, 6.2), layout="constrained")
qops.plot.error_map(off, ax=axes[0, 0])
qops.plot.error_histogram(off, bound=0.5, ax=axes[0, 1])
qops.plot.error_curve(qops.values(t), low, bound=1, label="sigmoid", ax=axes[1, 0]).set_xlabel("value")
qops.plot.number_line((np.arange(9, dtype=np.uint8), 0.0, 25.5), points=[0.13, 0.54], ax=axes[1, 1])
figure.savefig("plot.png")
