"""A fixture of the C of ports."""

import ported
import pytest


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """Where tests leave programs. When all of a file have, these are compiled and run as one, and compared."""
    tried = ported.Tried(tmp_path_factory.mktemp("programs"))
    yield tried
    tried.compare()
