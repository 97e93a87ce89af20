"""Instructions as array functions, bit for bit.

Each function is one instruction for one type of lanes. It takes arrays, which broadcast, and gives an array. It works
on each element, or on groups of neighbours along the last axis. Dtypes are strict, because the signedness of an operand
selects the instruction: another dtype is a TypeError, and a last axis that does not split into groups is a ValueError.
The functions do not use tensors or scales. The systems have their own compiled loops, which tests compare with these
functions.

x86 (Intel SDM, volume 2): `vpmaddubsw`, `vpmaddwd`, `vpaddd`, `vpdpbusd`, `vpmovzxbw`, `vpmovsxbw`, `vpmulhrsw`.
Hexagon HVX: `hvx_vmpy_h_s1_rnd_sat`, `hvx_vmpye_vmpyo_s1_rnd_sat`, `hvx_vmpa`, `hvx_vasr_rnd_sat`, `hvx_vavg`,
`hvx_vsat_ub`.

Two sequences compute c += a0*b0 + a1*b1 + a2*b2 + a3*b3 with u8 a, s8 b and s32 c:

=================================  ===================================================================
`dot4_maddubs` (AVX2, AVX-512)     vpmaddubsw, vpmaddwd by ones, vpaddd: the first of them saturates
`dot4_widened` (any)               vpmovzxbw and vpmovsxbw, vpmaddwd, vpaddd: exact, half as fast
=================================  ===================================================================

`vpdpbusd` (VNNI) does the same exactly in one instruction.
"""

from qops.isa.hvx import (
    hvx_vasr_rnd_sat,
    hvx_vavg,
    hvx_vmpa,
    hvx_vmpy_h_s1_rnd_sat,
    hvx_vmpye_vmpyo_s1_rnd_sat,
    hvx_vsat_ub,
)
from qops.isa.lanes import saturate
from qops.isa.x86 import (
    dot4_maddubs,
    dot4_widened,
    vpaddd,
    vpdpbusd,
    vpmaddubsw,
    vpmaddwd,
    vpmovsxbw,
    vpmovzxbw,
    vpmulhrsw,
)

__all__ = [
    "dot4_maddubs",
    "dot4_widened",
    "hvx_vasr_rnd_sat",
    "hvx_vavg",
    "hvx_vmpa",
    "hvx_vmpy_h_s1_rnd_sat",
    "hvx_vmpye_vmpyo_s1_rnd_sat",
    "hvx_vsat_ub",
    "saturate",
    "vpaddd",
    "vpdpbusd",
    "vpmaddubsw",
    "vpmaddwd",
    "vpmovsxbw",
    "vpmovzxbw",
    "vpmulhrsw",
]
__dir__ = __all__.copy
