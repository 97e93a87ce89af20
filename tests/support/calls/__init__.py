"""Good calls of every public op, a file a room.

A file has `CALLS`, the good call of each op. If its room has prepared ops, it has three tables more:

PREPARED
    The function whose bits each prepared op gives, and those of its arguments that are data, which a call takes.
OTHER_CALLS
    Changes of the good call that give the constructor arrays, or words other than the defaults.
FEW
    Changes of the good call after which a repr shows every array whole.
"""

from calls import frontdoor, isa, nnlib, nouns, onednn, onnx, rules, tensorflow, tflite, tools, uniform

ROOMS = (tools, frontdoor, nouns, isa, nnlib, tensorflow, uniform, rules, onednn, onnx, tflite)


def gathered(table):
    """Give one table of all rooms."""
    return {name: value for room in ROOMS for name, value in getattr(room, table, {}).items()}
