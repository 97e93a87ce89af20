"""Benchmarks: every op checked against a reference, then timed beside the peers that are installed, and memcpy.

`python -m benchmarks` prints a table and writes ``build/bench.json``. A new product is a new `Case` in `cases.py`, with
its forms in the modules of `peers`.
"""
