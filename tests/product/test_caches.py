"""The sizes of caches: read right, and without a say in any result."""

import itertools
import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from equal import equal
from ops import on_every_tier
from product_models import convolution_model, extreme, model
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.weights import pack_weights
from qops._kernels.gemm.gemm import product
from qops._kernels.gemm.packed import pack_b

import qops
from qops._kernels.machine import caches, tiers

SMALL = [(512, 2048), (1536, 4096), (6 << 10, 16 << 10), (12 << 10, 128 << 10)]
U8, S8 = np.uint8, np.int8


@pytest.fixture(params=SMALL, ids=str)
def small(request):
    """Caches so small that blocks of every kind end within small matrices."""
    before = caches.sizes()
    caches.use(*request.param)
    yield
    caches.use(*before)


def reported_by_linux():
    """Bytes of the data caches of the first two levels."""
    found = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            found[int(level)] = int(size.removesuffix("K")) << 10
    return (found[1], found[2]) if {1, 2} <= found.keys() else None


def test_sizes_are_those_that_the_system_tells():
    of_x86 = platform.machine() in ("x86_64", "AMD64")
    assert caches.sizes() == (reported_by_linux() or caches.sizes() if of_x86 else (32 << 10, 1 << 20))
    assert 8 << 10 <= caches.sizes()[0] <= caches.sizes()[1] <= 1 << 30


def product_of_packed(a, b, pairs):
    return product(a, pack_b(b, pairs=pairs))


def product_and_ones(a, b, pairs):
    return product(a, b, np.ones((len(a), b.shape[1]), np.int32), pairs=pairs, accumulate=True, num_threads=2)


@pytest.mark.parametrize("pairs", [None, (), (33, 300)])
def test_products_have_the_same_bits_in_any_blocks(rng, small, pairs):
    sizes = [(100, 520, 130), (40, 1100, 70), (7, 2056, 65), (97, 333, 200), (1, 400, 300)]
    signs = itertools.product((U8, S8), (S8,) if pairs is not None else (S8, U8))
    for (m, k, n), (a_type, b_type) in itertools.product(sizes, signs):
        a, b = extreme(rng, (m, k), a_type), extreme(rng, (k, n), b_type)
        want = model(a, b, pairs)
        equal(on_every_tier(product, a, b, pairs=pairs), want)
        equal(on_every_tier(product_of_packed, a, b, pairs), want)
        equal(on_every_tier(product_and_ones, a, b, pairs), want + 1)


@pytest.mark.parametrize("saturating", [False, True])
def test_convolutions_have_the_same_bits_in_any_blocks(rng, small, saturating):
    x, w = extreme(rng, (2, 17, 18, 40), U8), extreme(rng, (70, 40, 3, 2), S8)
    padding = ((1, 1), (0, 2))
    want = convolution_model(x, w, (1, 1), (1, 1), padding, 0, 1, saturating)
    images = Images(x, Window(padding=padding), 0, 0)
    got = on_every_tier(lambda: convolve(images, pack_weights(w, saturating=saturating)))
    equal(got, want)


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@pytest.mark.parametrize("threads", [1, 2])
def test_layers_have_the_same_bits_in_any_strips(tier, rng, dtype, threads):
    """Weights that fit L2 are one strip of columns, others several. Ranges without a code for 0 give terms of rows."""
    x, m, n = (extreme(rng, (130, 40), U8), -1.05, 2.0), 0.3 + rng.random(600), rng.normal(0, 9, 600)
    for low, w_type in ((-m * 128, S8), (-m * 100.4, S8), (-m * 100.4, U8)):
        w, kept = (extreme(rng, (40, 600), w_type), low[None], (low + 255 * m)[None]), (-9e3, 8e3)
        op, made, before = qops.MatMul(w, n, dtype=dtype, range=kept if dtype == "uint8" else None), [], caches.sizes()
        for second in (1 << 25, 1 << 14):
            caches.use(512, second)
            made.append(op(x, num_threads=threads).data)
        caches.use(*before)
        equal(*made)
        assert np.ptp(made[0]) > 0


def test_sizes_that_no_cache_has():
    before = caches.sizes()
    for first, second in ((0, 1), (-1, 1 << 20), (1 << 20, 1 << 10)):
        with pytest.raises(ValueError, match="sizes of L1 and L2 above 0"):
            caches.use(first, second)
    assert caches.sizes() == before


@pytest.mark.long
def test_tiers_and_caches_may_change_while_products_run(rng):
    """Each op takes them once, when it begins."""
    a, b = extreme(rng, (97, 1100), S8), extreme(rng, (1100, 130), S8)
    unsigned, x, w = b.view(U8), extreme(rng, (1, 9, 10, 40), U8), extreme(rng, (70, 40, 3, 3), S8)
    ready, images, done = pack_b(b), Images(x, Window(), 0, 0), threading.Event()
    bare = (1, 1), (1, 1), ((0, 0), (0, 0)), 0, 1, False
    calls = [
        (lambda n: product(a, b, num_threads=n), model(a, b, None)),
        (lambda n: product(a, unsigned, num_threads=n), model(a, unsigned, None)),
        (lambda n: product(a, pack_b(b), num_threads=n), model(a, b, None)),
        (lambda n: product(a, ready, num_threads=n), model(a, b, None)),
        (lambda n: product(a, b, pairs=(), num_threads=n), model(a, b, ())),
        (lambda n: convolve(images, pack_weights(w), num_threads=n), convolution_model(x, w, *bare)),
    ]
    before = tiers.name(), caches.sizes()

    def work(first):
        for i in range(first, first + 300):
            call, want = calls[i % len(calls)]
            equal(call(1 + i % 3), want)

    def change():
        for name, sizes in itertools.cycle(itertools.product(tiers.available(), [*SMALL, before[1]])):
            tiers.use(name)
            caches.use(*sizes)
            time.sleep(1e-5)
            if done.is_set():
                return

    changing = threading.Thread(target=change)
    changing.start()
    try:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(3)))
    finally:
        done.set()
        changing.join()
        tiers.use(before[0])
        caches.use(*before[1])
