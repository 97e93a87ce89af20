"""Cases for the kernels of products and pools with SIMD lanes, as `tier_cases` has them; and products themselves."""

import itertools

import numpy as np
import tier_cases
from qops._kernels.arrays.window import Window

from qops import nnlib
from qops._kernels.gemm import gemm, packed
from qops._kernels.onednn import destination
from qops._kernels.pool import pooling
from qops._kernels.stage import mul
from qops.onednn import cast


def multiplied(rng, n):
    """Products of codes less offsets, some of them beyond 16 bits, which no lanes take."""
    a, b = (tier_cases.drawn(rng, n, np.uint8) for _ in range(2))
    offsets = (tier_cases.one_of(rng, 0, 128, 255, -70, 32768, -32512, 40_000, -(2**31)) for _ in range(2))
    out, shift = tier_cases.unaligned(rng, n, np.int32), tier_cases.one_of(rng, 0, 0, 7)
    a_offset, b_offset = offsets
    return lambda: (out, mul.multiply(a, a_offset, b, b_offset, shift, out))


def post_ops(name):
    """A case of oneDNN's float32 operations on sums, then codes."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, np.int32), tier_cases.unaligned(rng, n, cast.DTYPES[name])
        float_ops = [("multiply", 2.0 ** rng.uniform(-31, 0)), ("relu", rng.uniform(0, 1)), ("add", rng.uniform(-9, 9))]
        stage = destination.PostOpStage(float_ops, cast.stage_of(name))
        return lambda: (out, stage.run(x, out))

    return case


def real_means(rng, n):
    """The mean of two values that lie below each other, which are codes of 8 bits."""
    x = tier_cases.codes_8(rng, 2 * n)
    out, stage = tier_cases.unaligned(rng, n, x.dtype), cast.stage_of("u8" if x.dtype == np.uint8 else "s8")
    zero, scale = int(rng.integers(-9, 9)), rng.uniform(0.1, 4)

    def run():
        if n:
            pooling.coded(x.reshape(1, 2, n, 1), (2, 1), Window(), stage, zero, scale, out.reshape(1, 1, n, 1))
        return (out,)

    return run


def tiles():
    """Products in tiles of each height and width, and on a matrix unit: all types, B packed or not, all ways to add."""
    rng = np.random.default_rng(5)
    sizes = [*itertools.product(range(1, 7), (28, 32), (8, 16, 32, 48, 64)), (70, 256, 64), (70, 268, 64)]
    ways = [(t, u, None) for t in (np.uint8, np.int8) for u in (np.uint8, np.int8)]
    ways += [(t, np.int8, ()) for t in (np.uint8, np.int8)]
    for (m, k, n), (left, right, pairs) in itertools.product(sizes, ways):
        a, b = rng.integers(-128, 128, (m, k)).astype(left), rng.integers(-128, 128, (k, n)).astype(right)
        yield gemm.product(a, b, pairs=pairs)
        yield gemm.product(a, packed.pack_b(b, pairs=pairs))
    yield from nodes(rng)


def nodes(rng):
    """Nodes of nnlib that find their range: channels are watched, and words are added to them."""
    for n in range(1, 70):
        x, w = (rng.integers(0, 256, size).astype(np.uint8) for size in ((2, 3, 3, 5), (1, 1, 5, n)))
        bias = rng.integers(-(2**20), 2**20, n, dtype=np.int32), -1000.0, 1000.0
        made = nnlib.supernode((x, -1.0, 1.0), (w, -1.0, 1.0), bias, (1, 1), "VALID", arch="v60")
        yield made.data
        yield np.float32([made.min, made.max])
    yield from windows_beside(rng)


def windows_beside(rng):
    """Depthwise nodes of each number of channels, which watch windows left and right of their results."""
    for n in range(1, 70):
        x, w = (rng.integers(0, 256, size).astype(np.uint8) for size in ((2, 5, 7, n), (3, 3, n, 1)))
        bias = rng.integers(-(2**20), 2**20, n, dtype=np.int32), -1000.0, 1000.0
        made = nnlib.depthwise_supernode((x, -1.0, 1.5), (w, -1.0, 1.0), bias, (1, 1), "SAME")
        yield made.data
        yield np.float32([made.min, made.max])


NAMED = {
    "products": multiplied,
    "real means": real_means,
    **{f"post-ops {name}": post_ops(name) for name in ("u8", "s8")},
}
