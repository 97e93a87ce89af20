"""Compiled kernels: *prepare* (float ranges -> the integers of a loop) and the loops themselves.

Nothing here knows of the rest of qops. `core` has what all rooms share: the checks of what users pass (`checks`), the
walk of a loop over arrays, the stages from an accumulator to a code. Front-door ops are whole in `frontdoor`: check,
prepare, run. The kernels of the systems take what their Python functions have checked.
"""
