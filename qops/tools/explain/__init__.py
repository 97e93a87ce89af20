"""Tells which rules of real systems give the integers of an op."""
