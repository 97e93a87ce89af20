"""A convolutional network that reads digits, in float: how it is learned, and how it runs.

Two convolutions, a pooling, and a logistic regression. The filters of a convolution are the k-means of patches of its
input. The patches are taken as they are ("plain", with filters that add up) or without their mean ("contrast", with
filters that compare). scikit-learn is imported where it is used, as that takes a second.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from qops.onednn import Window

F32 = NDArray[np.float32]

SAME = Window(pad_l=(1, 1), pad_r=(1, 1))
POOL, TAPS = (2, 2), (3, 3)
HALVES = Window(stride=POOL)
FILTERS = (16, 32)
SILENT = (0.5, 0.7)  # the share of patches that a filter of each layer does not answer to
SAMPLE = 4000  # patches that are clustered


class Layer(NamedTuple):
    """Weights, one row or filter an output, and bias."""

    name: str
    weights: F32
    bias: F32


class Digits(NamedTuple):
    """Images (N, 1, 8, 8) from 0 to 1, and what they show."""

    images: F32
    labels: NDArray[np.int64]


def digits() -> tuple[Digits, Digits]:
    """Give scikit-learn's digits: two thirds to learn from, one third to test."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    data, labels = load_digits(return_X_y=True)
    images = (data / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    a, b, a_labels, b_labels = train_test_split(images, labels, test_size=1 / 3, random_state=0, stratify=labels)
    return Digits(a, a_labels), Digits(b, b_labels)


def patches(x: F32) -> F32:
    """All windows of images (N, C, H, W), padded with 0: (N*H*W, C*KH*KW)."""
    taps = SAME.taps(x, TAPS, 0).transpose(0, 2, 3, 1, 4, 5)
    return taps.reshape(-1, taps[0, 0, 0].size)


def convolved(x: F32, layer: Layer) -> F32:
    """Convolve, keep what is positive."""
    return answers(patches(x), layer, x.shape)


def answers(rows: F32, layer: Layer, shape: Sequence[int]) -> F32:
    """What a convolution makes of the patches of images of this shape."""
    out = np.maximum(rows @ layer.weights.reshape(len(layer.bias), -1).T + layer.bias, 0)
    return out.reshape(shape[0], *shape[2:], -1).transpose(0, 3, 1, 2)


def pooled(x: F32) -> F32:
    """Give the largest value of each window."""
    return HALVES.taps(x, POOL, 0).max(axis=(4, 5))


def features(x: NDArray) -> NDArray:
    """Flatten images (N, C, H, W) as they are in memory (nhwc): neighbours are channels of one place."""
    return x.transpose(0, 2, 3, 1).reshape(len(x), -1)


def learn_filters(name: str, every: F32, count: int, silent: float, contrast: bool, seed: int) -> Layer:
    """Learn a convolution from the patches of images: the filters are k-means of them, the bias comes from `silent`."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    sample = rng.permutation(every[np.ptp(every, axis=1) > 0])[:SAMPLE]
    means = KMeans(count, n_init=1, random_state=seed).fit(_unit(sample, contrast)).cluster_centers_
    weights = _unit(means, contrast).astype(np.float32)
    bias = -np.quantile(sample @ weights.T, silent, axis=0)
    return Layer(name, weights.reshape(count, -1, *TAPS), bias.astype(np.float32))


def _unit(rows: NDArray, contrast: bool) -> NDArray:
    """Scale rows to length 1, after taking off their mean if `contrast`."""
    rows = rows - rows.mean(axis=1, keepdims=True) if contrast else rows
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def learn(data: Digits, contrast: bool, seed: int = 0) -> list[Layer]:
    """Learn all layers, one after the other. One thread: the same network on any number of cores."""
    from sklearn.linear_model import LogisticRegression

    layers, x = [], data.images
    with threadpool_limits(1):
        for i, (count, silent) in enumerate(zip(FILTERS, SILENT, strict=True), 1):
            rows = patches(x)
            layers.append(learn_filters(f"convolution {i}", rows, count, silent, contrast, seed))
            x = answers(rows, layers[-1], x.shape)
        found = LogisticRegression(max_iter=2000).fit(features(pooled(x)), data.labels)
    classes = Layer("inner product", found.coef_.astype(np.float32), found.intercept_.astype(np.float32))
    return [*layers, classes]


@cache
def learned(contrast: bool) -> list[Layer]:
    """The network of the training images, learned once."""
    return learn(digits()[0], contrast)


def run_float(layers: Sequence[Layer], images: F32) -> list[F32]:
    """Run in float: what each layer reads, and the logits."""
    *hidden, logits = results(layers, images)
    return [images, *hidden[:-1], pooled(hidden[-1]), logits]


def results(layers: Sequence[Layer], images: F32) -> list[F32]:
    """Run in float: what each layer gives."""
    made = [images]
    for layer in layers[:-1]:
        made.append(convolved(made[-1], layer))
    last = layers[-1]
    return [*made[1:], features(pooled(made[-1])) @ last.weights.T + last.bias]
