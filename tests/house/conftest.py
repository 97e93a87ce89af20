"""What the analysis measures, once for all tests of it, and the pages made of that; imported only where it is used."""

from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture(scope="session")
def found():
    from analysis import __main__ as main
    from analysis import pool

    # in this process: test_analysis_sweep.py has pools of processes
    return main.measure([pool.Pool(name, lambda: ThreadPoolExecutor(1)) for name in ("a thread", "another")], 100)


@pytest.fixture(scope="session")
def out(tmp_path_factory, found):
    from analysis import __main__ as main
    from analysis import claims

    folder = tmp_path_factory.mktemp("analysis") / "new" / "folder"
    main.write(folder, found, claims.claims(found))
    return folder
