"""Compiled kernels: *prepare* (float ranges -> the integers of a loop) and the loops themselves.

Nothing here knows of the rest of qops, and no kernel checks its arguments: the functions that users call do that,
with `checks`.
"""
