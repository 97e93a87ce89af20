"""The hex files are what ``$readmemh`` reads: by a strict reader always, by Icarus Verilog if it is installed."""

import shutil
import subprocess

import numpy as np
import pytest
from readmemh import readmemh

import qops
from qops.tools.vectors.formats import write

SETS = {
    "requantize": lambda: qops.vectors("fp32-even", scale=0.01, zero_point=-3),
    "requantize-16": lambda: qops.vectors("tflite-double", scale=0.01, dtype=np.int16),
    "add": lambda: qops.add_vectors("nnlib-spec", a_range=(-5.0, 3.0), b_range=(-1.0, 1.0), y_range=(-6.0, 4.0)),
}
BENCH = """module bench;
  reg [{top}:0] memory [0:{last}];
  integer i;
  initial begin
    $readmemh("{file}", memory);
    for (i = 0; i <= {last}; i = i + 1) $display("%h", memory[i]);
    $finish;
  end
endmodule
"""


def signed(words, dtype):
    return np.array(words, f"u{np.dtype(dtype).itemsize}").view(dtype)


@pytest.mark.parametrize("name", SETS)
def test_hex_files_are_read_back(tmp_path, name):
    v = SETS[name]()
    files = write(v, "hex", tmp_path)
    assert [file.stem for file in files] == list(v.columns)
    for file, values in zip(files, v.columns.values(), strict=True):
        bits = 8 * values.itemsize
        words = readmemh(file.read_text(), bits, values.size)
        np.testing.assert_array_equal(signed(words, values.dtype), values)
        if shutil.which("iverilog"):
            bench = tmp_path / "bench.v"
            bench.write_text(BENCH.format(top=bits - 1, last=values.size - 1, file=file))
            subprocess.run(["iverilog", "-Wall", "-o", tmp_path / "bench", bench], check=True)
            done = subprocess.run(["vvp", "-n", tmp_path / "bench"], capture_output=True, text=True, check=True)
            assert "WARNING" not in done.stdout + done.stderr
            assert [int(word, 16) for word in done.stdout.split()] == words


def test_the_reader_reads_the_grammar():
    assert readmemh("// a\n0f 1_0 /* b\n c */ @3 ff\n@2 2", 8, 4) == [15, 16, 2, 255]


@pytest.mark.parametrize(
    "text", ["0g 1", "0x1 2", "-1 2", "100 1", "1", "1 2 3", "1 @0 2", "1,2", "zz", "1 x", "1@1 2"]
)
def test_the_reader_refuses_what_is_none_or_does_not_fit(text):
    with pytest.raises(ValueError, match=r"word|token|white space"):
        readmemh(text, 8, 2)
