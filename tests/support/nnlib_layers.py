"""Random arguments of nnlib's supernodes."""

import numpy as np

PADDINGS = ("VALID", "SAME", "SAME_CAFFE")


def drawn(rng, channels=(5, 16, 33), outputs=(1, 2, 31, 33, 70, 96), widths=range(1, 20)):
    """Arguments of a supernode; ranges of weights have their zero anywhere, also on the codes around 128."""
    kh, kw, c, o = (int(rng.choice(sizes)) for sizes in ((1, 2, 3), (1, 2, 3, 5), channels, outputs))
    height, width = int(rng.integers(kh, kh + 4)), max(kw, int(rng.choice(widths)))
    zero = int(rng.choice([0, 20, 126, 127, 128, 129, 130, 200, 255]))
    step = rng.uniform(0.001, 0.02) * float(rng.choice([1, 1, 400]))  # such large ones make a first guess too steep
    x = rng.integers(0, 256, (2, height, width, c), np.uint8), float(rng.choice([-1.0, -0.3, 0.0])), 1.0
    w = rng.integers(0, 256, (kh, kw, c, o), np.uint8), -zero * step, (255 - zero) * step
    wide = rng.random() < 0.5
    bias = (
        (rng.integers(-(2**22), 2**22, o, np.int32), -512.0, 512.0)
        if wide
        else (rng.integers(0, 256, o, np.uint8), -1.0, 2.0)
    )
    given = tuple(rng.choice([None, end]) for end in (-float(rng.uniform(0, 3)), float(rng.uniform(0.1, 5))))
    return x, w, bias, tuple(rng.integers(1, 4, 2).tolist()), str(rng.choice(PADDINGS)), given
