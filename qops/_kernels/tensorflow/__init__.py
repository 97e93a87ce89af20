"""Kernels and prepare steps of TensorFlow's ops."""
