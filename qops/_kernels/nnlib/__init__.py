"""Kernels and prepare steps of nnlib's ops."""
