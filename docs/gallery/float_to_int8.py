"""A network from float to int8.

scikit-learn trains three layers on pictures of digits. Each of them becomes a prepared op with int8 weights, which
have a range for each channel; the ranges of the results come from 200 pictures. The bars show the error of each layer
against float, and where it comes from: the rounding of the results, that of the weights, and the layers before.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import qops

digits = load_digits()
x, labels = digits.data / 16, digits.target
net = MLPClassifier((48, 32), learning_rate_init=0.004, random_state=1).fit(x[:1200], labels[:1200])
layers = [*zip(net.coefs_, net.intercepts_, [(0, None), (0, None), None], strict=True)]


def in_float(x, w, bias, clip):
    """Compute a layer in float."""
    return np.maximum(x @ w + bias, 0) if clip else x @ w + bias


ops, y = [], x[:200]
for w, bias, clip in layers:
    y = in_float(y, w, bias, clip)
    weights = qops.quantize(w, axis=1, dtype="int8")
    ops.append(qops.MatMul(weights, bias, dtype="uint8", range=qops.range_of(y), clip=clip))

shares, want, codes = [], x[1200:], qops.quantize(x[1200:], 0, 1)
for op, layer in zip(ops, layers, strict=True):
    weights, given = qops.values(op.b), qops.values(codes)
    want, codes = in_float(want, *layer), op(codes)
    exact = in_float(given, weights, *layer[1:])
    errors = qops.values(codes) - exact, exact - in_float(given, *layer), in_float(given, *layer) - want
    shares.append([np.sqrt(np.mean(error**2)) / codes.scale for error in errors])
    print(qops.error(codes, want), end="\n\n")
right = [np.mean(y.argmax(axis=1) == labels[1200:]) for y in (want, codes.data)]

figure, axes = plt.subplots(figsize=(7.2, 4), layout="constrained")
for i, name in enumerate(("rounding of the result", "weights", "layers before")):
    axes.bar(np.arange(3) + (i - 1) / 4, [share[i] for share in shares], 1 / 4, label=name)
axes.set(xticks=range(3), xticklabels=["layer 1", "layer 2", "layer 3"], ylabel="rms error in LSB of the layer")
axes.legend(frameon=False, ncols=3)
axes.margins(y=0.15)
axes.grid(axis="x", visible=False)
axes.set_title(f"{right[0]:.1%} of digits read in float, {right[1]:.1%} in int8", loc="left", fontsize=10)
figure.savefig("float_to_int8.svg")
