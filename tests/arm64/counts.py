"""Counts the instructions of NEON loops in the disassembly: not times, which no emulator can tell.

``python tests/arm64/counts.py`` prints a row a kernel: what one turn of its loop does, the instructions of that turn,
the three or four of the loop itself among them, how many of them move sums to the stack and back, and how many the
formula needs, counted by hand: loads, stores and arithmetic in the best form that NEON has for it.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from run import COMPILER, ROOT

FLAGS = ["-O3", "-g0", "-fPIC", "-ffp-contract=off", "-fno-tree-slp-vectorize", "-Iqops/_kernels"]

# Each row: header, function, what a turn does, the instructions that tell the loop and how often, how many are needed.
KERNELS = [
    ("frontdoor/add.h", "neon_add_u8u8_u8", "16 elements", "umull", 4, 29),
    ("stage/weighted_sum.h", "neon_weighted_sum", "16 elements", "mla", 8, 32),
    ("frontdoor/mul.h", "neon_mul_u8u8_u8", "16 elements", "mla", 8, 53),
    ("frontdoor/quantize.h", "neon_quantize_f32_8", "16 elements", "fcvtns", 4, 30),
    ("stage/dequantize.h", "neon_dequantize_u8_f32", "16 elements", "fmul", 4, 23),
    ("stage/integer_stage.h", "neon_stage_8", "16 elements", "smlal sshl", 4, 40),
    ("stage/integer_stage.h", "neon_stage_s32", "16 elements", "smlal sshl", 4, 32),
    ("stage/range.h", "neon_range_s32", "16 elements", "smax", 4, 10),
    ("stage/lookup.h", "neon_look_up_bytes", "64 elements", "tbx", 12, 36),
    ("gemm/gemm.h", "gemm_exact_neon_6x4", "6 x 16 sums of 2 products", "smlal", 48, 58),
    ("gemm/gemm.h", "gemm_exact_dotprod_6x4", "6 x 16 sums of 4 products", "udot", 24, 34),
    ("gemm/gemm.h", "gemm_exact_dotprod_6x4_shift", "the same of int8", "sdot", 24, 38),
    ("gemm/gemm.h", "gemm_exact_i8mm_6x4", "6 x 16 sums of 8 products", "usmmla", 24, 46),
    ("gemm/gemm.h", "gemm_exact_i8mm_6x4_shift", "the same of int8", "smmla", 24, 46),
    ("gemm/gemm.h", "gemm_unsigned_i8mm_6x4", "the same of uint8 and uint8", "ummla", 24, 46),
]


def disassembly(header: str, function: str) -> list[tuple[int, str]]:
    """Addresses and instructions of a function, compiled as setup.py compiles it."""
    with tempfile.TemporaryDirectory() as folder:
        object_file = str(Path(folder, "kernel.o"))
        source = f'#include "{header}"\nconst void *const kept = (const void *){function};\n'
        command = [COMPILER, *FLAGS, "-w", "-x", "c", "-", "-c", "-o", object_file]
        subprocess.run(command, input=source, text=True, check=True, cwd=ROOT)
        command = [COMPILER.replace("gcc", "objdump"), "--no-show-raw-insn", f"--disassemble={function}", object_file]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    found = [re.match(r"\s+([0-9a-f]+):\t(.*)", line) for line in lines]
    return [(int(match[1], 16), match[2]) for match in found if match]


def loops(code: list[tuple[int, str]]) -> list[list[str]]:
    """The innermost loops: what lies between a jump back and where it goes, with no other such jump within."""
    at = {address: i for i, (address, _) in enumerate(code)}
    ends = []
    for i, (_, text) in enumerate(code):
        jump = re.match(r"(?:b\.\w+|b|cbn?z|tbn?z)\t(?:.*, )?([0-9a-f]+) <", text)
        start = at.get(int(jump[1], 16), i + 1) if jump else i + 1
        if start <= i:
            ends.append((start, i))
    inner = [(s, e) for s, e in ends if not any((s, e) != (t, f) and s <= t and f <= e for t, f in ends)]
    return [[text for _, text in code[s : e + 1]] for s, e in inner]


def loop_of(code: list[tuple[int, str]], marks: str, times: int) -> list[str]:
    """The shortest of the loops that have each of these instructions so often."""
    found = [
        loop for loop in loops(code) if all(sum(t.startswith(mark) for t in loop) >= times for mark in marks.split())
    ]
    return min(found, key=len)


def main() -> None:
    """Prints the table."""
    print("| function | a turn | instructions | on the stack | needed | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for header, function, turn, marks, times, needed in KERNELS:
        loop = loop_of(disassembly(header, function), marks, times)
        stack = sum("[sp" in text for text in loop)
        print(f"| `{function}` | {turn} | {len(loop)} | {stack} | {needed} | {len(loop) / needed:.2f} |")


if __name__ == "__main__":
    main()
