"""The numba forms of the rules of average pooling: rows of sums, or of values, then their codes."""

import numba
import numpy as np

from benchmarks import rules_pools as pools
from benchmarks.case import Candidate

f32, i32, TAPS = np.float32, np.int32, pools.TAPS
COUNT, INVERSE = i32(pools.COUNT), pools.INVERSE
X_SCALE, X_ZERO, Y_SCALE, Y_ZERO = f32(pools.X_SCALE), i32(pools.X_ZERO), f32(pools.Y_SCALE), f32(pools.Y_ZERO)
GLOBAL, X_STEP = pools.GLOBAL, f32(pools.X_ZERO)


@numba.njit(inline="always")
def cut(v):
    """Cut a rounded value to a code."""
    return np.uint8(i32(min(max(v, f32(0)), f32(255))))


@numba.njit(inline="always", error_model="numpy")
def away(t):
    """Give the mean, rounded half away from 0."""
    return np.uint8((t + COUNT // i32(2)) // COUNT if t > 0 else -((COUNT // i32(2) - t) // COUNT))


@numba.njit(inline="always")
def inside(t):
    """Give the mean of the codes less their zero point, which is added before it is rounded half to even."""
    return cut(np.rint(f32(i32(t - COUNT * X_ZERO)) * INVERSE + X_STEP))


@numba.njit(inline="always")
def of_values(t):
    """Give the mean of the codes less their zero point, rounded half to even."""
    return cut(np.rint(f32(i32(t - COUNT * X_ZERO)) * INVERSE) + X_STEP)


@numba.njit(inline="always")
def ort_global(t):
    """Divide the sum in float32, and round half to even."""
    return cut(np.rint(f32(i32(t - COUNT * X_ZERO)) * GLOBAL) + Y_ZERO)


@numba.njit
def ort_value(q):
    """Give the real value of a code."""
    return f32(i32(q) - X_ZERO) * X_SCALE


@numba.njit(error_model="numpy")
def ort(t):
    """Divide the sum of values by how many they are, and make a code of the mean."""
    return cut(np.rint(t / f32(COUNT) / Y_SCALE + Y_ZERO))


def form(code, value=i32, dtype=np.int32):
    """Give a maker of candidates: a row of windows at a time is summed up, tap after tap; then codes are made."""

    @numba.njit(error_model="numpy")
    def loop(x, out, sums):
        _, height, width, channels = out.shape
        for j in range(height):
            sums[:] = 0
            for r in range(TAPS):
                row = x[0, j + r].reshape(-1)
                for c in range(TAPS):
                    codes = row[c * channels : (c + width) * channels]
                    for i in range(sums.size):
                        sums[i] += value(codes[i])
            made = out[0, j].reshape(-1)
            for i in range(sums.size):
                made[i] = code(sums[i])

    def make(x):
        out = pools.blank_result(x)
        sums = np.zeros(out.shape[2] * out.shape[3], dtype)
        loop(x, out, sums)
        return Candidate(lambda: loop(x, out, sums), lambda: out, 0)

    return {"rows": make}


FORMS = {
    "rules_avg_pool_away-stored": form(away),
    "rules_avg_pool_torch-nchw": form(inside),
    "rules_avg_pool_torch-nhwc": form(of_values),
    "rules_avg_pool_ort": form(ort, ort_value, np.float32),
    "rules_avg_pool_ort-global": form(ort_global),
}
