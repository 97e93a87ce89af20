"""Good calls of `qops.isa` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import ACC, CODES, CODES_32, OTHER, PAIRS_S8, PAIRS_U8, S8, S16, Op

CALLS = {
    "isa.saturate": Op({"x": np.int64(CODES_32), "dtype": np.int16}),
    "isa.vpaddd": Op({"a": CODES_32, "b": CODES_32[::-1].copy()}),
    "isa.vpmovsxbw": Op({"a": S8}),
    "isa.vpmovzxbw": Op({"a": CODES}),
    "isa.vpabsb": Op({"a": S8}),
    "isa.vpsignb": Op({"a": S8, "b": S8[::-1].copy()}),
    "isa.smull": Op({"a": S8, "b": S8[::-1].copy()}),
    "isa.smlal": Op({"c": np.full(S8.shape, -16384, np.int16), "a": S8, "b": S8[::-1].copy()}),
    "isa.sadalp": Op({"c": ACC, "x": np.int16(PAIRS_S8)[:, :4] * 99}, each=False),
    "isa.sdot": Op({"c": ACC, "a": PAIRS_S8, "b": PAIRS_S8[::-1].copy()}, each=False),
    "isa.udot": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_U8[::-1].copy()}, each=False),
    "isa.vpdpbusds": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.dot4_psign": Op({"c": ACC, "a": PAIRS_S8, "b": PAIRS_S8[::-1].copy()}, each=False),
    "isa.dot16_smlal": Op(
        {"c": np.int32([1, -70_000, 0, 5]), "a": np.resize(S8, 16), "b": np.resize(S8, 16)[::-1].copy()},
        each=False,
    ),
    "isa.vpmulhrsw": Op({"a": S16, "b": S16[::-1].copy()}),
    "isa.vpmaddubsw": Op({"a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.vpmaddwd": Op({"a": np.int16(PAIRS_U8) * 99, "b": np.int16(PAIRS_S8) * 99}, each=False),
    "isa.vpdpbusd": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.dot4_maddubs": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.dot4_widened": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.hvx_vasr_rnd_sat": Op({"x": S16, "shift": 3, "dtype": np.uint8}),
    "isa.hvx_vavg": Op({"a": S16, "b": S16[::-1].copy()}),
    "isa.hvx_vmpa": Op({"a": CODES, "b": OTHER, "scale_a": -128, "scale_b": 127}),
    "isa.hvx_vmpy_h_s1_rnd_sat": Op({"u": S16, "v": S16[::-1].copy()}),
    "isa.hvx_vmpye_vmpyo_s1_rnd_sat": Op({"u": CODES_32, "v": CODES_32[::-1].copy()}),
    "isa.hvx_vsat_ub": Op({"x": S16}),
}
