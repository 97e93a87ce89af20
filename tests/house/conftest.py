"""What the analysis measures, once for all tests of it, and the pages made of that; imported only where it is used."""

import pytest


@pytest.fixture(scope="session")
def found():
    from analysis import __main__ as main
    from analysis import sweeps

    return main.measure(sweeps.processes(1), 100)  # in this process: test_analysis_sweep.py has pools of processes


@pytest.fixture(scope="session")
def out(tmp_path_factory, found):
    from matplotlib import rc_context

    from analysis import __main__ as main
    from analysis import claims

    folder = tmp_path_factory.mktemp("analysis") / "new" / "folder"
    with rc_context({"figure.dpi": 50}):  # coarse pixels take less time, and no test looks at them
        main.write(folder, found, claims.claims(found))
    return folder
