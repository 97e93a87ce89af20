"""TFLite Micro: models of one operator and of a few, beside the graphs of `qops.models`."""

from importlib.metadata import version

import tflite_micro  # noqa: F401
from tflite_draws import ops

VERSION = version("tflite_micro")
OPS = ops(["tflm"])
