import onednn_twins as twins
import pytest

from qops.onednn.machine import CONV_KERNELS, MACHINES, machine


def test_nine_machines_and_every_kernel_named_exists():
    assert len(MACHINES) == 9
    for m in MACHINES.values():
        assert {m.conv_1x1, m.conv_u8, m.conv_u8_zp, m.conv_s8, m.conv_groups} <= set(CONV_KERNELS)
        assert {m.ip_oi, m.ip_any, m.matmul} <= {"gemm", "brgemm"}
        assert m.saturates == (m.isa != "vnni")
        assert m.divides == (m.version != "2.6")


@pytest.mark.parametrize(("isa", "block", "single"), [("avx2", 384, 256), ("avx512", 768, 384), ("vnni", 1536, 384)])
def test_k_blocks(isa, block, single):
    for k in (0, 1, single, single + 1, 2 * block - 1, 2 * block, 2 * block + 1, 5000):
        assert list(machine("3.2", isa).k_starts(k)) == twins.k_starts(k, block, single)


@pytest.mark.parametrize(("version", "isa"), [("2.7", "avx2"), ("3.13", "AVX2"), (3.2, "vnni"), ("3.2", None)])
def test_rejects_unknown_machines(version, isa):
    with pytest.raises(ValueError, match=r"(isa|version): expected one of .*, got"):
        machine(version, isa)
