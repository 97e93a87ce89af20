"""The real data: a photograph that ships inside matplotlib, or a file of the caller's; its exposures and its blur."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.cbook import get_sample_data
from matplotlib.pyplot import imread
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from analysis.options import BadOption

Picture = NDArray[np.float32]
LARGEST = 1024 * 1024  # pixels of a caller's picture; a larger one is made smaller
LUMA = np.float32([0.299, 0.587, 0.114])


class Scene(NamedTuple):
    """Two float pictures to add."""

    title: str
    names: tuple[str, str]
    a: Picture
    b: Picture


class Read(NamedTuple):
    """The luma of a caller's picture, 0 to 1, and what it was made of."""

    luma: Picture
    told: str


def photograph() -> Picture:
    """Luma of the portrait of Grace Hopper, 600 x 512, 0 to 1."""
    with get_sample_data("grace_hopper.jpg") as file:
        rgb = imread(file, format="jpg")
    return (rgb @ LUMA / 255).astype(np.float32)


def read(file: Path) -> Read:
    """Luma of a picture of any size, grey or colour, 8 or 16 bits, as it is meant to be looked at."""
    try:
        with Image.open(file) as opened:
            image = ImageOps.exif_transpose(opened)
    except FileNotFoundError:
        raise BadOption(f"--image {file}: there is no such file") from None
    except UnidentifiedImageError:
        raise BadOption(f"--image {file}: this is not a picture in a format that Pillow reads") from None
    except (OSError, SyntaxError, Image.DecompressionBombError) as broken:
        raise BadOption(f"--image {file}: the picture cannot be read: {broken}") from broken
    told = f"{image.width} x {image.height} pixels"
    shrink = (image.width * image.height / LARGEST) ** 0.5
    luma = grey(image)
    if shrink > 1:
        size = max(1, int(image.width / shrink)), max(1, int(image.height / shrink))
        luma = np.asarray(Image.fromarray(luma).resize(size, Image.Resampling.BOX))
        told += f", made smaller to {size[0]} x {size[1]}"
    if luma.min() == luma.max():
        raise BadOption(f"--image {file}: all {told} are the same, so there is nothing to add")
    return Read(luma.clip(0, 1), told)


def grey(image: Image.Image) -> Picture:
    """Luma, 0 to 1: integers from their type's range, floats from the range of the data; what is clear is white."""
    if image.mode.startswith(("I", "F")):
        wide = np.nan_to_num(np.asarray(image, np.float64), posinf=0, neginf=0)
        low, high = (0.0, 65535.0) if image.mode.startswith("I") and wide.max() < 2**16 else (wide.min(), wide.max())
        return ((wide - low) / max(high - low, np.finfo(np.float32).tiny)).astype(np.float32)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return (np.asarray(image.convert("RGB")) @ LUMA / 255).astype(np.float32)


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


def scenes(picture: Picture | None = None) -> list[Scene]:
    """All that is added: two exposures, a picture and its blur, two exposures far apart."""
    x = photograph() if picture is None else picture
    centred = x - x.mean()
    long, short, faint = exposure(x, 0, 1), exposure(x, 2, 2), exposure(x, 7.5, 3)
    return [
        Scene("Two exposures, 2 stops apart", ("long exposure", "short: 1/4 of the light"), long, short),
        Scene("The picture and its blur", ("picture, less its mean", "its blur"), centred, blurred(centred)),
        Scene("Two exposures, 7.5 stops apart", ("long exposure", "very short: 1/181 of the light"), long, faint),
    ]
