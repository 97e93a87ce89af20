"""The real data: a photograph that ships inside matplotlib, its exposures and its blur."""

from typing import NamedTuple

import numpy as np
from matplotlib.cbook import get_sample_data
from matplotlib.pyplot import imread
from numpy.typing import NDArray

Picture = NDArray[np.float32]


class Scene(NamedTuple):
    """Two float pictures to add."""

    stem: str
    title: str
    names: tuple[str, str]
    a: Picture
    b: Picture


def photograph() -> Picture:
    """Luma of the portrait of Grace Hopper, 600 x 512, 0 to 1."""
    with get_sample_data("grace_hopper.jpg") as file:
        rgb = imread(file, format="jpg")
    return (rgb @ np.float32([0.299, 0.587, 0.114]) / 255).astype(np.float32)


def blurred(x: Picture, radius: int = 8) -> Picture:
    """Mean over a square of 2 * radius + 1 pixels, edges repeated."""
    size = 2 * radius + 1
    total = np.pad(x.astype(np.float64), ((radius + 1, radius),) * 2, mode="edge").cumsum(0).cumsum(1)
    box = total[size:, size:] - total[:-size, size:] - total[size:, :-size] + total[:-size, :-size]
    return (box / size**2).astype(np.float32)


def exposure(x: Picture, stops: float, seed: int) -> Picture:
    """Darken the picture by so many stops, and add its own sensor noise: 1 % of its range."""
    noise = np.random.default_rng(seed).normal(0, 0.01, x.shape)
    return ((x + noise).clip(0, 1) / 2**stops).astype(np.float32)


def scenes() -> list[Scene]:
    """All that is added: two exposures, a picture and its blur, two exposures far apart."""
    x = photograph()
    centred = x - x.mean()
    long, short, faint = exposure(x, 0, 1), exposure(x, 2, 2), exposure(x, 7.5, 3)
    return [
        Scene("exposures", "Two exposures, 2 stops apart", ("long exposure", "short: 1/4 of the light"), long, short),
        Scene("blur", "The picture and its blur", ("picture, less its mean", "its blur"), centred, blurred(centred)),
        Scene(
            "stops", "Two exposures, 7.5 stops apart", ("long exposure", "very short: 1/181 of the light"), long, faint
        ),
    ]
