"""Where arrays differ, in words."""

import numpy as np
import pytest

from qops.tools.where import where

NAMES = {0: "image", 1: "row", 2: "column", 3: "channel"}


def image(change, size=(2, 8, 10, 12)):
    """Codes, and the same with those changed that `change` picks, by different amounts."""
    wanted = np.random.default_rng(5).integers(-50, 50, size).astype(np.int8)
    got = wanted.copy()
    part = got[change]
    got[change] = part + np.arange(1, 1 + part.size).reshape(part.shape) % 7 + 1
    return got, wanted


ALL = slice(None)
FORMS = [
    ((ALL, ALL, ALL, 2), "only channel 2, and all of it"),
    ((ALL, ALL, ALL, 11), "only channel 11, the last one, and all of it"),
    ((ALL, ALL, ALL, slice(8, None)), "only channels 8 to 11, the last 4, and all of it"),
    ((ALL, ALL, ALL, slice(0, 4)), "only channels 0 to 3, the first 4, and all of it"),
    ((ALL, ALL, ALL, slice(1, None, 4)), "only every 4th channel from 1 on, and all of it"),
    ((ALL, ALL, 5), "only column 5, and all of it"),
    ((ALL, [0, 7]), "only rows 0 and 7, the border, and all of it"),
    ((1,), "only image 1, and all of it"),
    ((ALL, ALL, 5, slice(8, None)), "only column 5 and channels 8 to 11, the last 4, and all of it"),
    ((ALL, ALL, ALL, [1, 2, 5]), "only channels 1, 2, 5, and all of it"),
    ((ALL, ALL, slice(0, None, 3), 4), "only every 3rd column from 0 on and channel 4, and all of it"),
    ((ALL,), "everywhere"),
]


@pytest.mark.parametrize(("change", "words"), FORMS, ids=[words for _, words in FORMS])
def test_forms_of_images_are_named(change, words):
    assert where(*image(change), NAMES) == [words]


def test_a_part_of_a_region_says_how_much_of_it():
    got, wanted = image((slice(0, 1), slice(0, 3), ALL, 2))
    got[1, 7, 9, 2] ^= 1
    assert where(got, wanted, NAMES)[0] == "only channel 2: 31 of its 160 elements"


def test_flat_data_have_tails_and_periods():
    wanted = np.zeros(103, np.int16)
    for change, words in [
        (slice(96, None), "only elements 96 to 102, the last 7, and all of it"),
        (slice(3, None, 8), "only every 8th element from 3 on, and all of it"),
    ]:
        got = wanted.copy()
        got[change] = np.arange(got[change].size) + 1
        assert where(got, wanted) == [words]


def test_places_in_memory_cross_axes():
    wanted = np.zeros((6, 5), np.int16)
    got = wanted.copy()
    got.reshape(-1)[0::7] = [1, 2, 3, 4, 5]
    assert where(got, wanted) == []  # five differences are few
    more, zeros = np.zeros((10, 5), np.int16), np.zeros((10, 5), np.int16)
    more.reshape(-1)[2::7] = np.arange(1, 8)
    assert where(more, zeros) == ["only every 7th element from 2 on, in the order of memory"]
    more[:] = 0
    more.reshape(-1)[[27, 29, 31, 38, 41, 45, 48]] = np.arange(1, 8)
    assert where(more, zeros) == ["only indices 5 to 9 of axis 0, the last 5: 7 of its 25 elements"]


def test_a_constant_offset_is_named_and_equal_arrays_say_nothing():
    wanted = np.arange(20, dtype=np.uint8).reshape(4, 5)
    assert where(wanted, wanted) == []
    assert where(wanted + 2, wanted) == ["everywhere", "each is 2 more"]
    got = wanted.copy()
    got[1, 1] += 1
    assert where(got, wanted) == ["only index 1 of axis 0 and index 1 of axis 1, and all of it"]


def test_scattered_differences_have_no_words(rng):
    wanted = np.zeros((5, 40), np.int8)
    got = np.where(rng.random((5, 40)) < 0.5, rng.integers(1, 9, (5, 40)), 0)
    assert where(got, wanted) == []
