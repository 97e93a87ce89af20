"""The arrays of an .npz file, read in a third of the time of `numpy.load`: golden files have thousands of them."""

from functools import cache
from io import BytesIO
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy


@cache
def described(header):
    """The shape, the order and the type that the head of a .npy file says; few of them differ."""
    file = BytesIO(header)
    assert npy.read_magic(file) == (1, 0)
    return npy.read_array_header_1_0(file)


def read_npz(path):
    """The arrays by their names; nobody can write to one."""
    found = {}
    with ZipFile(BytesIO(path.read_bytes())) as file:
        for member in file.infolist():
            content = file.read(member)
            start = 10 + int.from_bytes(content[8:10], "little")
            shape, by_columns, dtype = described(content[:start])
            order = "F" if by_columns else "C"
            found[member.filename.removesuffix(".npy")] = np.ndarray(shape, dtype, content, start, order=order)
    return found
