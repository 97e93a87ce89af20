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
    """Cut an integer to a code."""
    return np.uint8(i32(min(max(v, f32(0)), f32(255))))


@numba.njit(inline="always", error_model="numpy")
def away(t):
    """Give the mean, rounded half away from 0."""
    return np.uint8((t + COUNT // i32(2)) // COUNT if t > 0 else -((COUNT // i32(2) - t) // COUNT))


@numba.njit(inline="always")
def even(t):
    """Give the mean, rounded half to even."""
    return np.uint8(i32(np.rint(f32(t) * INVERSE)))


@numba.njit(inline="always")
def of_values(t):
    """Give the mean of the codes less their zero point, rounded half to even."""
    return cut(np.rint(f32(i32(t - COUNT * X_ZERO)) * INVERSE) + X_STEP)


@numba.njit(inline="always")
def ort_global(t):
    """Divide the sum in float32, and round half to even."""
    return cut(np.rint(f32(i32(t - COUNT * X_ZERO)) * GLOBAL) + Y_ZERO)


def summed(code):
    """Sum up a row of windows at a time, tap after tap; then make the codes."""

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
                        sums[i] += i32(codes[i])
            made = out[0, j].reshape(-1)
            for i in range(sums.size):
                made[i] = code(sums[i])

    return loop, np.int32


@numba.njit(error_model="numpy")
def ort(x, out, sums):
    """Sum up the real values of a row of windows at a time, tap after tap; then make the codes."""
    _, height, width, channels = out.shape
    for j in range(height):
        sums[:] = 0
        for r in range(TAPS):
            row = x[0, j + r].reshape(-1)
            for c in range(TAPS):
                codes = row[c * channels : (c + width) * channels]
                for i in range(sums.size):
                    sums[i] += f32(i32(codes[i]) - X_ZERO) * X_SCALE
        made = out[0, j].reshape(-1)
        for i in range(sums.size):
            made[i] = cut(np.rint(sums[i] / f32(COUNT) / Y_SCALE + Y_ZERO))


def form(loop, dtype):
    """Give a maker of candidates for the loop."""

    def make(x):
        out = pools.blank_result(x)
        sums = np.zeros(out.shape[2] * out.shape[3], dtype)
        loop(x, out, sums)
        return Candidate(lambda: loop(x, out, sums), lambda: out, 0)

    return {"rows": make}


FORMS = {
    "rules_avg_pool_away-stored": form(*summed(away)),
    "rules_avg_pool_even-stored": form(*summed(even)),
    "rules_avg_pool_torch-nhwc": form(*summed(of_values)),
    "rules_avg_pool_ort": form(ort, np.float32),
    "rules_avg_pool_ort-global": form(*summed(ort_global)),
}
