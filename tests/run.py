"""Run all tests on all cores: what `make test` and `make quick` do. Options are those of pytest.

Each part is a process of pytest with some of the files. (pytest-xdist has every worker collect all 18,000 tests, and
sends each of them out and its three reports back. That takes longer than most of these tests.) With --quick most of the
time is that of starting and of collecting, so there is one part a core.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from time import perf_counter

TESTS = Path(__file__).parent
MEMORY = Path("/dev/shm")  # where Linux keeps files in memory
# Long ones first, so that cores end together. A file belongs to the first that names it.
PARTS = ("house/*", "contract/*", "[mop]*", "tools/*", "frontdoor/*", "[nr]*", "*")


def parts() -> dict[str, list[str]]:
    """The files of each part, in the order in which parts are begun."""
    found: dict[str, list[str]] = {pattern: [] for pattern in PARTS}
    for file in sorted(TESTS.rglob("test_*.py")):
        name = file.relative_to(TESTS).as_posix()
        found[next(pattern for pattern in PARTS if fnmatch(name, pattern))].append(str(file))
    return found


def one_a_core() -> dict[str, list[str]]:
    """The files in as many parts as there are cores, each with some of every room."""
    files, cores = [file for part in parts().values() for file in part], os.cpu_count() or 1
    return {f"part {i + 1} of {cores}": files[i::cores] for i in range(cores)}


def scratch_folder() -> str:
    """Give the folder for the files of tests: in memory, if it has room. On a disk to overwrite one can take 1 ms."""
    try:
        good = shutil.disk_usage(MEMORY).free > 1 << 30 and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    except (OSError, AttributeError):  # there is no such place, or no such system
        good = False
    return str(MEMORY) if good and os.access(MEMORY, os.W_OK) else gettempdir()


def run(files: list[str], temporary: str) -> tuple[bool, str]:
    """Whether all tests of the files passed, and what pytest printed."""
    # nothing logs, and to take what is printed from sys, not from the descriptors of the process, is a tenth of a test
    less = ["--no-dots", "-p", "no:cacheprovider", "-p", "no:logging", "--capture=sys"]
    command = [sys.executable, "-m", "pytest", "--quiet", *less, *sys.argv[1:], *files]
    # a hundred processes import the same modules: compiled once, they are read by all, whatever the caller has set
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # a part has one core, and threads of numpy that wait take the others'
    # glibc keeps memory that is freed for the next array; to give it back and take it again took a tenth of the time
    environment |= {"MALLOC_MMAP_THRESHOLD_": f"{1 << 25}", "MALLOC_TRIM_THRESHOLD_": f"{1 << 30}"}
    environment["TMPDIR"] = temporary
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment
    )
    return not done.returncode, done.stdout.strip()


def main() -> int:
    """Say of each part how it ended, and all that a failing one printed; 0 if all passed."""
    start, failed, counts = perf_counter(), [], Counter()
    found = one_a_core() if "--quick" in sys.argv else parts()
    place = TemporaryDirectory(prefix="qops-tests-", dir=scratch_folder(), ignore_cleanup_errors=True)
    with place as temporary, ThreadPoolExecutor(os.cpu_count()) as pool:
        begun = {pool.submit(run, files, temporary): part for part, files in found.items()}
        for done in as_completed(begun):
            passed, said = done.result()
            if not passed:
                failed.append(begun[done])
                print(said)
            last = said.rpartition("\n")[2]
            counts.update({word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", last)})
            print(f"{begun[done]:<26}{last}", flush=True)
    cpu = os.times()
    print(f"{perf_counter() - start:.0f} s, {cpu.children_user + cpu.children_system:.0f} s of CPU")
    print(f"{', '.join(failed) or 'nothing'} failed")
    print(f"{counts['passed']} passed, {counts['failed'] + counts['error']} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
