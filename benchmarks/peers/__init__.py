"""The peers: one module each, with a table of its forms of each op: ``FORMS[case name] = {form: candidate maker}``."""

from collections.abc import Callable
from importlib import import_module

from benchmarks.case import Candidate

NAMES = ("numpy", "numba", "onnxruntime", "torch", "tensorflow", "litert", "tflm")
Forms = dict[str, dict[str, Callable[..., Candidate]]]


def installed(names: tuple[str, ...] = NAMES) -> tuple[dict[str, Forms], dict[str, str]]:
    """Import the forms of each peer, and tell why some cannot be."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = import_module(f"benchmarks.peers.{name}_").FORMS
        except ImportError as why:
            missing[name] = str(why)
    return found, missing
