"""Slow twins of TensorFlow's Uniform* ops and of those with a range per channel: element by element."""

import numpy as np

f32 = np.float32


def half_even(value):
    """Of a float that is no integer, the nearest one; Python's own rounding is half to even."""
    return round(float(value))


def requantize_per_channel(q, lows, highs, out_min, out_max, out_type):
    steps, lowest, highest = {"quint8": (255, 0, 255), "qint8": (127, -128, 127)}[out_type]
    wider = f32(max(abs(out_min), abs(out_max)))
    codes = np.empty(q.shape, np.uint8 if lowest == 0 else np.int8)
    for at in np.ndindex(q.shape):
        widest = f32(max(abs(lows[at[-1]]), abs(highs[at[-1]])))
        scale = f32(f32(steps) * f32(f32(widest / wider) / f32(2**31)))
        codes[at] = max(lowest, min(highest, half_even(f32(f32(q[at]) * scale))))
    return codes


def range_per_channel(q, lows, highs, clip):
    top = f32(2.0**-126)
    for channel, (low, high) in enumerate(zip(lows, highs, strict=True)):
        largest = max(abs(int(code)) for code in q[..., channel].ravel())
        top = max(top, f32(f32(f32(max(abs(low), abs(high))) * f32(largest)) / f32(2**31)))
    top = min(top, f32(clip))
    return (float(-top) if (q < 0).any() else 0.0), float(top)
