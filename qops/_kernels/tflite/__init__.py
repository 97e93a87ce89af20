"""Kernels of TFLite's ops."""
