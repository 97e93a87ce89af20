"""Measures the errors of an op over many ranges, on any executor."""
