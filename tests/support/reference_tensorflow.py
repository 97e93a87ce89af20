"""Slow twins of `qops.tensorflow`: numpy floats and Python integers, from the formulas, one step a line."""

import numpy as np

f32 = np.float32
FLT_MAX = np.finfo(f32).max
LOWEST, HIGHEST = -(2**31), 2**31 - 1
TYPES = {"quint8": np.uint8, "qint8": np.int8, "quint16": np.uint16, "qint16": np.int16, "qint32": np.int32}
MODES = ["MIN_COMBINED", "MIN_FIRST", "SCALED"]
RANGES = [(-1, 1), (0, 6), (-3, 0), (-0.37, 2.81), (2.5, 7.25), (-9, -4.5), (-1e-6, 1e-6), (0, 1e6), (-2, -2), (0, 0)]


def some_ranges(rng):
    return RANGES + [tuple(np.sort(rng.normal(0, 10.0 ** rng.integers(-3, 4), 2)).tolist()) for _ in range(20)]


def half_away(x):
    """Nearest integers, ties away from zero, by what is cut off."""
    x = np.asarray(x)
    whole = np.trunc(x)
    with np.errstate(invalid="ignore"):  # an infinity less itself
        return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(x.dtype.type(1), x), whole)


def codes(values, dtype):
    """Codes of floats that are integers, as x86 converts them: 2**31 becomes -2**31."""
    values = np.asarray(values).astype(np.float64)
    return np.where(values >= 2**31, LOWEST, values).astype(np.int64).astype(dtype)


def saturate(code):
    return max(LOWEST, min(HIGHEST, code))


def wrap(code, bits):
    return (code + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def truncated(value):
    return int(value) if abs(float(value)) < 2**63 else -(2**63)


def ends_of(dtype):
    lowest, highest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return lowest, highest, highest - lowest + 1


def float_to_quantized(x, lo, hi, dtype=np.int32):
    lowest, _, count = ends_of(dtype)
    if lo == hi:
        return lowest
    scale = count / (float(f32(hi - lo)) * (count / (count - 1.0)))
    return int(half_away(np.float64(float(x) * scale))) - int(half_away(np.float64(float(lo) * scale))) + lowest


def quantized_to_float(code, lo, hi, dtype):
    lowest, _, count = ends_of(dtype)
    if lo == hi:
        return lo
    step = float(f32(hi - lo)) * (count / (count - 1.0)) / count
    base = f32(float(half_away(f32(lo / f32(step)))) * float(f32(step)))
    code = float(f32(code)) if count == 2**32 else code
    return f32(float(base) + (code - lowest) * step)


def eigen_value(q, lo, hi, dtype):
    lowest, _, count = ends_of(dtype)
    step = f32(float(f32(hi - lo)) / (count - 1))
    start = lo if lo == hi else f32(half_away(f32(lo / step)) * step)
    return f32(start - f32(f32(lowest) * step)) + np.asarray(q).astype(f32) * step


def eigen_code(x, lo, hi, dtype):
    lowest, highest, count = ends_of(dtype)
    scale = f32(0) if lo == hi else f32((count - 1) / float(f32(hi - lo)))
    shift = f32(half_away(f32(lo * scale)) - f32(lowest))
    top = f32(2147483520) if count == 2**32 else f32(highest)
    with np.errstate(over="ignore"):
        steps = half_away(x * scale)
    return codes(np.clip(steps - shift, f32(lowest), top), dtype)


def adjusted(lo, hi, least):
    a = min(f32(0), f32(lo))
    return a, max(f32(0), f32(hi), f32(a + f32(max(f32(1), abs(f32(lo)), abs(f32(hi))) * f32(least))))


def quantize(x, lo, hi, dtype, mode, half_even=False, narrow=False, least=0.01):
    """Codes, min and max of QuantizeV2."""
    lowest, highest, _ = ends_of(dtype)
    a, b = adjusted(lo, hi, least)
    if mode == "MIN_FIRST":
        return eigen_code(x, a, b, dtype), a, b
    if mode == "MIN_COMBINED":
        steps = (np.clip(x, a, b) - a) * f32((highest - lowest) / float(f32(b - a)))
        rounded = np.trunc(steps + f32(0.5)) if lowest == 0 else half_away(steps + f32(lowest))
        return codes(rounded, dtype), a, b
    bottom, top = f32(lowest + narrow), f32(highest)
    scale = min(f32(bottom / a) if bottom * a > 0 else FLT_MAX, f32(top / b) if top * b > 0 else FLT_MAX)
    ends = [f32(0) if abs(end) < np.finfo(f32).tiny else f32(end) for end in (bottom / scale, top / scale)]
    rounded = (np.rint if half_even else half_away)(np.clip(x, *ends) * scale)
    return codes(rounded, dtype), *ends


def quantize_onednn(x, lo, hi, dtype, mode):
    """Codes, min and max where oneDNN takes over: quint8 MIN_FIRST; quint8 and qint8 SCALED."""
    lowest, highest, _ = ends_of(dtype)
    a, b = adjusted(lo, hi, 0.01)
    if mode == "MIN_FIRST":
        scale = f32(f32(255) / f32(b - a))
        return codes(np.clip(np.rint(x * scale + f32(-a * scale)), 0, 255), dtype), a, b
    widest = max(abs(a), b)
    scale = f32(f32(255 if lowest == 0 else 127.5) / widest)
    low = f32(0) if lowest == 0 else -widest
    return codes(np.clip(np.rint(x * scale), lowest, highest), dtype), low, widest


def dequantize(q, lo, hi, mode, narrow=False):
    lowest, highest, count = ends_of(q.dtype)
    lo, hi, values = f32(lo), f32(hi), q.astype(f32)
    if mode == "MIN_FIRST":
        return eigen_value(q, lo, hi, q.dtype)
    if mode == "MIN_COMBINED":
        return (values - f32(lowest)) * f32(f32(hi - lo) / f32(highest - lowest)) + lo
    if count == 2**32:
        values = codes(values, np.int32).astype(f32)
    scale = f32(hi / f32(highest))
    return values * (scale if lowest == 0 else max(f32(lo / f32(lowest + narrow)), scale))


def add_terms(lo, hi, z_max, alone=False, codes=range(256)):
    """Give what each code of an operand of QuantizedAdd is in output codes."""
    lo, hi = f32(lo), f32(hi)

    def term(code):
        return float_to_quantized(quantized_to_float(code, lo, hi, np.uint8), -z_max, z_max)

    if alone:
        return np.array([saturate(term(code)) for code in codes])
    first, second = term(0), term(1)
    return np.array([saturate(first + code * (second - first)) for code in codes])


def add_max(x_range, y_range):
    widest = max(abs(min(f32(x_range[0]), f32(y_range[0]))), abs(max(f32(x_range[1]), f32(y_range[1]))))
    return f32(widest * f32(2**14))


def bias_add(q, q_range, bias, bias_range):
    """Codes and max of QuantizedBiasAdd."""
    low, high, low_bias, high_bias = (f32(end) for end in (*q_range, *bias_range))
    t_max = f32(max(high, -low, high_bias, -low_bias) * f32(2**17))
    a = eigen_code(eigen_value(q, low, high, q.dtype), -t_max, t_max, np.int32).astype(np.int64)
    b = eigen_code(eigen_value(bias, low_bias, high_bias, bias.dtype), -t_max, t_max, np.int32).astype(np.int64)
    return wrap(a + b + saturate(float_to_quantized(0, -t_max, t_max)), 32), t_max


def requantize_u8(q, in_min, in_max, out_min, out_max):
    in_min, in_max, out_min, out_max = (f32(end) for end in (in_min, in_max, out_min, out_max))
    in_range, out_range = float(f32(in_max - in_min)), float(f32(out_max - out_min))
    scale = middle = start = 0
    if out_range:
        scale = truncated(255.0 * 65536 * in_range / out_range)
        middle = truncated(f32(f32(f32(f32(in_min + in_max) / f32(2)) * f32(f32(255) / f32(out_range))) * f32(65536)))
        start = truncated(half_away(np.float64(65536 * (float(out_min) * 255.0) / out_range)))

    def code(value):
        product = wrap(int(f32(value)) * scale, 64)
        return max(0, min(255, wrap((product >> 32) + middle - start + 32768, 64) >> 16))

    return np.array([code(value) for value in q.ravel()], np.uint8).reshape(q.shape)


def requantize_s8(q, in_min, in_max, out_min, out_max):
    return eigen_code(eigen_value(q, f32(in_min), f32(in_max), np.int32), f32(out_min), f32(out_max), np.int8)


def real_range(q, lo, hi):
    lowest, highest = (min(q.ravel().tolist()), max(q.ravel().tolist())) if q.size else (HIGHEST, LOWEST)
    ends = [quantized_to_float(code, f32(lo), f32(hi), np.int32) for code in (lowest, highest)]
    return min(f32(0), ends[0]), ends[1]
