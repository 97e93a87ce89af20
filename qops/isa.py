"""Instructions as array functions, bit for bit.

Each function is one instruction of one lane type: arrays in, an array out, elementwise or over neighbouring lanes
along the last axis. Dtypes are strict, because the signedness of an operand *is* the instruction: another dtype is a
TypeError, a last axis that does not split into groups a ValueError. Arrays broadcast. Nothing here knows of tensors or
scales; the systems have compiled loops of their own, which tests compare with these.

x86 (Intel SDM, volume 2): `vpmaddubsw`, `vpmaddwd`, `vpaddd`, `vpdpbusd`, `vpmovzxbw`, `vpmovsxbw`, `vpmulhrsw`.
Hexagon HVX: `hvx_vmpy_h_s1_rnd_sat`, `hvx_vmpye_vmpyo_s1_rnd_sat`, `hvx_vmpa`, `hvx_vasr_rnd_sat`, `hvx_vavg`,
`hvx_vsat_ub`.

Two sequences compute c += a0*b0 + a1*b1 + a2*b2 + a3*b3 with u8 a, s8 b and s32 c:

=================================  =======================================================
`dot4_maddubs` (AVX2, AVX-512)     vpmaddubsw, vpmaddwd by ones, vpaddd: saturates in between
`dot4_widened` (any)               vpmovzxbw and vpmovsxbw, vpmaddwd, vpaddd: exact, half the speed
=================================  =======================================================

`vpdpbusd` (VNNI) is the exact one in a single instruction.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.qtensor import array, as_array, integer

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

S16: TypeAlias = NDArray[np.int16]
S32: TypeAlias = NDArray[np.int32]


def saturate(x: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Clamp integers to the range of an integer `dtype` and narrow them.

    >>> saturate(np.array([-40000, 5, 64770]), np.int16)
    array([-32768,      5,  32767], dtype=int16)
    """
    info, data = np.iinfo(np.dtype(dtype)), as_array(x, "x")
    if data.dtype.kind not in "iu":
        raise TypeError(f"x: expected integers, got {data.dtype}")
    clamped: NDArray[Any] = np.clip(data, info.min, info.max)
    return np.asarray(clamped).astype(info.dtype)


def _lanes(x: ArrayLike, name: str, dtype: DTypeLike, wide: DTypeLike, group: int = 1) -> NDArray[Any]:
    """Check that `x` has the `dtype` and whole groups along its last axis; give it in the dtype `wide`."""
    data: NDArray[Any] = array(x, name, np.dtype(dtype).num)
    if group > 1 and (data.ndim == 0 or data.shape[-1] % group):
        raise ValueError(f"{name}: expected a last axis that is a multiple of {group}, got shape {data.shape}")
    lanes: NDArray[Any] = data.astype(wide)
    return lanes


def _pair_sums(products: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(products[..., 0::2] + products[..., 1::2])


def vpmaddubsw(a: ArrayLike, b: ArrayLike) -> S16:
    """Multiply u8 by s8 and add neighbours, **saturating** to s16: ``r[i] = sat16(a[2i]*b[2i] + a[2i+1]*b[2i+1])``.

    **Hazards.** The only saturating step of the dot product, and the reason why a machine without VNNI may
    disagree with one that has it: two products of u8 and s8 need 17 bits.

    >>> a, b = np.uint8([255, 255]), np.int8([127, 127])
    >>> vpmaddubsw(a, b), 2 * 255 * 127
    (array([32767], dtype=int16), 64770)
    """
    products = _lanes(a, "a", np.uint8, np.int32, 2) * _lanes(b, "b", np.int8, np.int32, 2)
    return saturate(_pair_sums(products), np.int16)


def vpmaddwd(a: ArrayLike, b: ArrayLike) -> S32:
    """Multiply s16 by s16 and add neighbours to s32: ``r[i] = a[2i]*b[2i] + a[2i+1]*b[2i+1]``.

    **Hazards.** Exact but for one input: four times -32768 wraps.

    >>> vpmaddwd(np.int16([32767, -1]), np.int16([1, 1]))
    array([32766], dtype=int32)
    >>> vpmaddwd(np.int16([-32768, -32768]), np.int16([-32768, -32768]))
    array([-2147483648], dtype=int32)
    """
    products = _lanes(a, "a", np.int16, np.int64, 2) * _lanes(b, "b", np.int16, np.int64, 2)
    return _pair_sums(products).astype(np.int32)


def vpaddd(a: ArrayLike, b: ArrayLike) -> S32:
    """Add s32 to s32. **Hazards.** It wraps, modulo 2**32.

    >>> vpaddd(np.int32([2147483647]), np.int32([1]))
    array([-2147483648], dtype=int32)
    """
    return np.asarray(_lanes(a, "a", np.int32, np.int64) + _lanes(b, "b", np.int32, np.int64)).astype(np.int32)


def vpdpbusd(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products of u8 and s8 to s32, exactly (VNNI): ``c[i] + sum of a[4i+j]*b[4i+j], j = 0..3``.

    No step saturates. **Hazards.** The accumulator wraps modulo 2**32.

    >>> a, b = np.uint8([255, 255, 0, 0]), np.int8([127, 127, 0, 0])
    >>> vpdpbusd(np.int32([0]), a, b), vpdpbusd(np.int32([2147483647]), a, b)
    (array([64770], dtype=int32), array([-2147418879], dtype=int32))
    """
    products = _lanes(a, "a", np.uint8, np.int64, 4) * _lanes(b, "b", np.int8, np.int64, 4)
    total = _lanes(c, "c", np.int32, np.int64) + _pair_sums(_pair_sums(products))
    return np.asarray(total).astype(np.int32)


def vpmovzxbw(a: ArrayLike) -> S16:
    """Widen bytes to s16, filling with zeros: u8 keeps its value.

    >>> vpmovzxbw(np.uint8([200]))
    array([200], dtype=int16)
    """
    return _lanes(a, "a", np.uint8, np.int16)


def vpmovsxbw(a: ArrayLike) -> S16:
    """Widen bytes to s16, repeating the sign: s8 keeps its value.

    >>> vpmovsxbw(np.int8([-56]))
    array([-56], dtype=int16)
    """
    return _lanes(a, "a", np.int8, np.int16)


def vpmulhrsw(a: ArrayLike, b: ArrayLike) -> S16:
    """Multiply s16 by s16, keep the high part, rounded half up: ``((a*b >> 14) + 1) >> 1 = (a*b + 2**14) >> 15``.

    **Hazards.** -1.0 * -1.0 wraps to -1.0, where HVX's vmpy saturates.

    >>> vpmulhrsw(np.int16([-32768, 3]), np.int16([-32768, 16384]))
    array([-32768,      2], dtype=int16)
    """
    product = _lanes(a, "a", np.int16, np.int32) * _lanes(b, "b", np.int16, np.int32)
    return np.asarray(((product >> 14) + 1) >> 1).astype(np.int16)


def dot4_maddubs(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products as AVX2 and AVX-512 without VNNI do: vpmaddubsw, vpmaddwd by ones, vpaddd.

    ``c[i] + sat16(a[4i]*b[4i] + a[4i+1]*b[4i+1]) + sat16(a[4i+2]*b[4i+2] + a[4i+3]*b[4i+3])``

    **Hazards.** Where 64770 is due, 32767 comes out. With s8 data, moved to u8 by adding 128, the compensation
    is subtracted from the saturated sum: 255 where 32258 is due.

    >>> zero, b = np.int32([0]), np.int8([127, 127, 0, 0])
    >>> dot4_maddubs(zero, np.uint8([255, 255, 0, 0]), b)
    array([32767], dtype=int32)
    >>> a_s8 = np.array([127, 127, 0, 0])
    >>> compensation = -128 * b.sum(dtype=np.int32)
    >>> dot4_maddubs(zero, (a_s8 + 128).astype(np.uint8), b) + compensation, int(a_s8 @ b)
    (array([255], dtype=int32), 32258)
    """
    acc, pairs = _lanes(c, "c", np.int32, np.int32), vpmaddubsw(_lanes(a, "a", np.uint8, np.uint8, 4), b)
    return vpaddd(acc, vpmaddwd(pairs, np.ones_like(pairs)))


def dot4_widened(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products exactly without VNNI: vpmovzxbw and vpmovsxbw, vpmaddwd, vpaddd; half the speed.

    >>> dot4_widened(np.int32([0]), np.uint8([255, 255, 0, 0]), np.int8([127, 127, 0, 0]))
    array([64770], dtype=int32)
    """
    acc, left = _lanes(c, "c", np.int32, np.int32), _lanes(a, "a", np.uint8, np.int16, 4)
    return vpaddd(acc, _pair_sums(vpmaddwd(left, _lanes(b, "b", np.int8, np.int16, 4))))


def hvx_vmpy_h_s1_rnd_sat(u: ArrayLike, v: ArrayLike) -> S16:
    """Vd.h = vmpy(Vu.h, Vv.h):<<1:rnd:sat: ``sat16((2*u*v + 2**15) >> 16)``.

    It is vpmulhrsw with the one overflow saturated.

    >>> hvx_vmpy_h_s1_rnd_sat(np.int16([-32768, 3]), np.int16([-32768, 16384]))
    array([32767,     2], dtype=int16)
    """
    product = _lanes(u, "u", np.int16, np.int64) * _lanes(v, "v", np.int16, np.int64)
    return saturate((2 * product + (1 << 15)) >> 16, np.int16)


def hvx_vmpye_vmpyo_s1_rnd_sat(u: ArrayLike, v: ArrayLike) -> S32:
    """Multiply 32 x 32 bit fractions: vmpye(Vu.w, Vv.uh), then vmpyo(Vu.w, Vv.h):<<1:rnd:sat:shift.

    ``sat32((((((u*lo16(v)) >> 16) + u*hi16(v)) >> 14) + 1) >> 1)``, lo16 unsigned, hi16 signed. The floors nest, so
    this is ``floor(u*v / 2**31 + 1/2)`` for every input but one.

    **Hazards.** Ties go up, not away from zero as in gemmlowp's rounding_doubling_high_mul, and -1.0 * -1.0 saturates.

    >>> hvx_vmpye_vmpyo_s1_rnd_sat(np.int32([-(1 << 30), -(1 << 31)]), np.int32([1, -(1 << 31)]))
    array([         0, 2147483647], dtype=int32)
    """
    left, right = _lanes(u, "u", np.int32, np.int64), _lanes(v, "v", np.int32, np.int64)
    even = (left * (right & 0xFFFF)) >> 16
    return saturate((((even + left * (right >> 16)) >> 14) + 1) >> 1, np.int32)


def hvx_vmpa(a: ArrayLike, b: ArrayLike, scale_a: int, scale_b: int) -> S16:
    """Vdd.h = vmpa(Vuu.ub, Rt.b): ``a*scale_a + b*scale_b``, scales signed bytes (ValueError else).

    **Hazards.** It wraps, modulo 2**16.

    >>> hvx_vmpa(np.uint8([255]), np.uint8([255]), 127, 127)
    array([-766], dtype=int16)
    """
    scale_a, scale_b = integer(scale_a, "scale_a", -128, 127), integer(scale_b, "scale_b", -128, 127)
    total = _lanes(a, "a", np.uint8, np.int32) * scale_a + _lanes(b, "b", np.uint8, np.int32) * scale_b
    return np.asarray(total).astype(np.int16)


def hvx_vasr_rnd_sat(x: ArrayLike, shift: int, dtype: DTypeLike) -> NDArray[Any]:
    """Vd.ub or .h = vasr(..., Rt):rnd:sat: ``sat((x + 2**(shift-1)) >> shift)``, int16 to uint8 or int32 to int16.

    **Hazards.** Only the low 3 bits (to uint8) or 4 bits (to int16) of the shift count; 0 does not round.

    >>> x = np.int16([-5, 1000, 31])
    >>> hvx_vasr_rnd_sat(x, 1, np.uint8), hvx_vasr_rnd_sat(x, 8, np.uint8)
    (array([  0, 255,  16], dtype=uint8), array([  0, 255,  31], dtype=uint8))
    """
    if np.dtype(dtype) not in (np.uint8, np.int16):
        raise ValueError(f"dtype: expected uint8 or int16, got {dtype}")
    source, low_bits = (np.int16, 7) if np.dtype(dtype) == np.uint8 else (np.int32, 15)
    lanes, shift = _lanes(x, "x", source, np.int64), integer(shift, "shift")
    half = (1 << (shift & low_bits)) >> 1
    return saturate((lanes + half) >> (shift & low_bits), dtype)


def hvx_vavg(a: ArrayLike, b: ArrayLike) -> S16:
    """Vd.h = vavg(Vu.h, Vv.h): ``(a + b) >> 1``, rounded down.

    >>> hvx_vavg(np.int16([-1, 32767]), np.int16([0, 32767]))
    array([   -1, 32767], dtype=int16)
    """
    total = _lanes(a, "a", np.int16, np.int32) + _lanes(b, "b", np.int16, np.int32)
    return np.asarray(total >> 1).astype(np.int16)


def hvx_vsat_ub(x: ArrayLike) -> NDArray[np.uint8]:
    """Vd.ub = vsat(Vu.h, Vv.h): the *signed* halfword clamped to 0..255.

    >>> hvx_vsat_ub(np.int16([-1, 300, 7]))
    array([  0, 255,   7], dtype=uint8)
    """
    return saturate(_lanes(x, "x", np.int16, np.int16), np.uint8)
