"""From an accumulator or a value to a code: roundings, multipliers, ranges, tables and the loops of the stage."""
