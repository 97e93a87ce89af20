"""A product takes the tier and the sizes of the caches once, when it begins: others may change them while it runs."""

import re
import sys

import pytest
from imports import ROOT

KERNELS = ROOT / "qops/_kernels"
HEADING = re.compile(r"\s*(?:cdef|cpdef|def)\b[^=(]*?(\w+)\(")


def readers(rooms, pattern):
    """The functions of the kernels of some rooms that read something, as often as they do, as room/module.function."""
    found = []
    for path in sorted(path for room in rooms for path in (KERNELS / room).glob("*.pyx")):
        function = ""
        for line in re.sub(r'""".*?"""|#[^\n]*', "", path.read_text("utf-8"), flags=re.S).splitlines():
            heading = HEADING.match(line)
            function = heading[1] if heading else function
            if function:
                found += [f"{path.parent.name}/{path.stem}.{function}"] * len(re.findall(pattern, line))
    return found


ROOMS = sorted(path.name for path in KERNELS.iterdir() if path.is_dir() and path.name != "machine")
CACHES = r"(?<![\w.])caches\b"
CHOOSE_KERNELS = {
    "conv/weights.pack_weights",
    "gemm/gemm.product",
    "gemm/gemm.column_sums",
    "gemm/packed.pack_b",
    "onednn/gemm.take_product",
}


def test_the_sizes_of_caches_are_read_where_a_product_begins():
    assert len(ROOMS) > 8
    assert readers(ROOMS, CACHES) == ["conv/rows.run_convolution", "gemm/blocks.take_caches"]


def test_the_tier_is_read_once_by_what_chooses_a_kernel():
    """Loops over elements read it for each stretch, as no bit of their results depends on it."""
    found = readers(["conv", "gemm", "onednn"], r"\btier\(\)(?!,)")
    assert sorted(found) == sorted(CHOOSE_KERNELS)


@pytest.mark.parametrize(
    ("line", "count"), [("p.c = caches", 1), ("n = caches.first + caches.second", 2), ("p.caches", 0)]
)
def test_reads_are_found(tmp_path, monkeypatch, line, count):
    monkeypatch.setattr(sys.modules[__name__], "KERNELS", tmp_path)
    (tmp_path / "room").mkdir()
    text = f'"""Of caches."""\nfrom x cimport caches\n\ncdef int f(int n) nogil:\n    {line}  # caches\n'
    (tmp_path / "room" / "x.pyx").write_text(text, "utf-8")
    assert readers(["room"], CACHES) == ["room/x.f"] * count
