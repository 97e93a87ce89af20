"""Instructions as array functions, bit for bit.

Each function is one instruction for one type of lanes. It takes arrays, which broadcast, and gives an array. It works
on each element, or on groups of neighbours along the last axis. Dtypes are strict, because the signedness of an operand
selects the instruction: another dtype is a TypeError, and a last axis that does not split into groups is a ValueError.
The functions do not use tensors or scales. The systems have their own compiled loops, which tests compare with these
functions.

x86 (Intel SDM, volume 2): `vpmaddubsw`, `vpmaddwd`, `vpaddd`, `vpdpbusd`, `vpdpbusds`, `vpmovzxbw`, `vpmovsxbw`,
`vpmulhrsw`, `vpabsb`, `vpsignb`.
64-bit ARM: `smull`, `smlal`, `sadalp`, `sdot`, `udot`.
Hexagon HVX: `hvx_vmpy_h_s1_rnd_sat`, `hvx_vmpye_vmpyo_s1_rnd_sat`, `hvx_vmpa`, `hvx_vasr_rnd_sat`, `hvx_vavg`,
`hvx_vsat_ub`.

Sequences compute dot products where one instruction does not:

=================================  ===================================================================
`dot4_maddubs` (AVX2, AVX-512)     u8 x s8: vpmaddubsw, vpmaddwd by ones, vpaddd: the first saturates
`dot4_widened` (any x86)           u8 x s8: vpmovzxbw and vpmovsxbw, vpmaddwd, vpaddd: exact, half as fast
`dot4_psign` (AVX2, AVX-512)       s8 x s8: vpabsb, vpsignb, then as `dot4_maddubs`
`dot16_smlal` (ARM without SDOT)   s8 x s8: smull, smlal, sadalp: the second wraps
=================================  ===================================================================

`vpdpbusd` (VNNI) and `sdot` (ARM with dot products) compute them exactly in one instruction.

`MACHINES` says of each machine which lanes add what, and whether they saturate or wrap; a `Machine` computes the dot
products of its lanes, also those of a kernel that you describe.
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
from qops.isa.dot4 import dot4_maddubs, dot4_psign, dot4_widened
from qops.isa.hvx import (
    hvx_vasr_rnd_sat,
    hvx_vavg,
    hvx_vmpa,
    hvx_vmpy_h_s1_rnd_sat,
    hvx_vmpye_vmpyo_s1_rnd_sat,
    hvx_vsat_ub,
)
from qops.isa.lanes import saturate
from qops.isa.machines import MACHINES, Machine
from qops.isa.neon import dot16_smlal, sadalp, sdot, smlal, smull, udot
from qops.isa.x86 import (
    vpabsb,
    vpaddd,
    vpdpbusd,
    vpdpbusds,
    vpmaddubsw,
    vpmaddwd,
    vpmovsxbw,
    vpmovzxbw,
    vpmulhrsw,
    vpsignb,
)

__all__ = [
    "MACHINES",
    "Machine",
    "dot4_maddubs",
    "dot4_psign",
    "dot4_widened",
    "dot16_smlal",
    "hvx_vasr_rnd_sat",
    "hvx_vavg",
    "hvx_vmpa",
    "hvx_vmpy_h_s1_rnd_sat",
    "hvx_vmpye_vmpyo_s1_rnd_sat",
    "hvx_vsat_ub",
    "sadalp",
    "saturate",
    "sdot",
    "smlal",
    "smull",
    "udot",
    "vpabsb",
    "vpaddd",
    "vpdpbusd",
    "vpdpbusds",
    "vpmaddubsw",
    "vpmaddwd",
    "vpmovsxbw",
    "vpmovzxbw",
    "vpmulhrsw",
    "vpsignb",
]
__dir__ = __all__.copy
name_keywords(globals())


if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
