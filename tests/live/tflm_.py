"""TFLite Micro: models of one operator and of a few, beside the graphs of `qops.models`."""

from importlib.metadata import version

from tflite_draws import ops
from tflm_networks import network

VERSION = version("tflite_micro")
OPS = {**ops(["tflm"]), "whole networks, every tensor": network}
