"""Prepared ops, made and called with the good calls of `ops.OPS` and with others."""

import copy

import calls
from ops import OPS, PREPARED, ROOMS, function

CALL = ("out", "num_threads")
"""What a call takes beside the data."""
OTHER_CALLS = calls.gathered("OTHER_CALLS")
FEW = calls.gathered("FEW")


def room_of(name):
    room, _, kind = name.rpartition(".")
    return ROOMS[room], kind


def kind_of(name):
    return getattr(*room_of(name))


def parts(name, changes=()):
    """The arguments of the constructor, and those of a call; copies."""
    of, data = PREPARED[name]
    good = copy.deepcopy(OPS[of].good | dict(changes))
    given = {key: value for key, value in good.items() if key in (*data, *CALL)}
    return {key: value for key, value in good.items() if key not in given}, given


def made(name, changes=()):
    """The op of the good call, what it is called with, and what the function gives."""
    numbers, data = parts(name, changes)
    return kind_of(name)(**numbers), data, function(PREPARED[name][0])(**numbers, **data)
