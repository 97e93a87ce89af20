"""Kernels of oneDNN's primitives."""
