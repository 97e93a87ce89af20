"""Exact and saturating integer products: matrices, convolutions, packing."""
