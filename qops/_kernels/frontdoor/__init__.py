"""Kernels and prepare steps of the front-door ops."""
