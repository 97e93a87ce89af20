"""Judges calls of a seed, in a process that may die of it: ``python child.py SEED FIRST END``, a line of JSON each."""

import json
import os
import sys

from draw import drawn
from judge import judged

SPACE = 4 << 30
"""Bytes of address space: a call that asks for more is refused its memory."""


def main(seed, first, end):
    """Print the number of each call before it is made, and the verdict after it."""
    if sys.platform == "linux" and not os.environ.get("QOPS_DEBUG"):  # sanitizers need all of it
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    for number in range(first, end):
        print(json.dumps({"number": number}), flush=True)
        print(json.dumps(judged(drawn(seed, number))), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
