"""Compiled kernels: *prepare* (float ranges -> the integers of a loop) and the loops themselves.

Nothing here imports the rest of qops. All rooms share `machine`, `lanes`, `arrays` and `stage`; products, pools and
convolutions of all systems are in `gemm`, `pool` and `conv`. Front-door ops are whole in `frontdoor`: check, prepare,
run. For the other systems, their Python functions check the arguments.
"""
