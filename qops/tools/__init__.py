"""Answers from dumps of a device: which rule made these integers."""
