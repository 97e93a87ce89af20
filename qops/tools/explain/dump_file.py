"""Dumps of a device in a file: the data and numbers that `explain` needs of an op."""

import json
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import as_array, choice
from qops.tools.explain.arguments import NEEDED, OPTIONAL, check_spelling, checked_kind, dump_of
from qops.tools.explain.op_dump import KINDS, Dump

__all__ = ["NAMES", "read_dump"]

_SAID = (  # names that probes and vectors write, or that describe a dump; they are ignored
    *("channel", "rule", "multiplier", "right_shift", "killed", "alike"),
    *("id", "system", "op", "w_dtype", "per_channel", "derive", "engine", "layout"),
    *("block", "tail_rule", "beyond_int32", "tail_beyond_int32"),
)
_OPERANDS = ("a", "b", "a_zero_point", "b_zero_point")  # of the product that made the accumulators; ignored
_RATIOS = {"a_over_y": "a_scale", "b_over_y": "b_scale"}  # ratios of scales stand for the scales with a y_scale of 1
_RECODED = {  # a dump of codes that get another scale is one of accumulators, with these names for those
    **{"x": "acc", "x_scale": "in_scale", "x_zero_point": "in_zero_point", "x_dtype": "w_dtype"},
    **{"y_scale": "out_scale", "y_zero_point": "zero_point", "y_dtype": "dtype"},
}
_SHORT = {"u8": "uint8", "s8": "int8", "u16": "uint16", "s16": "int16", "s32": "int32"}
_IN_FILES = {  # what a file must have: first the input, which may also be called x as in `qops.explain`
    **{"requantize": ("acc", "y"), "add": ("a", "y", "b"), "mul": ("a", "y", "b")},
    **{"quantize": ("x", "y"), "average_pool": ("x", "y"), "accumulate": ("x", "y", "b")},
}
NAMES = {
    kind: f"{'x' if source == 'x' else f'x or {source}'}, {', '.join((*must, *NEEDED[kind]))}; "
    + ", ".join(OPTIONAL[kind])
    for kind, (source, *must) in _IN_FILES.items()
}
"""What a file of each kind holds, in words."""


def read_dump(path: Path, may_lack_scale: bool = False) -> Dump:
    """Read a dump, an ``.npz`` or a ``.json`` file.

    It holds the arguments of `qops.explain` by their names, with the same defaults. The input ``x`` may also be called
    ``acc`` if it is accumulators, and ``a`` if it is a first operand. A json file gives the type of y as ``dtype``
    ("s8", "u8", "s16", "u16", "s32" or numpy's names). Names that only say where a dump is from (``id``, ``system``,
    ``op``, ``derive`` ...) may stand beside them. Any other name is refused.

    Parameters
    ----------
    path : Path
        The file.
    may_lack_scale : bool
        As `dump_of` takes it.

    Returns
    -------
    Dump

    Raises
    ------
    TypeError, ValueError
        A file that is not such a dump; the error says which name is missing.
    """
    parts = _read(path)
    check_spelling(parts)
    is_recoded = "x_zero_point" in parts and "acc" not in parts
    if is_recoded and str(np.asarray(parts.get("kind", "requantize"))) == "requantize":
        parts = {"w_scale": 1.0} | {_RECODED.get(name, name): value for name, value in parts.items()}
    dtype = parts.pop("dtype", None)
    if "kind" not in parts and "acc" not in parts and "x" not in parts:
        raise bad_value("kind", f"missing in {path.name}, one of {', '.join(KINDS)}")
    kind = checked_kind(str(np.asarray(parts.pop("kind", "requantize"))))
    said = [name for name in _SAID if name != "block" or kind != "quantize"]  # there it says which values share a scale
    for name in (*said, *(_OPERANDS if kind == "requantize" else ())):
        parts.pop(name, None)
    if kind in ("add", "mul") and _RATIOS.keys() <= parts.keys():
        parts |= {scale: parts.pop(ratio) for ratio, scale in _RATIOS.items()} | {"y_scale": 1.0}
    source, *others = _IN_FILES[kind]
    if source not in parts and "x" in parts:
        source = "x"
    for name in (source, *others):
        if name not in parts:
            raise bad_value(name, f"missing in {path.name}, a dump of {kind}")
    x, y, b = as_array(parts.pop(source), source), as_array(parts.pop("y"), "y"), parts.pop("b", None)
    if dtype is not None:
        word = choice(str(dtype), "dtype", (*_SHORT, *_SHORT.values()))
        y = _held(y, _SHORT.get(word, word), "y")
    if kind in ("add", "mul", "average_pool"):
        x = _held(x, y.dtype, source)
        b = None if b is None else _held(as_array(b, "b"), y.dtype, "b")
    return dump_of(kind, x, y, b, parts, source, may_lack_scale)


def _held(values: NDArray[Any], dtype: Any, name: str) -> NDArray[Any]:
    """Give whole numbers as a type, if it holds them."""
    info = np.iinfo(dtype)
    if values.dtype.kind not in "iu" or (values.size and not info.min <= values.min() <= values.max() <= info.max):
        raise bad_value(name, f"{info.dtype} does not hold its values")
    return values.astype(dtype)


def _read(path: Path) -> dict[str, Any]:
    """Give the names and values of a file, whose ending says what it is."""
    if path.suffix not in (".json", ".npz"):
        raise ValueError(f"{path}: expected an .npz or a .json file")
    try:
        if path.suffix == ".json":
            found = json.loads(path.read_text(encoding="utf-8"))
        else:
            with path.open("rb") as file:
                if not is_zipfile(file):
                    raise ValueError("not a zip archive, which every .npz file is")
                file.seek(0)
                with np.load(file, allow_pickle=False) as arrays:
                    found = dict(arrays)
    except Exception as why:  # of many kinds: zipfile, zlib and numpy each have their own for a damaged file
        raise ValueError(f"{path.name}: {getattr(why, 'strerror', None) or str(why) or repr(why)}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path.name}: expected one object, got {type(found).__name__}")
    return found
