"""What IEEE 1364's ``$readmemh`` reads of a text: a strict reader, which refuses what a simulator may only warn of."""

import re

TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|@(?P<address>[0-9a-fA-F]+)|(?P<word>[0-9a-fA-F][0-9a-fA-F_]*)", re.S)


def readmemh(text, bits, size):
    """The words of a memory of so many bits and words; each is given once, fits, and none is left out."""
    memory, at, place = [None] * size, 0, 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if not found:
            raise ValueError(f"no token of $readmemh: {text[place : place + 20]!r}")
        place = found.end()
        if found["word"] and place < len(text) and not (text[place].isspace() or text[place] == "/"):
            raise ValueError(f"no white space behind {found['word']}")
        if found["address"]:
            at = int(found["address"], 16)
        elif found["word"]:
            value = int(found["word"].replace("_", ""), 16)
            if at >= size or memory[at] is not None or value >= 1 << bits:
                raise ValueError(f"word {at}: {found['word']} of {bits} bits, {size} words")
            memory[at], at = value, at + 1
    if None in memory:
        raise ValueError(f"word {memory.index(None)} is missing")
    return memory
